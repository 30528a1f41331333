//! The rules of slots, on every ledger in this process.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may panic")]

mod connection_world;

use connection_world::{CLUSTER_MAX, Node, Plan, app, clock, cluster, wait};
use proptest::prelude::*;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tollgate_core::connection::{Limits, Shortage};
use tollgate_core::units::Millis;
use tollgate_ledger::connection::{Held, Hold, HoldReply, LEARNING, SLOT_TTL};
use tollgate_ledger::script::{MluaEngine, ScriptLedger};
use tollgate_ledger::{LedgerError, MemoryLedger, Slots};

const LIMITS: Limits = Limits { max: 10, burst: 15 };

struct World<L> {
    time: Arc<AtomicU64>,
    ledger: L,
    nodes: Vec<Node>,
}

impl<L: Slots> World<L> {
    fn new(time: Arc<AtomicU64>, ledger: L) -> Self {
        Self { time, ledger, nodes: (0..4).map(Node::new).collect() }
    }

    fn wait(&self, span: Millis) {
        self.time.fetch_add(span.get(), Ordering::Relaxed);
    }

    fn hold(&self, call: &Hold) -> HoldReply {
        wait(self.ledger.hold(&cluster(), call)).unwrap()
    }

    /// One call of a node for the first application: keeps what it has and needs `more`.
    fn ask(&mut self, node: usize, more: u32) -> Held {
        let plan = Plan { more, limits: LIMITS, ..Plan::of(0) };
        let call = self.nodes[node].call(&[plan], 1);
        let reply = self.hold(&call);
        self.nodes[node].take(&call, &reply);
        reply.entries[0]
    }

    fn present(&mut self, node: usize) -> HoldReply {
        let call = self.nodes[node].present(LIMITS);
        let reply = self.hold(&call);
        self.nodes[node].take(&call, &reply);
        reply
    }
}

/// Runs a story on both ledgers.
macro_rules! on_both {
    ($($name:ident)+) => {
        mod memory {
            $(#[test] fn $name() {
                let time = super::start();
                let ledger = super::MemoryLedger::with_clock(super::clock(&time));
                super::$name(super::World::new(time, ledger));
            })+
        }
        mod script {
            $(#[test] fn $name() {
                let time = super::start();
                let ledger = super::ScriptLedger::new(super::MluaEngine::new(super::clock(&time)).unwrap());
                super::$name(super::World::new(time, ledger));
            })+
        }
    };
}

fn start() -> Arc<AtomicU64> {
    Arc::new(AtomicU64::new(1_700_000_000_000))
}

on_both! {
    p16_nodes_share_one_limit
    slots_of_a_silent_node_come_back_after_their_time
    slots_of_an_earlier_life_are_free_at_once
    a_goodbye_frees_everything_and_is_said_once
    what_is_held_is_a_fact_even_above_the_limit
    a_node_that_comes_back_late_is_asked_for_everything
    no_slot_is_spent_ahead_of_need_where_they_are_short
    calls_are_answered_once_and_in_order
}

fn p16_nodes_share_one_limit(mut world: World<impl Slots>) {
    assert_eq!(world.ask(0, 6), Held { slots: 6, app_total: 6, shortage: None });
    assert_eq!(world.ask(1, 6), Held { slots: 6, app_total: 12, shortage: None }, "a burst, there is room");
    assert_eq!(world.ask(2, 6), Held { slots: 3, app_total: 15, shortage: Some(Shortage::App) });
    assert_eq!(world.ask(0, 1).shortage, Some(Shortage::App));
}

fn slots_of_a_silent_node_come_back_after_their_time(mut world: World<impl Slots>) {
    world.ask(0, 9);
    world.wait(Millis::new(SLOT_TTL.get() - 1));
    assert_eq!(world.ask(1, 9).app_total, 15);
    world.wait(Millis::new(1));
    assert_eq!(world.ask(2, 9), Held { slots: 9, app_total: 15, shortage: None });
}

fn slots_of_an_earlier_life_are_free_at_once(mut world: World<impl Slots>) {
    world.ask(0, 15);
    let late = world.nodes[0].call(&[Plan::of(0)], 1);
    world.nodes[0].crash();
    assert_eq!(world.ask(0, 2), Held { slots: 2, app_total: 2, shortage: None });
    assert_eq!(wait(world.ledger.hold(&cluster(), &late)), Err(LedgerError::Fenced));
}

fn a_goodbye_frees_everything_and_is_said_once(mut world: World<impl Slots>) {
    world.ask(0, 9);
    let goodbye = Hold { is_leaving: true, ..world.nodes[0].call(&[], 1) };
    assert_eq!(world.hold(&goodbye).cluster_total, 0);
    assert_eq!(wait(world.ledger.hold(&cluster(), &goodbye)), Err(LedgerError::Stale));
    assert_eq!(world.ask(1, 9).app_total, 9, "and nobody took that for lost memory");
}

fn what_is_held_is_a_fact_even_above_the_limit(mut world: World<impl Slots>) {
    // What they hold was granted by a ledger that has lost its memory since.
    for node in 0..2 {
        world.nodes[node].holding.insert(app(0), 12);
        world.nodes[node].acked = 7;
        world.nodes[node].seq = 7;
    }
    let reply = world.present(0);
    assert!(reply.is_partial);
    assert_eq!(reply.entries[0], Held { slots: 12, app_total: 12, shortage: None });
    assert_eq!(world.ask(0, 1).shortage, Some(Shortage::Learning), "others may hold the rest");
    assert_eq!(world.ask(2, 1).shortage, Some(Shortage::Learning));
    assert_eq!(world.present(1).entries[0].app_total, 24);
    assert!(!world.present(1).is_partial);
    world.wait(LEARNING);
    assert_eq!(world.ask(1, 1), Held { slots: 12, app_total: 24, shortage: Some(Shortage::App) });
    world.nodes[0].holding.insert(app(0), 2);
    world.present(0);
    assert_eq!(world.ask(1, 1), Held { slots: 13, app_total: 15, shortage: None });
}

