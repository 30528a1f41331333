//! What would have been: recorded demand, played through the production arithmetic under other terms.

use std::collections::BTreeMap;
use tollgate_core::id::{AppId, NodeId};
use tollgate_core::quota::{Capacity, Quota};
use tollgate_core::units::{Millis, Rate, Tokens};
use tollgate_ledger::Book;
use tollgate_ledger::book::LEASE_TTL;
use tollgate_ledger::protocol::{AppPolicy, Entry, LedgerError, Seed, Sync};

/// How long nothing happens before the first second, so that buckets are full.
const QUIET_S: u32 = 1_800;

/// Tokens that were asked for, second by second: seconds since 1970, the earliest first, and how many.
pub type Demand = Vec<(u32, u64)>;

/// A cluster under certain terms.
#[derive(Clone, Debug)]
pub struct World {
    /// What the cluster can stand.
    pub capacity: Capacity,
    /// What its applications were promised.
    pub quotas: BTreeMap<AppId, Quota>,
}

/// What became of an application's demand.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Tokens that were asked for.
    pub demanded: u64,
    /// Tokens that were had.
    pub granted: u64,
    /// Tokens that were refused.
    pub refused: u64,
    /// Seconds in which something was refused.
    pub dry_seconds: u64,
}

/// Plays demand through a cluster. Buckets start full, as they are after a quiet while.
///
/// The resolution is a second: what was asked for within one is asked for at its end, by one node that holds nothing in
/// advance. Applications without demand only keep their guarantees.
pub fn replay(
    world: &World,
    demand: &BTreeMap<AppId, Demand>,
) -> Result<BTreeMap<AppId, Outcome>, LedgerError> {
    let Some(first) = demand.values().filter_map(|seconds| seconds.first()).map(|(at, _)| *at).min() else {
        return Ok(demand.keys().map(|app| (app.clone(), Outcome::default())).collect());
    };
    let mut player = Player::new(world, first)?;
    let mut outcomes: BTreeMap<AppId, Outcome> = BTreeMap::new();
    for (at, wanted) in by_second(demand) {
        for Had { app, wanted, granted } in player.ask(at, &wanted)? {
            let outcome = outcomes.entry(app).or_default();
            outcome.demanded += wanted;
            outcome.granted += granted;
            outcome.refused += wanted - granted;
            outcome.dry_seconds += u64::from(granted < wanted);
        }
    }
    Ok(outcomes)
}

/// Who asks for how much, second by second.
fn by_second(demand: &BTreeMap<AppId, Demand>) -> BTreeMap<u32, Vec<(AppId, u64)>> {
    let mut seconds: BTreeMap<u32, Vec<(AppId, u64)>> = BTreeMap::new();
    for (app, wanted) in demand {
        for (at, cost) in wanted {
            seconds.entry(*at).or_default().push((app.clone(), *cost));
        }
    }
    seconds
}

/// The one node that asks.
struct Player {
    book: Book,
    node: NodeId,
    seq: u64,
    /// What was had in the last call, and is spent.
    spent: BTreeMap<AppId, Tokens>,
}

/// What an application wanted and had in a second.
struct Had {
    app: AppId,
    wanted: u64,
    granted: u64,
}

impl Player {
    fn new(world: &World, first: u32) -> Result<Self, LedgerError> {
        let apps = world.quotas.iter().map(|(app, quota)| AppPolicy {
            app: app.clone(),
            quota: *quota,
            enabled: true,
            body: String::new(),
        });
        let seed = Seed { capacity: world.capacity, apps: apps.collect(), remembered: None };
        let book = Book::seed(seed, moment(first.saturating_sub(QUIET_S)))?;
        let node = NodeId::new("replay").map_err(|error| LedgerError::Protocol(error.to_string()))?;
        Ok(Self { book, node, seq: 0, spent: BTreeMap::new() })
    }

