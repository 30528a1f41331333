//! What goes wrong in one run: what the story says, and what chance adds.

use crate::chance::Chance;
use crate::scenario::{Direction, Fault, Many, Planned, Scenario};
use tollgate_core::units::{Nanos, Rate, Tokens};

/// The faults of one run, and the nodes that each of them concerns.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub(crate) faults: Vec<Planned>,
    pub(crate) nodes: Vec<Vec<usize>>,
}

impl Plan {
    pub(crate) fn new(scenario: &Scenario, seed: u64) -> Self {
        let mut faults = scenario.faults.clone();
        let mut chance = Chance::new(seed, "plan", 0);
        faults.extend((0..scenario.random_faults).flat_map(|_| random(&mut chance, scenario)));
        let nodes = faults.iter().zip(0..).map(|(planned, number)| {
            let mut chance = Chance::new(seed, "fault", number);
            match planned.fault {
                Fault::Crash(many, _) | Fault::Restart(many, _) | Fault::Partition(many, _, _) => {
                    many.draw(&mut chance, scenario.nodes)
                }
                _ => Vec::new(),
            }
        });
        Self { nodes: nodes.collect(), faults }
    }

    /// The same without one of the faults.
    pub(crate) fn without(&self, number: usize) -> Self {
        let mut plan = self.clone();
        plan.faults.remove(number);
        plan.nodes.remove(number);
        plan
    }
}

/// Any fault at any time, and what takes it back if it does not end by itself: over before the traffic ends, so that
/// its aftermath is seen too.
fn random(chance: &mut Chance, scenario: &Scenario) -> Vec<Planned> {
    let end = scenario.duration.get();
    let at = Nanos::new(chance.between(end / 20, end * 7 / 10));
    let left = Nanos::new(end).since(at).get() * 8 / 10;
    let lasts = |chance: &mut Chance, least_ms: u64, most_ms: u64| {
        Nanos::new(chance.between(least_ms * 1_000_000, most_ms * 1_000_000).min(left))
    };
    let nodes = scenario.nodes as u64;
    let some = |chance: &mut Chance, most: u64| {
        Many::Some(usize::try_from(chance.between(1, most.max(1))).unwrap_or(usize::MAX))
    };
    let fault = match chance.below(18) {
        0 => {
            let longest = [300, 8_000][chance.below(2)];
            Fault::Crash(some(chance, nodes / 4), lasts(chance, 10, longest))
        }
        1 => Fault::Restart(some(chance, nodes / 4), lasts(chance, 10, 3_000)),
        2 => Fault::Partition(some(chance, nodes / 2), Direction::Both, lasts(chance, 100, 20_000)),
        3 => Fault::Partition(some(chance, nodes / 2), Direction::Out, lasts(chance, 100, 20_000)),
        4 => Fault::Partition(some(chance, nodes / 2), Direction::In, lasts(chance, 100, 20_000)),
        5 => Fault::Wipe,
        6 | 7 => Fault::Failover { loses: lasts(chance, 1, 2_000), down: lasts(chance, 1, 4_000) },
        8 => Fault::Outage(lasts(chance, 100, 15_000)),
        9 => Fault::Slow(lasts(chance, 5, 400), lasts(chance, 500, 15_000)),
        10 => Fault::Loss(chance.share() * 0.5, lasts(chance, 500, 15_000)),
        11 => Fault::Duplicates(chance.share(), lasts(chance, 500, 15_000)),
        12 => Fault::Clock(clock_jump(chance)),
        13 => Fault::Emergency(lasts(chance, 500, 10_000)),
        14 => Fault::Reorder(chance.share() * 0.2, lasts(chance, 500, 15_000)),
        15 => {
            let app = chance.below(scenario.policy.apps().len());
            let on = at.plus(lasts(chance, 100, 10_000));
            return pair(at, Fault::Switch(app, false), on, Fault::Switch(app, true));
        }
        16 => {
            let ends = lasts(chance, 100, 5_000);
            let declared = Fault::Emergency(ends.plus(lasts(chance, 100, 5_000)));
            return pair(at, declared, at.plus(ends), Fault::EndEmergency);
        }
        _ => promise(chance, scenario),
    };
    vec![Planned { at, fault }]
}

fn pair(at: Nanos, fault: Fault, until: Nanos, end: Fault) -> Vec<Planned> {
    vec![Planned { at, fault }, Planned { at: until, fault: end }]
}

/// Mostly small, sometimes as long as a lease or a suspicion lasts, seldom hours.
fn clock_jump(chance: &mut Chance) -> i64 {
    let most = [50, 1_000, 6_000, 70_000, 7_200_000][chance.below(5)];
    let by = i64::try_from(chance.between(1, most)).unwrap_or(i64::MAX);
    if chance.happens(0.5) { by } else { -by }
}

/// Another promise for one of the applications: from half to one and a half of what it has.
fn promise(chance: &mut Chance, scenario: &Scenario) -> Fault {
    let apps: Vec<_> = scenario.policy.apps().values().collect();
    let app = chance.below(apps.len());
    let Some(quota) = apps.get(app).map(|app| app.quota) else { return Fault::Wipe };
    let rate = quota.guaranteed.floor().max(2);
    let rate = chance.between(rate / 2, rate * 3 / 2);
    let burst = quota.burst.floor();
    Fault::Promise(
        app,
        Rate::per_second(rate),
        Tokens::whole(chance.between(burst / 2, burst * 3 / 2).max(rate)),
    )
}
