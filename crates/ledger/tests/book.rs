//! The book under random histories: after every step every right is accounted for.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use proptest::prelude::*;
use std::collections::BTreeMap;
use tollgate_core::id::{AppId, NodeId};
use tollgate_core::priority::Priority;
use tollgate_core::quota::{Capacity, LoanTerms, Quota};
use tollgate_core::units::{Millis, Rate, Ratio, Tokens};
use tollgate_ledger::Book;
use tollgate_ledger::book::NODE_TTL;
use tollgate_ledger::protocol::{AppPolicy, Carry, Entry, LedgerError, PutApp, Seed, Sync, SyncReply};

const APPS: [(&str, u64, u64, Priority); 3] = [
    ("video-service", 20_000, 80_000, Priority::P0),
    ("app-a", 10_000, 50_000, Priority::P1),
    ("app-c", 5_000, 20_000, Priority::P2),
];

/// After so much silence a node is taken to go on alone.
const SILENCE: Millis = Millis::new(400);

fn app(index: usize) -> AppId {
    AppId::new(APPS[index].0).unwrap()
}

fn policy(index: usize, guaranteed: u64, burst: u64) -> AppPolicy {
    let quota = Quota {
        guaranteed: Rate::per_second(guaranteed),
        burst: Tokens::whole(burst),
        burst_window: Quota::DEFAULT_BURST_WINDOW,
        priority: APPS[index].3,
        loan: LoanTerms::default(),
    };
    AppPolicy { app: app(index), quota, enabled: true, body: String::new() }
}

fn capacity(rate: u64) -> Capacity {
    Capacity { rate: Rate::per_second(rate), emergency_threshold: Ratio::percent(200), ..Capacity::default() }
}

fn book(rate: u64) -> Book {
    let apps = (0..APPS.len()).map(|i| policy(i, APPS[i].1, APPS[i].2)).collect();
    Book::seed(Seed { capacity: capacity(rate), apps, remembered: None }, Millis::ZERO).unwrap()
}

/// A node as it should behave: it spends what it holds and reports it.
struct Node {
    id: NodeId,
    incarnation: u64,
    seq: u64,
    acked: u64,
    epoch: u64,
    holding: BTreeMap<usize, Tokens>,
    unreported: BTreeMap<usize, Tokens>,
}

impl Node {
    fn new(name: usize) -> Self {
        let id = NodeId::new(&format!("node-{name}")).unwrap();
        let (holding, unreported) = (BTreeMap::new(), BTreeMap::new());
        Self { id, incarnation: 1, seq: 0, acked: 0, epoch: 0, holding, unreported }
    }

    fn spend(&mut self, app: usize, amount: Tokens) -> Tokens {
        let held = self.holding.entry(app).or_default();
        let spent = amount.min(*held);
        *held = held.minus(spent);
        let unreported = self.unreported.entry(app).or_default();
        *unreported = unreported.plus(spent);
        spent
    }

    fn call(&mut self, app_index: usize, need: Tokens, want: Tokens, returned: Tokens) -> Sync {
        let held = self.holding.entry(app_index).or_default();
        let returned = returned.min(*held);
        *held = held.minus(returned);
        let holding = *held;
        let spent = self.unreported.remove(&app_index).unwrap_or_default();
        self.seq += 1;
        let fallback = Rate::per_second(100);
        let entry = Entry {
            spent,
            requests: 1,
            returned,
            holding,
            need,
            want,
            fallback,
            ..Entry::idle(app(app_index))
        };
        Sync {
            node: self.id.clone(),
            incarnation: self.incarnation,
            seq: self.seq,
            acked: self.acked,
            epoch: self.epoch,
            silence: SILENCE,
            entries: vec![entry],
        }
    }

    fn take(&mut self, app: usize, reply: &SyncReply) {
        (self.acked, self.epoch) = (self.seq, reply.epoch);
        let held = self.holding.entry(app).or_default();
        *held = held.plus(reply.entries[0].granted);
    }
}

