//! Slots, statistics and events in memory and by scripts, under the same random history: every answer is the same.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may panic")]

mod connection_world;

use connection_world::{Node, Plan, app, clock, cluster, wait};
use proptest::prelude::*;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tollgate_core::connection::Limits;
use tollgate_core::units::Millis;
use tollgate_ledger::connection::{Counts, EventKind, Hold, NewEvent, Report};
use tollgate_ledger::script::{MluaEngine, ScriptLedger, Store};
use tollgate_ledger::{MemoryLedger, Slots};

#[derive(Clone, Debug)]
enum Step {
    Wait(u64),
    SetBack(u64),
    Hold { node: usize, plans: Vec<Plan>, is_lost: bool },
    Again { node: usize, age: usize },
    Crash { node: usize },
    Leave { node: usize, plans: Vec<Plan> },
    Report { node: usize, open: u64, events: Vec<(usize, u64, usize)> },
    Read { app: usize, limit: usize },
    Save,
    Lose,
    Wipe,
}

/// What changed the ledgers, and when: memory goes back by doing it again.
#[derive(Clone)]
enum Done {
    Hold(Hold),
    Report(Report),
}

type Memory = MemoryLedger<Box<dyn Fn() -> Millis + Send + Sync>>;

struct World {
    time: Arc<AtomicU64>,
    memory: Memory,
    script: ScriptLedger<MluaEngine>,
    nodes: Vec<Node>,
    done: Vec<(u64, Done)>,
    saved: Option<(usize, Store)>,
    apps: usize,
}

fn memory(time: &Arc<AtomicU64>) -> Memory {
    MemoryLedger::with_clock(Box::new(clock(time)))
}

impl World {
    fn new(apps: usize) -> Self {
        let time = Arc::new(AtomicU64::new(1_700_000_000_123));
        Self {
            memory: memory(&time),
            script: ScriptLedger::new(MluaEngine::new(clock(&time)).unwrap()),
            time,
            nodes: (0..4).map(Node::new).collect(),
            done: Vec::new(),
            saved: None,
            apps,
        }
    }

    fn step(&mut self, step: &Step) {
        match step {
            Step::Wait(ms) => _ = self.time.fetch_add(*ms, Ordering::Relaxed),
            Step::SetBack(ms) => _ = self.time.fetch_sub(*ms, Ordering::Relaxed),
            Step::Hold { node, plans, is_lost } => {
                let call = self.nodes[*node].call(plans, self.apps);
                if let Some(reply) = self.hold(&call).filter(|_| !is_lost) {
                    self.nodes[*node].take(&call, &reply);
                }
            }
            Step::Again { node, age } => {
                if let Some(call) = self.nodes[*node].calls.get(*age).cloned() {
                    self.hold(&call);
                }
            }
            Step::Crash { node } => self.nodes[*node].crash(),
            Step::Leave { node, plans } => {
                let call = Hold { is_leaving: true, ..self.nodes[*node].call(plans, self.apps) };
                self.hold(&call);
                self.hold(&call);
                self.nodes[*node].crash();
            }
            Step::Report { node, open, events } => self.report(*node, *open, events),
            Step::Read { app: index, limit } => self.read(*index, *limit),
            Step::Save => self.saved = Some((self.done.len(), self.script.engine().store())),
            Step::Lose => self.lose(),
            Step::Wipe => {
                self.saved = Some((0, Store::default()));
                self.lose();
            }
        }
    }

    fn hold(&mut self, call: &Hold) -> Option<tollgate_ledger::connection::HoldReply> {
        self.done.push((self.now(), Done::Hold(call.clone())));
        let expected = wait(self.memory.hold(&cluster(), call));
        assert_eq!(expected, wait(self.script.hold(&cluster(), call)), "{call:?}");
        expected.ok()
    }

    fn report(&mut self, node: usize, open: u64, events: &[(usize, u64, usize)]) {
        let counts = Counts { open, held: open + 3, opened: u64::MAX - open, ..Counts::default() };
        let event = |&(index, age, kind): &(usize, u64, usize)| NewEvent {
            app: app(index % self.apps),
            age: Millis::new(age),
            kind: EventKind::ALL[kind % EventKind::ALL.len()],
            count: age + 1,
            client: (kind % 2 == 0).then_some(IpAddr::V4(Ipv4Addr::new(127, 0, 0, 9))),
        };
        let report = Report {
            node: self.nodes[node].id.clone(),
            totals: counts,
            apps: (0..self.apps.min(3)).rev().map(|index| (app(index), counts)).collect(),
            events: events.iter().map(event).collect(),
        };
        self.done.push((self.now(), Done::Report(report.clone())));
        wait(self.memory.report_connections(&cluster(), &report)).unwrap();
        wait(self.script.report_connections(&cluster(), &report)).unwrap();
    }

