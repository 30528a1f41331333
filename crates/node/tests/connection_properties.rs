//! One node under random histories, on the ledger in memory and on the one kept by scripts.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may panic")]

mod connection_world;

use connection_world::{Node, Time, app, run, scripts};
use proptest::prelude::*;
use std::sync::Arc;
use tollgate_core::reason::Reason;
use tollgate_core::units::{Millis, Nanos};
use tollgate_ledger::connection::Counts;
use tollgate_ledger::{MemoryLedger, Slots};
use tollgate_node::connection::{Guard, Refused, Status};

const APPS: usize = 3;

const LEAK_TIMEOUT: u64 = 300_000;

#[derive(Clone, Debug)]
enum Step {
    Open { app: usize },
    Release { connection: usize },
    Drop { connection: usize },
    Touch { connection: usize },
    Wait(u64),
    Sweep { budget: usize },
    Limits { app: usize, max: u32, more: u32 },
    ClusterMax(u32),
}

/// A connection as the model knows it.
struct Connection {
    app: usize,
    guard: Option<Guard>,
    last_seen: Millis,
    is_open: bool,
}

struct World<L> {
    node: Node<L>,
    connections: Vec<Connection>,
    limits: [(u32, u32); APPS],
    cluster_max: u32,
    peaks: [u64; APPS],
    rejected: u64,
    leaked: u64,
}

impl<L: Slots> World<L> {
    fn new(time: &Time, ledger: L) -> Self {
        let node = Node::new("node-0", 1, time, &Arc::new(ledger), 12);
        for index in 0..APPS {
            node.set_limits(index, 4, 6);
        }
        Self {
            node,
            connections: Vec::new(),
            limits: [(4, 6); APPS],
            cluster_max: 12,
            peaks: [0; APPS],
            rejected: 0,
            leaked: 0,
        }
    }

    async fn step(&mut self, step: &Step) {
        match *step {
            Step::Open { app } => self.open(app).await,
            Step::Release { connection } => {
                self.end(connection, |guard| guard.as_ref().is_some_and(Guard::release));
            }
            Step::Drop { connection } => self.end(connection, |guard| guard.take().is_some()),
            Step::Touch { connection } => self.touch(connection),
            Step::Wait(ms) => {
                self.node.time.advance(ms);
                self.node.keeper.round().await;
            }
            Step::Sweep { budget } => self.sweep(budget),
            Step::Limits { app, max, more } => {
                self.limits[app] = (max, max + more);
                self.node.set_limits(app, max, max + more);
            }
            Step::ClusterMax(max) => {
                self.cluster_max = max;
                self.node.connections.set_cluster_max(max);
            }
        }
        for index in 0..APPS {
            self.peaks[index] = self.peaks[index].max(self.open_of(index));
        }
    }

    fn touch(&mut self, connection: usize) {
        let now = self.node.time.millis();
        let Some(connection) = self.connections.get_mut(connection) else { return };
        if let Some(guard) = &connection.guard {
            guard.touch(Nanos::from(now));
            connection.last_seen = now;
        }
    }

    async fn open(&mut self, app: usize) {
        // What was refused a moment ago is refused again without a question.
        self.node.time.advance(101);
        let (open, all) = (self.open_of(app), self.open_of_all());
        let (max, burst) = self.limits[app];
        match self.node.open(app).await {
            Ok(guard) => {
                assert!(open < u64::from(burst) && all < u64::from(self.cluster_max));
                assert!(guard.id().is_some() && guard.status() == Status::Open);
                let last_seen = self.node.time.millis();
                self.connections.push(Connection { app, guard: Some(guard), last_seen, is_open: true });
            }
            Err(Refused { reason, retry_after, .. }) => {
                assert!(
                    open >= u64::from(max) || all >= u64::from(self.cluster_max),
                    "{reason}: {open} of {max}"
                );
                let is_app = reason == Reason::AppLimitExceeded;
                assert!(
                    is_app || reason == Reason::ClusterLimitExceeded && all >= u64::from(self.cluster_max)
                );
                assert_eq!(retry_after, Some(Millis::from_secs(1)));
                self.rejected += 1;
            }
        }
    }

    /// Ends a connection, in a way that tells whether it was this that ended it.
    fn end(&mut self, connection: usize, how: impl FnOnce(&mut Option<Guard>) -> bool) {
        let Some(connection) = self.connections.get_mut(connection) else { return };
        let had_guard = connection.guard.is_some();
        let ended = how(&mut connection.guard);
        if connection.guard.is_some() {
            assert_eq!(ended, connection.is_open, "released once");
        }
        connection.is_open &= !had_guard;
    }

    fn sweep(&mut self, budget: usize) {
        let open = self.open_of_all();
        let swept = self.node.connections.sweep(budget, self.node.now());
        assert_eq!(swept.looked_at as u64, open.min(budget as u64));
        let now = self.node.time.millis();
        for connection in &mut self.connections {
            let status = connection.guard.as_ref().map(Guard::status);
            if connection.is_open && status == Some(Status::Leaked) {
                assert!(now.since(connection.last_seen).get() >= LEAK_TIMEOUT, "it was seen");
                connection.is_open = false;
                self.leaked += 1;
            }
        }
        if swept.looked_at as u64 == open {
            let silent = |c: &&Connection| c.is_open && now.since(c.last_seen).get() >= LEAK_TIMEOUT;
            assert_eq!(self.connections.iter().filter(silent).count(), 0, "one was overlooked");
        }
    }