#[derive(Clone, Debug)]
enum Step {
    Wait(u64),
    Spend { node: usize, app: usize, amount: u64 },
    Sync { node: usize, app: usize, need: u64, more: u64, returned: u64 },
    Lost { node: usize, app: usize, want: u64 },
    Crash { node: usize },
    Acquire { app: usize, cost: u64 },
    Borrow { app: usize, amount: u64 },
    Repay { app: usize, amount: u64 },
    Change { app: usize, guaranteed: u64, more: u64, carry: usize, after: u64 },
    Reset { app: usize },
    Emergency { duration: u64 },
    Calm,
    Reserve { app: usize, estimate: u64, timeout: u64 },
    Complete { which: usize, actual: u64 },
    Cancel { which: usize },
}

fn any_step() -> impl Strategy<Value = Step> {
    let (node, app) = (0..3usize, 0..3usize);
    prop_oneof![
        6 => (0..700u64).prop_map(Step::Wait),
        1 => (5_000..70_000u64).prop_map(Step::Wait),
        6 => (node.clone(), app.clone(), 0..20_000u64).prop_map(|(node, app, amount)| Step::Spend { node, app, amount }),
        8 => (node.clone(), app.clone(), 0..10_000u64, 0..30_000u64, 0..5_000u64)
            .prop_map(|(node, app, need, more, returned)| Step::Sync { node, app, need, more, returned }),
        1 => (node.clone(), app.clone(), 0..10_000u64).prop_map(|(node, app, want)| Step::Lost { node, app, want }),
        1 => node.prop_map(|node| Step::Crash { node }),
        2 => (app.clone(), 1..10_000u64).prop_map(|(app, cost)| Step::Acquire { app, cost }),
        1 => (app.clone(), 1..6_000u64).prop_map(|(app, amount)| Step::Borrow { app, amount }),
        1 => (app.clone(), 1..6_000u64).prop_map(|(app, amount)| Step::Repay { app, amount }),
        1 => (app.clone(), 1..40_000u64, 0..40_000u64, 0..3usize, 0..2_000u64).prop_map(
            |(app, guaranteed, more, carry, after)| Step::Change { app, guaranteed, more, carry, after }
        ),
        1 => app.clone().prop_map(|app| Step::Reset { app }),
        1 => (1..3_000u64).prop_map(|duration| Step::Emergency { duration }),
        1 => Just(Step::Calm),
        2 => (app, 1..5_000u64, 1..5_000u64).prop_map(|(app, estimate, timeout)| Step::Reserve { app, estimate, timeout }),
        1 => (0..8usize, 0..8_000u64).prop_map(|(which, actual)| Step::Complete { which, actual }),
        1 => (0..8usize).prop_map(|which| Step::Cancel { which }),
    ]
}

fn any_pause() -> impl Strategy<Value = u64> {
    prop_oneof![3 => 0..100u64, 1 => 0..12_000_000u64]
}

struct World {
    book: Book,
    now: Millis,
    nodes: Vec<Node>,
    reservations: usize,
}

impl World {
    fn new(rate: u64) -> Self {
        Self { book: book(rate), now: Millis::ZERO, nodes: (0..3).map(Node::new).collect(), reservations: 0 }
    }

