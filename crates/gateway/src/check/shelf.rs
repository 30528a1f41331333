//! What was paid and can still be taken back.

use std::collections::{HashMap, VecDeque};
use std::hash::{BuildHasher, RandomState};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tollgate_node::{DecisionId, Permit};

/// In how many parts the shelf is: those who use different ones do not wait for each other.
const SHARDS: usize = 16;

/// How many permits each part holds. Beyond that the oldest cannot be taken back any more.
const MOST: usize = 4_096;

/// Keeps what was paid, by the name of the decision, for some time and up to a number. Whatever leaves it otherwise
/// than by being taken back is spent.
#[derive(Debug)]
pub(super) struct Shelf {
    shards: [Mutex<Shard>; SHARDS],
    spread: RandomState,
    lifetime: Duration,
}

#[derive(Debug, Default)]
struct Shard {
    permits: HashMap<DecisionId, (Permit, Instant)>,
    /// In the order in which they came; some may have been taken back since.
    order: VecDeque<(DecisionId, Instant)>,
}

impl Shelf {
    pub(super) fn new(lifetime: Duration) -> Self {
        Self { shards: Default::default(), spread: RandomState::new(), lifetime }
    }

    pub(super) fn put(&self, id: DecisionId, permit: Permit, now: Instant) {
        if self.lifetime.is_zero() {
            permit.keep();
            return;
        }
        let mut shard = self.shard(id);
        while let Some(&(oldest, since)) = shard.order.front() {
            let is_over = now.saturating_duration_since(since) >= self.lifetime;
            if !is_over && shard.order.len() < MOST {
                break;
            }
            shard.order.pop_front();
            shard.spend(oldest);
        }
        shard.order.push_back((id, now));
        shard.permits.insert(id, (permit, now));
    }

    /// Gives back what was paid, unless that was done before or too much time has passed; tells whether it was.
    pub(super) fn take_back(&self, id: DecisionId, now: Instant) -> bool {
        let Some((permit, since)) = self.shard(id).permits.remove(&id) else { return false };
        if now.saturating_duration_since(since) >= self.lifetime {
            permit.keep();
            return false;
        }
        drop(permit);
        true
    }

    fn shard(&self, id: DecisionId) -> MutexGuard<'_, Shard> {
        let number = usize::try_from(self.spread.hash_one(id) % SHARDS as u64).unwrap_or_default();
        self.shards[number].lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Shard {
    fn spend(&mut self, id: DecisionId) {
        if let Some((permit, _)) = self.permits.remove(&id) {
            permit.keep();
        }
    }
}

impl Drop for Shard {
    fn drop(&mut self) {
        for (_, (permit, _)) in self.permits.drain() {
            permit.keep();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use tollgate_config::Policy;
    use tollgate_core::cost::Operation;
    use tollgate_core::id::NodeId;
    use tollgate_core::units::Tokens;
    use tollgate_ledger::MemoryLedger;
    use tollgate_node::{Node, Request, Setup};

    const LIFETIME: Duration = Duration::from_secs(60);

    /// A node with an application that mints next to nothing.
    fn node() -> Node<MemoryLedger> {
        let app = json!({"id": "a", "guaranteed_quota": 1, "burst_quota": 1_000, "outage": "closed"});
        let policy = Policy::from_value(&json!({"apps": [app]})).unwrap();
        Node::start(MemoryLedger::new(), Setup::new(NodeId::new("n").unwrap()), &policy)
    }

    async fn paid(node: &Node<MemoryLedger>, cost: u64) -> (DecisionId, Permit) {
        let permit = node.admit(&Request::new("a", Operation::Get).with_cost(cost)).await.unwrap();
        (node.record("a", &permit.decision()), permit)
    }

    fn rolled_back(node: &Node<MemoryLedger>) -> u64 {
        node.app("a").unwrap().counts().rolled_back
    }

    #[tokio::test]
    async fn what_was_paid_is_taken_back_once_and_in_time() {
        let (node, shelf, now) = (node(), Shelf::new(LIFETIME), Instant::now());
        let (id, permit) = paid(&node, 1).await;
        shelf.put(id, permit, now);
        assert!(shelf.take_back(id, now + LIFETIME - Duration::from_millis(1)));
        assert_eq!((shelf.take_back(id, now), rolled_back(&node)), (false, 1));
        assert!(node.app("a").unwrap().held() >= Tokens::whole(1));

        let (id, permit) = paid(&node, 1).await;
        shelf.put(id, permit, now);
        assert!(!shelf.take_back(id, now + LIFETIME), "too late");
        let (id, permit) = paid(&node, 0).await;
        shelf.put(id, permit, now);
        drop(shelf);
        assert_eq!(rolled_back(&node), 1, "what is left on the shelf is spent");
        let never = Shelf::new(Duration::ZERO);
        let (id, permit) = paid(&node, 0).await;
        never.put(id, permit, now);
        assert!(!never.take_back(id, now));
    }

    #[tokio::test]
    async fn holds_a_bounded_number_and_forgets_the_oldest() {
        let (node, shelf, now) = (node(), Shelf::new(LIFETIME), Instant::now());
        let (first, permit) = paid(&node, 0).await;
        shelf.put(first, permit, now);
        let mut last = first;
        for _ in 0..SHARDS * MOST * 2 {
            let (id, permit) = paid(&node, 0).await;
            shelf.put(id, permit, now);
            last = id;
        }
        let sizes = shelf.shards.iter().map(|shard| {
            let shard = shard.lock().unwrap();
            shard.permits.len().max(shard.order.len())
        });
        assert!(sizes.max() <= Some(MOST));
        assert!(!shelf.take_back(first, now) && shelf.take_back(last, now));
        assert_eq!(rolled_back(&node), 1);
    }
}