    fn open_of(&self, app: usize) -> u64 {
        self.connections.iter().filter(|c| c.is_open && c.app == app).count() as u64
    }

    fn open_of_all(&self) -> u64 {
        self.connections.iter().filter(|c| c.is_open).count() as u64
    }

    fn counts(&self, index: usize) -> Counts {
        self.node.connections.counts(&app(index)).unwrap()
    }

    fn totals(&self) -> Counts {
        self.node.connections.totals()
    }
}

fn any_step() -> impl Strategy<Value = Step> {
    let connection = || 0..40usize;
    prop_oneof![
        12 => (0..APPS).prop_map(|app| Step::Open { app }),
        4 => connection().prop_map(|connection| Step::Release { connection }),
        4 => connection().prop_map(|connection| Step::Drop { connection }),
        3 => connection().prop_map(|connection| Step::Touch { connection }),
        4 => prop_oneof![0..3_000u64, 3_000..400_000u64].prop_map(Step::Wait),
        2 => prop_oneof![0..5usize, Just(1_000usize)].prop_map(|budget| Step::Sweep { budget }),
        1 => (0..APPS, 0..8u32, 0..4u32).prop_map(|(app, max, more)| Step::Limits { app, max, more }),
        1 => (0..15u32).prop_map(Step::ClusterMax),
    ]
}

fn histories() -> impl Strategy<Value = Vec<Step>> {
    prop::collection::vec(any_step(), 1..80)
}

/// Something that holds after every step, on any ledger.
trait Law {
    fn holds<L: Slots>(world: &World<L>);
}

fn play<R: Law>(steps: &[Step]) {
    let time = Time::start();
    let mut world = World::new(&time, MemoryLedger::with_clock(time.ledger_clock()));
    run(play_on::<R, _>(&mut world, steps));
    let time = Time::start();
    let mut world = World::new(&time, scripts(&time));
    run(play_on::<R, _>(&mut world, steps));
}

async fn play_on<R: Law, L: Slots>(world: &mut World<L>, steps: &[Step]) {
    for step in steps {
        world.step(step).await;
        R::holds(world);
    }
    // Whatever happened, nothing is left once everybody is gone.
    world.connections.clear();
    let totals = world.totals();
    assert_eq!((totals.open, totals.untracked), (0, 0));
    assert_eq!(world.node.connections.list(None, 0, 100).total, 0);
}

struct UpAndDown;

impl Law for UpAndDown {
    fn holds<L: Slots>(world: &World<L>) {
        for index in 0..APPS {
            assert_eq!(world.counts(index).open, world.open_of(index));
            assert_eq!(
                world.node.connections.list(Some(&app(index)), 0, 100).total as u64,
                world.open_of(index)
            );
        }
        assert_eq!(world.totals().open, world.open_of_all());
        assert_eq!(world.totals().opened, world.connections.len() as u64);
    }
}

struct Limit;

impl Law for Limit {
    fn holds<L: Slots>(world: &World<L>) {
        // The opening of each connection is checked against the limits of its time.
        assert_eq!(world.totals().rejected, world.rejected);
        let by_apps: u64 = (0..APPS).map(|index| world.counts(index).rejected).sum();
        assert_eq!(by_apps, world.rejected);
    }
}

struct NeverNegative;

impl Law for NeverNegative {
    fn holds<L: Slots>(world: &World<L>) {
        // A counter that fell below zero would be enormous.
        assert!(world.totals().open <= 100 && world.totals().held <= 100 && world.totals().untracked == 0);
        for index in 0..APPS {
            let counts = world.counts(index);
            assert!(counts.open <= counts.held && counts.held <= 100, "{counts:?}");
        }
    }
}

struct Leaks;

impl Law for Leaks {
    fn holds<L: Slots>(world: &World<L>) {
        assert_eq!(world.totals().leaked, world.leaked);
        let by_apps: u64 = (0..APPS).map(|index| world.counts(index).leaked).sum();
        assert_eq!(by_apps, world.leaked);
    }
}

struct Peaks;

impl Law for Peaks {
    fn holds<L: Slots>(world: &World<L>) {
        for index in 0..APPS {
            assert_eq!(world.counts(index).peak, world.peaks[index]);
        }
    }
}

struct ReleasedOnce;

impl Law for ReleasedOnce {
    fn holds<L: Slots>(world: &World<L>) {
        let before = world.totals();
        for connection in world.connections.iter().filter(|connection| !connection.is_open) {
            if let Some(guard) = &connection.guard {
                assert!(!guard.release());
                assert_ne!(guard.status(), Status::Open);
            }
        }
        assert_eq!(world.totals(), before);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn p15_each_connection_counts_one_up_and_one_down(steps in histories()) {
        play::<UpAndDown>(&steps);
    }

    #[test]
    fn p16_connections_stay_within_the_limits(steps in histories()) {
        play::<Limit>(&steps);
    }

    #[test]
    fn p17_counters_never_fall_below_zero(steps in histories()) {
        play::<NeverNegative>(&steps);
    }

    #[test]
    fn p18_leaks_are_found_and_nothing_else(steps in histories()) {
        play::<Leaks>(&steps);
    }

    #[test]
    fn p19_the_peak_is_the_most_there_ever_were(steps in histories()) {
        play::<Peaks>(&steps);
    }

    #[test]
    fn p20_releasing_again_changes_nothing(steps in histories()) {
        play::<ReleasedOnce>(&steps);
    }
}
