//! What would have been: recorded demand, played through the production arithmetic under other terms.

use std::collections::BTreeMap;
use tollgate_core::cost::PriceList;
use tollgate_core::id::{AppId, NodeId};
use tollgate_core::quota::{Capacity, Quota};
use tollgate_core::units::{Millis, Rate, Tokens};
use tollgate_ledger::Book;
use tollgate_ledger::book::LEASE_TTL;
use tollgate_ledger::protocol::{AppPolicy, Entry, LedgerError, OperationTotal, Seed, Sync};

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
    pub apps: BTreeMap<AppId, Terms>,
}

/// What an application was promised, as far as it matters here.
#[derive(Clone, Copy, Debug)]
pub struct Terms {
    /// Its quota.
    pub quota: Quota,
    /// Whether it may pass at all.
    pub enabled: bool,
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
/// advance. Applications without demand only keep their guarantees. Overload and emergencies come as they would have.
pub fn replay(
    world: &World,
    demand: &BTreeMap<AppId, Demand>,
) -> Result<BTreeMap<AppId, Outcome>, LedgerError> {
    let Some(first) = demand.values().filter_map(|seconds| seconds.first()).map(|(at, _)| *at).min() else {
        return Ok(demand.keys().map(|app| (app.clone(), Outcome::default())).collect());
    };
    let mut player = Player::new(&world.with_idle_as_one(demand), first)?;
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

impl World {
    /// The same with all that ask for nothing taken together: their headroom flows to the others as before, and a book with a
    /// thousand applications in it costs no more than one with those that matter.
    fn with_idle_as_one(&self, demand: &BTreeMap<AppId, Demand>) -> Self {
        let (busy, idle): (BTreeMap<AppId, Terms>, BTreeMap<AppId, Terms>) =
            self.apps.clone().into_iter().partition(|(app, _)| demand.contains_key(app));
        let guaranteed = idle.values().fold(Rate::ZERO, |sum, terms| sum.plus(terms.quota.guaranteed));
        let one = idle.into_iter().next().map(|(app, Terms { quota, enabled })| {
            let burst = guaranteed.per_one_second().max(quota.burst);
            (app, Terms { quota: Quota { guaranteed, burst, ..quota }, enabled })
        });
        Self { capacity: self.capacity, apps: busy.into_iter().chain(one).collect() }
    }
}

/// What the same requests would cost under other prices, as a share of what they did: by what was spent on each operation, and
/// the bytes that follow from it.
pub fn price_ratio(spent: &[OperationTotal], before: &PriceList, after: &PriceList) -> f64 {
    let coefficient = before.coefficient().as_f64();
    let (mut old, mut new) = (0.0, 0.0);
    for total in spent {
        let (requests, consumed) = (total.requests as f64, total.consumed as f64);
        let bandwidth = (consumed - requests * before.base(total.operation) as f64).max(0.0);
        let units = if coefficient > 0.0 { bandwidth / coefficient } else { 0.0 };
        let quanta = before.quantum().get() as f64 / after.quantum().get() as f64;
        // A part of a unit is charged as a whole one, for each request that has bytes.
        let units = (units * quanta).max(units.min(requests));
        old += consumed;
        new += requests * after.base(total.operation) as f64 + units * after.coefficient().as_f64();
    }
    if old > 0.0 { new / old } else { 1.0 }
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
    epoch: u64,
}

/// What an application wanted and had in a second.
struct Had {
    app: AppId,
    wanted: u64,
    granted: u64,
}

impl Player {
    fn new(world: &World, first: u32) -> Result<Self, LedgerError> {
        let apps = world.apps.iter().map(|(app, terms)| AppPolicy {
            app: app.clone(),
            quota: terms.quota,
            enabled: terms.enabled,
            body: String::new(),
        });
        let seed = Seed { capacity: world.capacity, apps: apps.collect(), remembered: None };
        let book = Book::seed(seed, moment(first.saturating_sub(QUIET_S)))?;
        let node = NodeId::new("replay").map_err(|error| LedgerError::Protocol(error.to_string()))?;
        Ok(Self { book, node, seq: 0, epoch: 0 })
    }

    /// Asks for what is wanted in a second, and spends what is had at once: what is out on lease takes room in a bucket.
    fn ask(&mut self, at: u32, wanted: &[(AppId, u64)]) -> Result<Vec<Had>, LedgerError> {
        let asked = wanted.iter().map(|(app, cost)| {
            let want = Tokens::whole(*cost);
            Entry { need: want, want, ..Entry::idle(app.clone()) }
        });
        let granted = self.say(at, asked.collect())?;
        let spent = wanted.iter().zip(&granted).filter(|(_, granted)| !granted.is_zero());
        let spent = spent.map(|((app, _), granted)| Entry {
            spent: *granted,
            requests: 1,
            ..Entry::idle(app.clone())
        });
        self.say(at, spent.collect())?;
        let had = |((app, cost), granted): (&(AppId, u64), &Tokens)| Had {
            app: app.clone(),
            wanted: *cost,
            granted: granted.floor().min(*cost),
        };
        Ok(wanted.iter().zip(&granted).map(had).collect())
    }

    /// One call to the book; returns what was granted, in the order of the entries.
    fn say(&mut self, at: u32, entries: Vec<Entry>) -> Result<Vec<Tokens>, LedgerError> {
        self.seq += 1;
        let sync = Sync {
            node: self.node.clone(),
            incarnation: 1,
            seq: self.seq,
            acked: self.seq - 1,
            epoch: self.epoch,
            silence: LEASE_TTL,
            entries,
        };
        let reply = self.book.sync(&sync, moment(at))?;
        self.epoch = reply.epoch;
        Ok(reply.entries.iter().map(|entry| entry.granted).collect())
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
    use tollgate_config::policy::App;
    use tollgate_core::cost::Operation;
    use tollgate_core::units::Ratio;

    fn world(apps: &[(&str, u64, u64)]) -> World {
        let apps: Vec<_> = apps
            .iter()
            .map(|(id, guaranteed, burst)| {
                // So much use is an emergency, in which only the first priority keeps its guarantee.
                json!({"id": id, "guaranteed_quota": guaranteed, "burst_quota": burst, "borrow": false, "priority": 0})
            })
            .collect();
        let policy =
            Policy::from_value(&json!({"clusters": [{"id": "c", "capacity": 10_000}], "apps": apps}))
                .unwrap();
        let terms = |app: &App| Terms { quota: app.quota, enabled: app.enabled };
        let apps = policy.apps().iter().map(|(id, app)| (id.clone(), terms(app))).collect();
        World { capacity: policy.clusters()["c"].capacity, apps }
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
    fn what_idle_neighbours_leave_is_for_those_who_burst() {
        let apps = |each: u64| world(&[("a", 1_000, 50_000), ("idle-1", each, each), ("idle-2", each, each)]);
        let demand = [steady("a", 5_000, 60)];
        let (few, many) = (outcome(&apps(100), &demand, "a"), outcome(&apps(4_000), &demand, "a"));
        assert!(
            few.granted.abs_diff(many.granted) < 1_000,
            "{few:?} {many:?}: what is not used is there for others"
        );
        assert!(few.granted > 60 * 1_000);
    }

    #[test]
    fn pauses_fill_the_bucket_again() {
        let world = world(&[("a", 100, 1_000)]);
        let demand = vec![(1_000_000, 1_000), (1_000_100, 1_000), (1_000_200, 1_000)];
        let outcome = outcome(&world, &[(AppId::new("a").unwrap(), demand)], "a");
        assert_eq!(outcome.refused, 0, "{outcome:?}");
    }

    #[test]
    fn one_that_is_switched_off_gets_nothing() {
        let on = world(&[("a", 1_000, 9_000), ("b", 4_000, 4_000)]);
        let mut off = on.clone();
        off.apps.get_mut("b").unwrap().enabled = false;
        let demand = [steady("a", 9_000, 60), steady("b", 4_000, 60)];
        assert_eq!(outcome(&on, &demand, "b").refused, 0);
        assert_eq!(outcome(&off, &demand, "b").granted, 0);
    }

    #[test]
    fn what_one_has_its_neighbour_cannot_have() {
        // The burst of `a` is so large that only the cluster binds it.
        let on = world(&[("a", 1_000, 800_000), ("b", 6_000, 6_000)]);
        let mut off = on.clone();
        off.apps.get_mut("b").unwrap().enabled = false;
        let demand = [steady("a", 5_000, 60), steady("b", 6_000, 60)];
        let (beside, alone) = (outcome(&on, &demand, "a"), outcome(&off, &demand, "a"));
        assert_eq!(outcome(&on, &demand, "b").granted, 60 * 6_000, "what was promised");
        // A minute at 10,000 a second, and 1.2 seconds' worth from before: `b` leaves 252,000 of that, `a` wants 300,000.
        let left = 60 * 10_000 + 12_000 - 60 * 6_000;
        assert!((60 * 1_000..=left).contains(&beside.granted), "{beside:?}");
        assert!(beside.refused >= 60 * 5_000 - left, "{beside:?}");
        assert_eq!((alone.granted, alone.refused), (60 * 5_000, 0), "half of the cluster is free for it");
    }

    #[test]
    fn other_prices_change_what_the_same_requests_cost() {
        let total = |operation, requests, consumed| OperationTotal { operation, requests, consumed };
        // Base 1 and 5, and a unit of bandwidth for each request.
        let spent = [total(Operation::Get, 100, 200), total(Operation::Put, 10, 60)];
        let usual = PriceList::default();
        assert!((price_ratio(&spent, &usual, &usual) - 1.0).abs() < 1e-9);
        let dear = usual.with_base(Operation::Get, 3);
        assert!((price_ratio(&spent, &usual, &dear) - 460.0 / 260.0).abs() < 1e-9);
        let double = PriceList::new(usual.quantum(), Ratio::percent(200));
        assert!((price_ratio(&spent, &usual, &double) - 370.0 / 260.0).abs() < 1e-9);
        let large = PriceList::new((usual.quantum().get() * 10).try_into().unwrap(), Ratio::ONE);
        assert!((price_ratio(&spent, &usual, &large) - 1.0).abs() < 1e-9, "a part of a unit is a whole one");
        assert!((price_ratio(&[], &usual, &dear) - 1.0).abs() < 1e-9);
    }

    #[test]
    fn no_demand_is_no_refusal() {
        let world = world(&[("a", 1, 1)]);
        assert_eq!(outcome(&world, &[(AppId::new("a").unwrap(), Vec::new())], "a"), Outcome::default());
    }
}