fn a_node_that_comes_back_late_is_asked_for_everything(mut world: World<impl Slots>) {
    world.ask(0, 9);
    world.wait(SLOT_TTL);
    // Nobody has cleared its slots away yet, but somebody might have begun to.
    assert!(world.present(0).is_partial);
    assert_eq!(world.ask(1, 1).shortage, None, "nothing was lost");
}

fn no_slot_is_spent_ahead_of_need_where_they_are_short(mut world: World<impl Slots>) {
    let mut ask_ahead = |more, ahead| {
        let plan = Plan { more, ahead, limits: LIMITS, ..Plan::of(0) };
        let call = world.nodes[0].call(&[plan], 1);
        let reply = world.hold(&call);
        world.nodes[0].take(&call, &reply);
        reply.entries[0].slots
    };
    assert_eq!(ask_ahead(1, 8), 3, "a quarter of the nine that are free");
    assert_eq!(ask_ahead(0, 8), 4);
    assert_eq!(ask_ahead(5, 8), 9, "none of the last one");
    assert_eq!(ask_ahead(2, 8), 11, "and none of the burst");
}

fn calls_are_answered_once_and_in_order(mut world: World<impl Slots>) {
    let first = world.nodes[0].call(&[Plan { more: 3, ..Plan::of(0) }], 1);
    let reply = world.hold(&first);
    let second = world.nodes[0].call(&[Plan { more: 1, ..Plan::of(0) }], 1);
    assert_eq!(world.hold(&second).entries[0].slots, 1, "it never had the first answer");
    assert_eq!(wait(world.ledger.hold(&cluster(), &first)), Err(LedgerError::Stale));
    let again = world.hold(&second);
    assert_eq!((again.entries[0].slots, again.cluster_total), (1, 1));
    assert_eq!(reply.entries[0].slots, 3);
}

#[derive(Clone, Debug)]
enum Step {
    Wait(u64),
    Hold { node: usize, plans: Vec<Plan>, is_lost: bool },
    Again { node: usize, age: usize },
    Crash { node: usize },
    Leave { node: usize },
}

fn any_step() -> impl Strategy<Value = Step> {
    let plan = (0..3usize, 0..=100u32, 0..12u32, 0..12u32).prop_map(|(app, kept, more, ahead)| Plan {
        app,
        kept,
        more,
        ahead,
        limits: LIMITS,
        lie: None,
    });
    prop_oneof![
        4 => prop_oneof![0..2_000u64, 2_000..40_000u64].prop_map(Step::Wait),
        20 => (0..4usize, prop::collection::vec(plan, 0..4), prop::bool::weighted(0.2))
            .prop_map(|(node, plans, is_lost)| Step::Hold { node, plans, is_lost }),
        3 => (0..4usize, 0..3usize).prop_map(|(node, age)| Step::Again { node, age }),
        1 => (0..4usize).prop_map(|node| Step::Crash { node }),
        1 => (0..4usize).prop_map(|node| Step::Leave { node }),
    ]
}

/// Nodes tell the truth, but answers get lost, calls come twice and late, and nodes crash. What they may use never
/// adds up to more than the limits.
fn play(world: &mut World<impl Slots>, steps: &[Step]) {
    let mut answered_at = [0; 4];
    for step in steps {
        match step {
            Step::Wait(ms) => world.wait(Millis::new(*ms)),
            Step::Hold { node, plans, is_lost } => {
                let call = world.nodes[*node].call(plans, 3);
                let reply = world.hold(&call);
                if !is_lost {
                    world.nodes[*node].take(&call, &reply);
                    answered_at[*node] = world.time.load(Ordering::Relaxed);
                }
            }
            Step::Again { node, age } => {
                if let Some(call) = world.nodes[*node].calls.get(*age) {
                    let _ = wait(world.ledger.hold(&cluster(), call));
                }
            }
            Step::Crash { node } => world.nodes[*node].crash(),
            Step::Leave { node } => {
                let call = Hold { is_leaving: true, ..world.nodes[*node].call(&[], 1) };
                let _ = wait(world.ledger.hold(&cluster(), &call));
                world.nodes[*node].crash();
            }
        }
        let now = world.time.load(Ordering::Relaxed);
        for (node, at) in world.nodes.iter_mut().zip(answered_at) {
            if now - at >= SLOT_TTL.get() {
                // It closes what it has, as its slots are not its own any more.
                node.holding.clear();
                node.acked = 0;
            }
        }
        let held =
            |index| world.nodes.iter().filter_map(move |node| node.holding.get(&app(index))).sum::<u32>();
        assert!((0..3).all(|index| held(index) <= LIMITS.burst), "{step:?}");
        assert!((0..3).map(held).sum::<u32>() <= CLUSTER_MAX, "{step:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn p16_slots_never_add_up_to_more_than_the_limits(steps in prop::collection::vec(any_step(), 1..80)) {
        let time = start();
        let ledger = MemoryLedger::with_clock(clock(&time));
        play(&mut World::new(time, ledger), &steps);
        let time = start();
        let ledger = ScriptLedger::new(MluaEngine::new(clock(&time)).unwrap());
        play(&mut World::new(time, ledger), &steps);
    }
}