    fn read(&self, index: usize, limit: usize) {
        let (cluster, app) = (cluster(), app(index % self.apps));
        assert_eq!(
            wait(self.memory.connection_stats(&cluster)),
            wait(self.script.connection_stats(&cluster))
        );
        assert_eq!(
            wait(self.memory.connection_events(&cluster, &app, limit)),
            wait(self.script.connection_events(&cluster, &app, limit)),
        );
    }

    /// Both go back to what they were when it was saved.
    fn lose(&mut self) {
        let Some((done, store)) = self.saved.clone() else { return };
        self.script.engine().restore(store);
        self.done.truncate(done);
        let now = self.now();
        self.memory = memory(&self.time);
        for (at, done) in &self.done {
            self.time.store(*at, Ordering::Relaxed);
            match done {
                Done::Hold(call) => _ = wait(self.memory.hold(&cluster(), call)),
                Done::Report(report) => wait(self.memory.report_connections(&cluster(), report)).unwrap(),
            }
        }
        self.time.store(now, Ordering::Relaxed);
    }

    fn now(&self) -> u64 {
        self.time.load(Ordering::Relaxed)
    }
}

fn any_plan() -> impl Strategy<Value = Plan> {
    let limits = (1..40u32, 0..20u32).prop_map(|(max, more)| Limits::new(max, max + more));
    let lie = prop::option::weighted(0.1, prop_oneof![0..60u32, Just(u32::MAX)]);
    (0..300usize, 0..=100u32, 0..30u32, 0..30u32, limits, lie)
        .prop_map(|(app, kept, more, ahead, limits, lie)| Plan { app, kept, more, ahead, limits, lie })
}

fn any_span() -> impl Strategy<Value = u64> {
    prop_oneof![
        6 => 0..1_500u64,
        2 => 1_500..29_000u64,
        // Where things end: learning, slots, statistics, events.
        3 => prop::sample::select(vec![999u64, 1_000, 2_999, 3_000, 29_999, 30_000, 604_799_999, 604_800_000]),
        1 => 29_000..200_000u64,
    ]
}

fn any_step(entries: usize) -> impl Strategy<Value = Step> {
    let plans = move || prop::collection::vec(any_plan(), 0..entries);
    let event = (0..300usize, prop_oneof![0..20_000u64, 0..2_000_000_000u64], 0..6usize);
    prop_oneof![
        8 => any_span().prop_map(Step::Wait),
        1 => (0..40_000u64).prop_map(Step::SetBack),
        20 => (0..4usize, plans(), prop::bool::weighted(0.15))
            .prop_map(|(node, plans, is_lost)| Step::Hold { node, plans, is_lost }),
        3 => (0..4usize, 0..3usize).prop_map(|(node, age)| Step::Again { node, age }),
        2 => (0..4usize).prop_map(|node| Step::Crash { node }),
        2 => (0..4usize, plans()).prop_map(|(node, plans)| Step::Leave { node, plans }),
        3 => (0..4usize, 0..9u64, prop::collection::vec(event, 0..4))
            .prop_map(|(node, open, events)| Step::Report { node, open, events }),
        3 => (0..300usize, 0..2_000usize).prop_map(|(app, limit)| Step::Read { app, limit }),
        1 => Just(Step::Save),
        1 => Just(Step::Lose),
        1 => Just(Step::Wipe),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn p16_memory_and_scripts_tell_the_same(steps in prop::collection::vec(any_step(5), 1..80)) {
        let mut world = World::new(4);
        for step in &steps {
            world.step(step);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 30, ..ProptestConfig::default() })]

    /// More applications than one call clears away.
    #[test]
    fn both_put_off_the_same_chores(steps in prop::collection::vec(any_step(150), 1..40)) {
        let mut world = World::new(300);
        for step in &steps {
            world.step(step);
        }
    }
}

#[test]
fn an_application_keeps_its_last_thousand_events() {
    let mut world = World::new(1);
    for i in 0..60u64 {
        let events: Vec<_> = (0..20).map(|j| (0, 20 * i + j, 0)).collect();
        world.report(0, 0, &events);
    }
    world.read(0, usize::MAX);
    let events = wait(world.script.connection_events(&cluster(), &app(0), 5_000)).unwrap();
    assert_eq!(events.len(), 1_000);
    assert_eq!((events[0].count, events[999].count), (1_200, 201), "the newest first");
}

#[test]
fn a_call_that_is_too_large_is_refused_by_both() {
    let mut world = World::new(2_000);
    let plans: Vec<Plan> = (0..1_001).map(Plan::of).collect();
    let call = world.nodes[0].call(&plans, 2_000);
    assert!(world.hold(&call).is_none());
    let call = world.nodes[0].call(&plans[1..], 2_000);
    assert!(world.hold(&call).is_some());
}