    /// Asks for what is wanted in a second; returns what was wanted and what was had.
    fn ask(&mut self, at: u32, wanted: &[(AppId, u64)]) -> Result<Vec<Had>, LedgerError> {
        let mut entries: Vec<Entry> = wanted
            .iter()
            .map(|(app, cost)| {
                let want = Tokens::whole(*cost);
                let spent = self.spent.remove(app).unwrap_or(Tokens::ZERO);
                let requests = u64::from(!spent.is_zero());
                Entry { spent, requests, need: want, want, fallback: Rate::ZERO, ..Entry::idle(app.clone()) }
            })
            .collect();
        // Whoever asks for nothing now still has spent what it had.
        let rest = std::mem::take(&mut self.spent);
        entries.extend(rest.into_iter().map(|(app, spent)| Entry { spent, requests: 1, ..Entry::idle(app) }));
        self.seq += 1;
        let sync = Sync {
            node: self.node.clone(),
            incarnation: 1,
            seq: self.seq,
            acked: self.seq - 1,
            epoch: 0,
            silence: LEASE_TTL,
            entries,
        };
        let reply = self.book.sync(&sync, moment(at))?;
        let mut had = Vec::with_capacity(wanted.len());
        for ((app, cost), granted) in wanted.iter().zip(&reply.entries) {
            if !granted.granted.is_zero() {
                self.spent.insert(app.clone(), granted.granted);
            }
            let granted = granted.granted.floor().min(*cost);
            had.push(Had { app: app.clone(), wanted: *cost, granted });
        }
        Ok(had)
    }
}

/// The end of a second, by the book's clock.
fn moment(at: u32) -> Millis {
    Millis::from_secs(u64::from(at) + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use tollgate_config::Policy;

    fn world(apps: &[(&str, u64, u64)]) -> World {
        let apps: Vec<_> = apps
            .iter()
            .map(|(id, guaranteed, burst)| {
                json!({"id": id, "guaranteed_quota": guaranteed, "burst_quota": burst, "borrow": false})
            })
            .collect();
        let policy =
            Policy::from_value(&json!({"clusters": [{"id": "c", "capacity": 10_000}], "apps": apps}))
                .unwrap();
        let quotas = policy.apps().iter().map(|(id, app)| (id.clone(), app.quota)).collect();
        World { capacity: policy.clusters()["c"].capacity, quotas }
    }

    fn steady(app: &str, cost: u64, seconds: u32) -> (AppId, Demand) {
        (AppId::new(app).unwrap(), (1_000_000..1_000_000 + seconds).map(|at| (at, cost)).collect())
    }

    fn outcome(world: &World, demand: &[(AppId, Demand)], app: &str) -> Outcome {
        replay(world, &demand.iter().cloned().collect()).unwrap()[app]
    }

    #[test]
    fn within_the_guarantee_nothing_is_refused() {
        let world = world(&[("a", 1_000, 1_000)]);
        let outcome = outcome(&world, &[steady("a", 1_000, 600)], "a");
        assert_eq!((outcome.granted, outcome.refused), (600_000, 0));
    }

    #[test]
    fn beyond_it_the_bucket_helps_for_a_while() {
        let world = world(&[("a", 1_000, 3_000)]);
        let outcome = outcome(&world, &[steady("a", 1_500, 600)], "a");
        assert_eq!(outcome.demanded, 900_000);
        // The guarantee for ten minutes, the bucket, and the burst allowance of ten windows.
        let most = 600 * 1_000 + 3_000 + 10 * 2_000 + 2_000;
        assert!((600_000..=most).contains(&outcome.granted), "{outcome:?}");
        assert_eq!(outcome.granted + outcome.refused, outcome.demanded);
        assert!(outcome.dry_seconds > 500);
    }

    #[test]
    fn a_greedy_neighbour_takes_nothing_that_was_promised() {
        let world = world(&[("a", 1_000, 1_000), ("greedy", 1_000, 100_000)]);
        let demand = [steady("a", 1_000, 300), steady("greedy", 50_000, 300)];
        assert_eq!(outcome(&world, &demand, "a").refused, 0);
        assert!(outcome(&world, &demand, "greedy").refused > 0);
    }

    #[test]
    fn pauses_fill_the_bucket_again() {
        let world = world(&[("a", 100, 1_000)]);
        let demand = vec![(1_000_000, 1_000), (1_000_100, 1_000), (1_000_200, 1_000)];
        let outcome = outcome(&world, &[(AppId::new("a").unwrap(), demand)], "a");
        assert_eq!(outcome.refused, 0, "{outcome:?}");
    }

    #[test]
    fn no_demand_is_no_refusal() {
        let world = world(&[("a", 1, 1)]);
        assert_eq!(outcome(&world, &[(AppId::new("a").unwrap(), Vec::new())], "a"), Outcome::default());
    }
}
