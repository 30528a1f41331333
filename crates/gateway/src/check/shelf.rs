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