    fn step(&mut self, step: &Step) {
        let now = self.now;
        match *step {
            Step::Wait(ms) => self.now = now.plus(Millis::new(ms)),
            Step::Spend { node, app, amount } => {
                self.nodes[node].spend(app, Tokens::whole(amount));
            }
            Step::Sync { node, app, need, more, returned } => {
                let need = Tokens::whole(need);
                let call =
                    self.nodes[node].call(app, need, need.plus(Tokens::whole(more)), Tokens::whole(returned));
                let reply = self.book.sync(&call, now).unwrap();
                let again = self.book.clone().sync(&call, now.plus(Millis::new(50))).unwrap();
                assert_eq!(reply, again, "the same call again gets the same answer");
                assert_eq!(reply.entries[0].refusal.is_some(), reply.entries[0].granted < need);
                self.nodes[node].take(app, &reply);
            }
            Step::Lost { node, app, want } => {
                // The answer is lost: the node sends the same call again.
                let call = self.nodes[node].call(app, Tokens::ZERO, Tokens::whole(want), Tokens::ZERO);
                let first = self.book.sync(&call, now).unwrap();
                self.now = now.plus(Millis::new(20));
                let second = self.book.sync(&call, self.now).unwrap();
                assert_eq!(first, second);
                self.nodes[node].take(app, &second);
            }
            Step::Crash { node } => {
                let incarnation = self.nodes[node].incarnation;
                let id = self.nodes[node].id.clone();
                self.nodes[node] = Node { id, incarnation: incarnation + 1, ..Node::new(node) };
            }
            Step::Acquire { app: index, cost } => {
                let _ = self.book.acquire(&app(index), Tokens::whole(cost), now);
            }
            Step::Borrow { app: index, amount } => {
                let _ = self.book.borrow(&app(index), Tokens::whole(amount), now);
            }
            Step::Repay { app: index, amount } => {
                self.book.repay(&app(index), Tokens::whole(amount), now).unwrap();
            }
            Step::Change { app: index, guaranteed, more, carry, after } => {
                let carry = [Carry::Keep, Carry::Scale, Carry::Reset][carry];
                let policy = policy(index, guaranteed, guaranteed + more);
                let effective_at = now.plus(Millis::new(after));
                let _ = self.book.put_app(PutApp { policy, replaces: None, carry, effective_at }, now);
            }
            Step::Reset { app: index } => self.book.reset(&app(index), now).unwrap(),
            Step::Emergency { duration } => {
                self.book.declare_emergency("drill", Millis::new(duration), now);
            }
            Step::Calm => {
                self.book.end_emergency(now);
            }
            Step::Reserve { app: index, estimate, timeout } => {
                let id = format!("r{}", self.reservations);
                self.reservations += 1;
                let _ =
                    self.book.reserve(&id, &app(index), Tokens::whole(estimate), Millis::new(timeout), now);
            }
            Step::Complete { which, actual } => {
                let _ = self.book.complete(&format!("r{which}"), Tokens::whole(actual), now);
            }
            Step::Cancel { which } => {
                let _ = self.book.cancel(&format!("r{which}"), now);
            }
        }
    }

