//! Every history of two nodes that lease from one application, for as long as few things happen: the book that is shipped,
//! and nodes that know no more than the protocol. Messages get lost, arrive late, twice and in any order; a node crashes;
//! the store goes back to an older state.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use stateright::{Checker, Model, Property};
use std::collections::BTreeSet;
use std::hash::{Hash, Hasher};
use tollgate_core::id::{AppId, NodeId};
use tollgate_core::priority::Priority;
use tollgate_core::quota::{Capacity, LoanTerms, Quota};
use tollgate_core::units::{Millis, Rate, Tokens};
use tollgate_ledger::Book;
use tollgate_ledger::book::LEASE_TTL;
use tollgate_ledger::protocol::{AppPolicy, Entry, Seed, Sync};

const START: Millis = Millis::new(1_000_000);
const RATE: Rate = Rate::per_second(2);
const BURST: Tokens = Tokens::whole(2);

const SILENCE: Millis = Millis::new(400);

/// Time for one token, and for a lease to end.
const WAITS: [Millis; 2] = [Millis::new(500), LEASE_TTL];

/// How much may happen.
#[derive(Clone, Copy)]
struct Histories {
    calls: u64,
    waits: u8,
    duplicates: u8,
    crashes: u8,
    rollbacks: u8,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct State {
    now: Millis,
    book: Book,
    copy: Option<Copy>,
    nodes: [Node; 2],
    /// What was said and may still arrive, at any time or never.
    said: BTreeSet<Message>,
    /// What a single bucket with the same promise would have left; less than nothing if too much has passed.
    left: i64,
    /// What was granted by writes that were lost: it may pass once more.
    forgotten: i64,
    refilled_at: Millis,
    waits: u8,
    duplicates: u8,
    crashes: u8,
    rollbacks: u8,
}

/// What another store would know, and what was granted since.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Copy {
    book: Book,
    granted: Tokens,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Node {
    life: u64,
    seq: u64,
    acked: u64,
    epoch: u64,
    purse: u64,
    spent: u64,
    /// The call that was not answered yet, and when it was made.
    asked_at: Option<Millis>,
    lease_end: Option<Millis>,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Message {
    Call { node: usize, life: u64, seq: u64, acked: u64, epoch: u64, spent: u64, holding: u64 },
    Answer { node: usize, life: u64, seq: u64, epoch: u64, granted: u64 },
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Action {
    Spend(usize),
    Ask(usize),
    Arrive(Message),
    /// It will arrive once more.
    Repeat(Message),
    Wait(usize),
    Crash(usize),
    Copy,
    TakeOver,
}

impl Hash for State {
    fn hash<H: Hasher>(&self, state: &mut H) {
        // The book is no key by itself; its text is all of it.
        format!("{:?} {:?}", self.book, self.copy).hash(state);
        (self.now, &self.nodes, &self.said, self.left, self.forgotten, self.refilled_at).hash(state);
        (self.waits, self.duplicates, self.crashes, self.rollbacks).hash(state);
    }
}

impl Model for Histories {
    type State = State;
    type Action = Action;

    fn init_states(&self) -> Vec<State> {
        let quota = Quota {
            guaranteed: RATE,
            burst: BURST,
            burst_window: Quota::DEFAULT_BURST_WINDOW,
            priority: Priority::P1,
            loan: LoanTerms { automatic: false, ..LoanTerms::default() },
        };
        let app = AppPolicy { app: app(), quota, enabled: true, body: String::new() };
        let seed = Seed { capacity: Capacity::default(), apps: vec![app], remembered: None };
        vec![State {
            now: START,
            book: Book::seed(seed, START).unwrap(),
            copy: None,
            nodes: Default::default(),
            said: BTreeSet::new(),
            left: signed(BURST),
            forgotten: 0,
            refilled_at: START,
            waits: self.waits,
            duplicates: self.duplicates,
            crashes: self.crashes,
            rollbacks: self.rollbacks,
        }]
    }

    fn actions(&self, state: &State, actions: &mut Vec<Action>) {
        for (i, node) in state.nodes.iter().enumerate() {
            if node.purse > 0 {
                actions.push(Action::Spend(i));
            }
            if node.asked_at.is_none() && node.seq < self.calls {
                actions.push(Action::Ask(i));
            }
            if state.crashes > 0 {
                actions.push(Action::Crash(i));
            }
        }
        actions.extend(state.said.iter().cloned().map(Action::Arrive));
        if state.duplicates > 0 {
            actions.extend(state.said.iter().cloned().map(Action::Repeat));
        }
        if state.waits > 0 {
            actions.extend((0..WAITS.len()).map(Action::Wait));
        }
        if state.rollbacks > 0 {
            actions.push(if state.copy.is_some() { Action::TakeOver } else { Action::Copy });
        }
    }

    fn next_state(&self, last: &State, action: Action) -> Option<State> {
        let mut state = last.clone();
        match action {
            Action::Spend(i) => state.spend(i),
            Action::Ask(i) => state.ask(i),
            Action::Arrive(message) => {
                state.said.remove(&message);
                state.arrive(&message);
            }
            Action::Repeat(message) => {
                state.duplicates -= 1;
                state.arrive(&message);
            }
            Action::Wait(i) => state.wait(WAITS[i]),
            Action::Crash(i) => state.crash(i),
            Action::Copy => state.copy = Some(Copy { book: state.book.clone(), granted: Tokens::ZERO }),
            Action::TakeOver => state.take_over(),
        }
        (state != *last).then_some(state)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::<Self>::always("no more passes than the bound", |_, state| state.left >= 0),
            Property::<Self>::always("every right is accounted for", |_, state| {
                state.book.clone().audit(state.now).balances()
            }),
            Property::<Self>::always("rights and leases stay within the burst", |_, state| {
                let account = state.book.apps()[&app()].account;
                account.rights.plus(account.outstanding) <= BURST
            }),
            Property::<Self>::always("no token is lost for ever", |_, state| {
                // Everybody falls silent: a lease later all of it is back, and a second later saved again.
                let mut book = state.book.clone();
                book.audit(state.now.plus(LEASE_TTL));
                book.audit(state.now.plus(LEASE_TTL).plus(Millis::from_secs(1)));
                let account = book.apps()[&app()].account;
                account.outstanding == Tokens::ZERO && account.rights == BURST
            }),
            Property::<Self>::sometimes("all that was saved passes", |_, state| {
                state.nodes.iter().map(|node| node.spent).sum::<u64>() >= BURST.floor()
            }),
            Property::<Self>::sometimes("what was lost is noticed", |histories, state| {
                histories.rollbacks == 0 || state.book.epoch() > START.get()
            }),
        ]
    }
}

impl State {
    fn spend(&mut self, i: usize) {
        self.refill();
        self.nodes[i].purse -= 1;
        self.nodes[i].spent += 1;
        self.left -= signed(Tokens::whole(1));
        let again = (-self.left).clamp(0, self.forgotten);
        self.left += again;
        self.forgotten -= again;
    }

    fn ask(&mut self, i: usize) {
        let node = &mut self.nodes[i];
        node.seq += 1;
        node.asked_at = Some(self.now);
        let Node { life, seq, acked, epoch, spent, purse, .. } = *node;
        node.spent = 0;
        self.said.insert(Message::Call { node: i, life, seq, acked, epoch, spent, holding: purse });
    }

    fn arrive(&mut self, message: &Message) {
        match *message {
            Message::Call { node, life, seq, acked, epoch, spent, holding } => {
                let want = BURST.minus(Tokens::whole(holding));
                let entry = Entry {
                    spent: Tokens::whole(spent),
                    holding: Tokens::whole(holding),
                    want,
                    ..Entry::idle(app())
                };
                let name = NodeId::new(["a", "b"][node]).unwrap();
                let (incarnation, entries) = (life, vec![entry]);
                let sync = Sync { node: name, incarnation, seq, acked, epoch, silence: SILENCE, entries };
                let before = self.book.clone();
                let Ok(reply) = self.book.sync(&sync, self.now) else { return };
                let granted = reply.entries[0].granted;
                if self.book != before
                    && let Some(copy) = &mut self.copy
                {
                    copy.granted = copy.granted.plus(granted);
                }
                // Parts of a token are of no use to anybody here.
                let (epoch, granted) = (reply.epoch, granted.floor());
                self.said.insert(Message::Answer { node, life, seq, epoch, granted });
            }
            Message::Answer { node, life, seq, epoch, granted } => {
                let node = &mut self.nodes[node];
                let Some(asked_at) = node.asked_at.filter(|_| node.life == life && node.seq == seq) else {
                    return;
                };
                (node.asked_at, node.acked, node.epoch) = (None, seq, epoch);
                let end = asked_at.plus(LEASE_TTL);
                node.lease_end = node.lease_end.max(Some(end));
                if self.now < end {
                    node.purse += granted;
                }
            }
        }
    }

    fn wait(&mut self, time: Millis) {
        self.waits -= 1;
        self.now = self.now.plus(time);
        for node in &mut self.nodes {
            if node.lease_end.is_some_and(|end| self.now >= end) {
                (node.purse, node.lease_end) = (0, None);
            }
        }
    }

    fn crash(&mut self, i: usize) {
        self.crashes -= 1;
        self.nodes[i] = Node { life: self.nodes[i].life + 1, ..Node::default() };
    }

    fn take_over(&mut self) {
        self.rollbacks -= 1;
        if let Some(copy) = self.copy.take() {
            self.book = copy.book;
            self.forgotten += signed(copy.granted);
        }
    }

    fn refill(&mut self) {
        self.left = (self.left + signed(RATE.over(self.now.since(self.refilled_at)))).min(signed(BURST));
        self.refilled_at = self.now;
    }
}

fn app() -> AppId {
    AppId::new("app").unwrap()
}

fn signed(amount: Tokens) -> i64 {
    i64::try_from(amount.micros()).unwrap()
}

fn check(histories: Histories) {
    let checker = histories.checker().threads(2).spawn_bfs().join();
    assert!(checker.is_done());
    checker.assert_properties();
}

#[test]
fn no_history_of_lost_and_repeated_messages_breaks_a_rule() {
    check(Histories { calls: 2, waits: 1, duplicates: 1, crashes: 0, rollbacks: 0 });
}

#[test]
fn no_history_with_a_crash_breaks_a_rule() {
    check(Histories { calls: 1, waits: 2, duplicates: 1, crashes: 1, rollbacks: 0 });
}

#[test]
fn no_history_with_lost_writes_breaks_a_rule() {
    check(Histories { calls: 2, waits: 1, duplicates: 0, crashes: 0, rollbacks: 1 });
}