    fn check(&self) {
        let mut book = self.book.clone();
        let audit = book.audit(self.now);
        assert!(audit.slack.plus(audit.meters) <= audit.depth, "{audit:#?}");
        for line in &audit.lines {
            assert!(line.balances(), "{line:#?}");
            let app = &book.apps()[&line.app];
            let held = line.account.rights.plus(line.account.outstanding);
            assert!(held <= app.quota().burst.max(line.account.outstanding), "{line:#?}");
            assert!(line.account.loan.borrowed <= app.quota().loan.limit);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn p07_every_right_is_accounted_for_after_every_step(steps in prop::collection::vec(any_step(), 1..80)) {
        let mut world = World::new(100_000);
        for step in &steps {
            world.step(step);
            world.check();
        }
    }

    /// However large the guarantee, however long nobody looked, and whatever a node says.
    #[test]
    fn p07_large_amounts_are_accounted_for_too(
        guaranteed in 400_000..900_000_000u64,
        more in 0..1_000_000_000u64,
        steps in prop::collection::vec((0..5u8, any_pause(), 0..1_000_000_000u64, any::<u64>()), 1..60),
    ) {
        let apps = vec![policy(0, guaranteed, guaranteed + more)];
        let mut world = World::new(100_000);
        world.book = Book::seed(Seed { capacity: capacity(1_000_000_000), apps, remembered: None }, Millis::ZERO).unwrap();
        for (kind, ms, amount, lie) in steps {
            world.now = world.now.plus(Millis::new(ms));
            let tokens = Tokens::whole(amount);
            match kind {
                0 => world.step(&Step::Sync { node: 0, app: 0, need: amount / 2, more: amount, returned: 0 }),
                1 => _ = world.nodes[0].spend(0, tokens),
                2 => {
                    let mut call = world.nodes[1].call(0, tokens, tokens, Tokens::ZERO);
                    call.entries[0].spent = Tokens::from_micros(lie);
                    call.entries[0].requests = lie;
                    let reply = world.book.sync(&call, world.now).unwrap();
                    world.nodes[1].take(0, &reply);
                }
                3 => _ = world.book.acquire(&app(0), tokens, world.now),
                _ => {
                    if world.book.reserve("r", &app(0), tokens, Millis::from_secs(9), world.now).is_ok() {
                        world.book.complete("r", Tokens::from_micros(lie), world.now).unwrap();
                    }
                }
            }
            // Not by an audit, which would bring the books up to now first, and close them if they are large.
            let app = &world.book.apps()[&app(0)];
            prop_assert!(app.flows.balances(&app.account), "{app:#?}");
        }
    }

    /// Never more than the guarantee mints, the burst and the extras that were drawn; and all together never more
    /// than the cluster can stand.
    #[test]
    fn never_more_than_was_minted(
        steps in prop::collection::vec((0..3usize, 0..3usize, 0..40_000u64, 0..400u64), 1..150),
    ) {
        let mut world = World::new(50_000);
        let mut granted = [Tokens::ZERO; 3];
        for (node, app, want, ms) in steps {
            world.now = world.now.plus(Millis::new(ms));
            world.nodes[node].spend(app, Tokens::MAX);
            let call = world.nodes[node].call(app, Tokens::ZERO, Tokens::whole(want), Tokens::ZERO);
            let reply = world.book.sync(&call, world.now).unwrap();
            granted[app] = granted[app].plus(reply.entries[0].granted);
            world.nodes[node].take(app, &reply);

            let quota = *world.book.apps()[&self::app(app)].quota();
            // A second's guarantee to start with, what was minted, and an allowance per window begun.
            let windows = world.now.get() / 60_000 + 1;
            let allowances = Tokens::from_micros(quota.allowance().micros() * windows);
            let bound = quota.guaranteed.per_one_second().plus(quota.guaranteed.over(world.now)).plus(allowances);
            prop_assert!(granted[app] <= bound);
            let total: Tokens = granted.into_iter().sum();
            let capacity = world.book.capacity();
            prop_assert!(total <= capacity.rate.over(world.now).plus(capacity.depth()));
        }
    }

    /// Whatever the neighbours take, borrow and reserve, an application inside its guarantee gets all of it.
    #[test]
    fn a_guarantee_is_never_refused_because_of_others(
        steps in prop::collection::vec((10..200u64, 0..2usize, 0..100_000u64, 0..6_000u64), 1..120),
    ) {
        let mut world = World::new(50_000);
        for (ms, greedy, want, loan) in steps {
            world.now = world.now.plus(Millis::new(ms));
            let greedy = greedy + 1;
            world.nodes[greedy].spend(greedy, Tokens::MAX);
            let need = Tokens::whole(want);
            let call = world.nodes[greedy].call(greedy, need, need, Tokens::ZERO);
            let reply = world.book.sync(&call, world.now).unwrap();
            world.nodes[greedy].take(greedy, &reply);
            let _ = world.book.borrow(&app(greedy), Tokens::whole(loan), world.now);

            let modest = Rate::per_second(APPS[0].1).over(Millis::new(ms));
            world.nodes[0].spend(0, Tokens::MAX);
            let call = world.nodes[0].call(0, modest, modest, Tokens::ZERO);
            let reply = world.book.sync(&call, world.now).unwrap();
            prop_assert_eq!(reply.entries[0].granted, modest);
            prop_assert_eq!(reply.entries[0].refusal, None);
            world.nodes[0].take(0, &reply);
        }
    }

    #[test]
    fn p11_two_changes_cannot_together_promise_too_much(
        changes in prop::collection::vec((0..3usize, 1..60_000u64, 0..3_000u64, 0..2_000u64), 1..40),
    ) {
        let mut world = World::new(100_000);
        for (index, guaranteed, after, ms) in changes {
            let effective_at = world.now.plus(Millis::new(after));
            let put = PutApp { policy: policy(index, guaranteed, 60_000), replaces: None, carry: Carry::Scale, effective_at };
            let answer = world.book.put_app(put, world.now);
            prop_assert!(matches!(answer, Ok(_) | Err(LedgerError::Overpromised(_))));
            world.now = world.now.plus(Millis::new(ms));
            world.book.audit(world.now);
            let promised: u64 = world.book.apps().values().map(|app| app.quota().guaranteed.floor()).sum();
            prop_assert!(promised <= 90_000);
        }
    }
}

#[test]
fn an_older_life_of_a_node_is_fenced_off() {
    let mut book = book(100_000);
    let mut old = Node::new(0);
    let mut new = Node { incarnation: 2, ..Node::new(0) };
    let call = old.call(0, Tokens::ZERO, Tokens::whole(10), Tokens::ZERO);
    book.sync(&call, Millis::ZERO).unwrap();
    book.sync(&new.call(0, Tokens::ZERO, Tokens::whole(10), Tokens::ZERO), Millis::ZERO).unwrap();
    let late = old.call(0, Tokens::ZERO, Tokens::whole(10), Tokens::ZERO);
    assert_eq!(book.sync(&late, Millis::ZERO), Err(LedgerError::Fenced));
}

#[test]
fn a_call_that_comes_late_changes_nothing() {
    let mut book = book(100_000);
    let mut node = Node::new(0);
    let first = node.call(0, Tokens::ZERO, Tokens::whole(10), Tokens::ZERO);
    let second = node.call(0, Tokens::ZERO, Tokens::whole(10), Tokens::ZERO);
    book.sync(&second, Millis::ZERO).unwrap();
    let before = book.clone();
    assert_eq!(book.sync(&first, Millis::new(5)), Err(LedgerError::Stale));
    assert_eq!(book, before);
}

#[test]
fn a_goodbye_said_twice_changes_nothing() {
    let mut world = World::new(100_000);
    let call = world.nodes[0].call(0, Tokens::ZERO, Tokens::whole(10), Tokens::ZERO);
    let reply = world.book.sync(&call, world.now).unwrap();
    world.nodes[0].take(0, &reply);
    let goodbye = world.nodes[0].call(0, Tokens::ZERO, Tokens::ZERO, Tokens::whole(10));
    world.book.depart(&goodbye, world.now).unwrap();
    let before = world.book.clone();
    assert_eq!(world.book.depart(&goodbye, world.now), Err(LedgerError::Stale));
    assert_eq!(world.book, before, "nobody starts over");
    world.check();
}

#[test]
fn a_dead_node_s_lease_is_written_off_and_makes_room_again() {
    let mut world = World::new(100_000);
    let call = world.nodes[0].call(2, Tokens::ZERO, Tokens::whole(5_000), Tokens::ZERO);
    let reply = world.book.sync(&call, world.now).unwrap();
    assert_eq!(reply.entries[0].granted, Tokens::whole(5_000));
    world.book.audit(Millis::from_secs(100));
    let audit = world.book.audit(Millis::from_secs(101));
    let line = audit.lines.iter().find(|line| line.app == app(2)).unwrap();
    assert_eq!(line.account.outstanding, Tokens::ZERO);
    assert_eq!(line.flows.expired, Tokens::whole(5_000));
    assert_eq!(line.account.rights, Tokens::whole(20_000), "the whole burst is there again");
}

#[test]
fn what_a_cut_off_node_lets_through_is_set_aside() {
    let mut world = World::new(100_000);
    let call = world.nodes[0].call(2, Tokens::ZERO, Tokens::whole(5_000), Tokens::ZERO);
    world.book.sync(&call, world.now).unwrap();
    // Silent from 0 s, suspected from when somebody looks after 400 ms: a hundred a second.
    world.now = Millis::new(399);
    world.book.audit(world.now);
    world.now = Millis::new(400);
    world.book.audit(world.now);
    world.now = Millis::new(10_400);
    let audit = world.book.audit(world.now);
    let line = audit.lines.iter().find(|line| line.app == app(2)).unwrap();
    assert_eq!(line.flows.suspected, Tokens::whole(1_000));
}

#[test]
fn lost_writes_are_noticed_and_nobody_starts_with_anything() {
    let mut world = World::new(100_000);
    let before = world.book.clone();
    let call = world.nodes[0].call(0, Tokens::ZERO, Tokens::whole(9_000), Tokens::ZERO);
    let reply = world.book.sync(&call, world.now).unwrap();
    world.nodes[0].take(0, &reply);

    // A failover to a copy that never saw the grant.
    world.book = before;
    let call = world.nodes[0].call(0, Tokens::ZERO, Tokens::whole(9_000), Tokens::ZERO);
    let reply = world.book.sync(&call, world.now).unwrap();
    assert_eq!(reply.epoch, 2);
    assert_eq!(reply.entries[0].granted, Tokens::ZERO, "the bucket is empty");
    let audit = world.book.audit(world.now);
    let line = audit.lines.iter().find(|line| line.app == app(0)).unwrap();
    assert_eq!(line.account.outstanding, Tokens::whole(9_000), "what the node presented");
    world.check();
}

#[test]
fn a_ledger_that_lost_its_memory_is_rebuilt_without_a_flood() {
    let apps = vec![policy(0, 20_000, 80_000)];
    let seed = Seed { capacity: capacity(100_000), apps, remembered: Some(7) };
    let mut book = Book::seed(seed, Millis::ZERO).unwrap();
    assert_eq!(book.version(), 8);
    assert_eq!(book.acquire(&app(0), Tokens::whole(100), Millis::new(5)), Ok(Tokens::ZERO));
    assert!(book.acquire(&app(0), Tokens::whole(100), Millis::new(5)).is_err());
}

#[test]
fn an_emergency_reaches_every_node_with_its_next_answer() {
    let mut world = World::new(100_000);
    world.book.declare_emergency("storage on fire", Millis::from_secs(300), world.now);
    for (index, ratio) in [(0, 100), (1, 50), (2, 10)] {
        world.now = world.now.plus(Millis::from_secs(10));
        let call = world.nodes[0].call(index, Tokens::ZERO, Tokens::whole(100_000), Tokens::ZERO);
        let reply = world.book.sync(&call, world.now).unwrap();
        assert!(reply.emergency.is_on());
        let second = Ratio::percent(ratio).of(Tokens::whole(APPS[index].1));
        assert_eq!(reply.entries[0].granted, second, "one second of {ratio} % of its guarantee");
    }
}

#[test]
fn a_change_takes_effect_when_its_time_comes() {
    let mut world = World::new(100_000);
    let put = PutApp {
        policy: policy(2, 8_000, 8_000),
        replaces: Some(3),
        carry: Carry::Scale,
        effective_at: Millis::from_secs(10),
    };
    world.book.put_app(put.clone(), Millis::ZERO).unwrap();
    world.book.audit(Millis::from_secs(9));
    assert_eq!(world.book.apps()[&app(2)].quota().guaranteed, Rate::per_second(5_000));
    world.book.audit(Millis::from_secs(10));
    assert_eq!(world.book.apps()[&app(2)].quota().guaranteed, Rate::per_second(8_000));
    assert_eq!(world.book.put_app(put, Millis::from_secs(11)), Err(LedgerError::Conflict(5)));
}

#[test]
fn rights_are_kept_scaled_or_reset() {
    for (carry, rights) in [(Carry::Keep, 20_000), (Carry::Scale, 40_000), (Carry::Reset, 5_000)] {
        let mut world = World::new(100_000);
        world.book.audit(Millis::from_secs(60));
        let effective_at = Millis::ZERO;
        let put = PutApp { policy: policy(2, 5_000, 40_000), replaces: None, carry, effective_at };
        world.book.put_app(put, Millis::from_secs(60)).unwrap();
        let account = world.book.apps()[&app(2)].account;
        assert_eq!(account.rights, Tokens::whole(rights), "{carry:?}");
        world.now = Millis::from_secs(60);
        world.check();
    }
}

#[test]
fn a_node_that_is_gone_for_a_day_is_forgotten() {
    let mut world = World::new(100_000);
    let call = world.nodes[0].call(0, Tokens::ZERO, Tokens::whole(10), Tokens::ZERO);
    let reply = world.book.sync(&call, world.now).unwrap();
    world.nodes[0].take(0, &reply);
    let view = |book: &mut Book, now| {
        let view = book.cluster_view(now);
        (view.nodes, view.silent_nodes, view.epoch)
    };
    assert_eq!(view(&mut world.book, Millis::new(4_999)), (1, 0, 1));
    assert_eq!(view(&mut world.book, Millis::new(5_000)), (0, 1, 1));
    assert_eq!(view(&mut world.book, NODE_TTL), (0, 0, 1));
    // It starts a new life, as it was silent for so long: then nobody else has to start over.
    world.step(&Step::Crash { node: 0 });
    let call = world.nodes[0].call(0, Tokens::ZERO, Tokens::whole(10), Tokens::ZERO);
    assert_eq!(world.book.sync(&call, NODE_TTL).unwrap().epoch, 1);
}

/// A bucket whose burst is all out on lease is full: the time until the node is replaced mints nothing, or what the
/// node spent at the end of it could be had a second time at once.
#[test]
fn time_in_which_all_was_out_on_lease_is_not_minted_when_the_node_is_replaced() {
    let mut book = book(1_000_000);
    let mut node = Node::new(0);
    // Until all of the burst is out.
    for second in 0..8 {
        let call = node.call(2, Tokens::ZERO, Tokens::whole(20_000), Tokens::ZERO);
        let reply = book.sync(&call, Millis::from_secs(second)).unwrap();
        node.take(2, &reply);
    }
    assert_eq!(node.holding[&2], Tokens::whole(20_000));
    let mut successor = Node { incarnation: 2, ..Node::new(0) };
    let call = successor.call(2, Tokens::ZERO, Tokens::whole(20_000), Tokens::ZERO);
    // Before idle applications are looked at again, which would bring it up to now.
    let now = Millis::new(7_500);
    book.sync(&call, now).unwrap();
    assert_eq!(book.apps()[&app(2)].account.rights, Tokens::ZERO);
    assert_eq!(book.apps()[&app(2)].account.outstanding, Tokens::ZERO);
    assert!(book.audit(now).balances());
}

/// A call that was on its way when its node said goodbye is not taken for one of a node that the ledger has forgotten.
#[test]
fn a_call_that_arrives_after_the_goodbye_changes_nothing() {
    let mut world = World::new(100_000);
    for _ in 0..2 {
        let call = world.nodes[0].call(0, Tokens::ZERO, Tokens::whole(10), Tokens::ZERO);
        let reply = world.book.sync(&call, world.now).unwrap();
        world.nodes[0].take(0, &reply);
    }
    let late = world.nodes[0].call(0, Tokens::ZERO, Tokens::whole(10), Tokens::ZERO);
    let goodbye = world.nodes[0].call(0, Tokens::ZERO, Tokens::ZERO, Tokens::whole(20));
    world.book.depart(&goodbye, world.now).unwrap();
    let before = world.book.clone();
    assert_eq!(world.book.sync(&late, world.now), Err(LedgerError::Stale));
    assert_eq!(world.book, before, "nobody starts over");
    let view = world.book.cluster_view(world.now);
    assert_eq!((view.nodes, view.silent_nodes), (0, 0), "it is neither heard of nor missed");
    world.check();

    // After a day nobody can be late any more.
    world.book.audit(NODE_TTL);
    world.step(&Step::Crash { node: 0 });
    let call = world.nodes[0].call(0, Tokens::ZERO, Tokens::whole(10), Tokens::ZERO);
    assert_eq!(world.book.sync(&call, NODE_TTL).unwrap().epoch, 1);
}

/// The first node that tells of a loss empties every bucket. What is minted afterwards stays: the others, who come one
/// after the other, tell of the same loss.
#[test]
fn a_loss_that_many_nodes_tell_of_is_one_loss() {
    let wiped = || book(100_000);
    let mut failed_over = wiped();
    failed_over.audit(Millis::new(5));
    for (name, lost) in [("wiped", wiped()), ("failed over", failed_over)] {
        let mut world = World::new(100_000);
        for node in &mut world.nodes {
            let call = node.call(2, Tokens::ZERO, Tokens::whole(10), Tokens::ZERO);
            let reply = world.book.sync(&call, world.now).unwrap();
            node.take(2, &reply);
        }
        world.book = lost;
        let epoch = world.book.epoch() + 1;
        for (index, node) in world.nodes.iter_mut().enumerate() {
            world.now = world.now.plus(Millis::new(100));
            let call = node.call(2, Tokens::ZERO, Tokens::ZERO, Tokens::ZERO);
            let reply = world.book.sync(&call, world.now).unwrap();
            assert_eq!(reply.epoch, epoch, "{name}: node {index}");
            node.take(2, &reply);
        }
        let rights = world.book.apps()[&app(2)].account.rights;
        assert_eq!(rights, Tokens::whole(1_000), "{name}: 200 ms since the first one");
        world.check();

        // Another loss is another loss, also if what the ledger goes back to is older than that.
        world.book = wiped();
        let call = world.nodes[0].call(2, Tokens::ZERO, Tokens::ZERO, Tokens::ZERO);
        assert_eq!(world.book.sync(&call, world.now).unwrap().epoch, epoch + 1, "{name}");
    }
}

/// What a node that was cut off let through was set aside while it was away, and is not charged again when it tells of it.
#[test]
fn what_was_set_aside_is_not_charged_again() {
    let mut world = World::new(100_000);
    let call = world.nodes[0].call(2, Tokens::ZERO, Tokens::whole(100), Tokens::ZERO);
    let reply = world.book.sync(&call, world.now).unwrap();
    world.nodes[0].take(2, &reply);
    world.book.audit(SILENCE);
    // Ten seconds alone, at a hundred a second, of which it used nine hundred; and its lease, which is over.
    world.now = SILENCE.plus(Millis::from_secs(10));
    let line =
        |book: &mut Book, now| book.audit(now).lines.into_iter().find(|line| line.app == app(2)).unwrap();
    let before = line(&mut world.book, world.now);
    assert_eq!(before.flows.suspected, Tokens::whole(1_000));
    assert_eq!(before.flows.expired, Tokens::whole(100));
    world.nodes[0].holding.clear();
    world.nodes[0].unreported.insert(2, Tokens::whole(900));
    let call = world.nodes[0].call(2, Tokens::ZERO, Tokens::ZERO, Tokens::ZERO);
    let reply = world.book.sync(&call, world.now).unwrap();
    world.nodes[0].take(2, &reply);
    let after = line(&mut world.book, world.now);
    assert_eq!(after.flows.suspected, Tokens::whole(100));
    assert_eq!(after.flows.spent, Tokens::whole(900));
    assert_eq!(after.account.rights, before.account.rights);
    world.check();

    // More than was set aside is charged.
    world.nodes[0].unreported.insert(2, Tokens::whole(250));
    let call = world.nodes[0].call(2, Tokens::ZERO, Tokens::ZERO, Tokens::ZERO);
    world.book.sync(&call, world.now).unwrap();
    let last = line(&mut world.book, world.now);
    assert_eq!(last.account.rights, before.account.rights.minus(Tokens::whole(150)));
    world.check();
}
