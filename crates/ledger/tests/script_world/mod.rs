//! Two books, one history.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, Waker};
use tollgate_core::cost::Operation;
use tollgate_core::id::{AppId, ClusterId, NodeId};
use tollgate_core::priority::Priority;
use tollgate_core::quota::{Capacity, LoanTerms, Quota};
use tollgate_core::units::{Millis, Rate, Ratio, Tokens};
use tollgate_ledger::book::{App, Book};
use tollgate_ledger::protocol::{
    AppPolicy, Carry, Changes, Entry, OperationUse, PutApp, Seed, Sync, SyncReply, VersionedPolicy,
};
use tollgate_ledger::script::{MluaEngine, ScriptLedger, Store};
use tollgate_ledger::{Answer, Ledger};

/// One thing that happens. Applications are taken modulo how many there are.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    Wait(u64),
    SetBack(u64),
    Sync {
        node: usize,
        entries: Vec<EntryPlan>,
        is_lost: bool,
    },
    Again {
        node: usize,
        age: usize,
    },
    Crash {
        node: usize,
    },
    Depart {
        node: usize,
        entries: Vec<EntryPlan>,
    },
    Acquire {
        app: usize,
        cost: u64,
    },
    Borrow {
        app: usize,
        amount: u64,
    },
    Repay {
        app: usize,
        amount: u64,
    },
    Reserve {
        id: usize,
        app: usize,
        estimate: u64,
        timeout: u64,
    },
    Complete {
        id: usize,
        actual: u64,
    },
    Cancel {
        id: usize,
    },
    Put {
        app: usize,
        terms: (u64, u64, u32, u32, u8),
        carry: usize,
        after: Option<u64>,
        replaces: Option<u64>,
    },
    Delete {
        app: usize,
    },
    Capacity {
        rate: u64,
        reserved: u32,
        burst: u32,
        threshold: u32,
        connections: u32,
    },
    Declare {
        duration: u64,
    },
    EndEmergency,
    Reset {
        app: usize,
    },
    Reconcile,
    Audit,
    /// A page of changes from some version, and a reader that catches up with pages of that size.
    Read {
        since: u64,
        limit: u32,
    },
    Look {
        after: Option<usize>,
        limit: u32,
    },
    /// Both books are copied.
    Save,
    /// Both books go back to their copies.
    Lose,
    /// Both books are lost and seeded anew.
    Wipe {
        is_remembered: bool,
    },
}

/// What a node reports and asks for, relative to what it holds.
#[derive(Clone, Debug)]
pub(crate) struct EntryPlan {
    pub(crate) app: usize,
    /// Percent of what it holds.
    pub(crate) spent: u64,
    /// Percent of the rest.
    pub(crate) returned: u64,
    pub(crate) need: u64,
    pub(crate) more: u64,
    /// What it says it holds and has spent, if it does not tell the truth.
    pub(crate) lie: Option<u64>,
    pub(crate) fallback: u64,
    /// Operations by their number, requests and cost.
    pub(crate) operations: Vec<(usize, u64, u64)>,
}

struct Node {
    id: NodeId,
    incarnation: u64,
    seq: u64,
    acked: u64,
    epoch: u64,
    holding: BTreeMap<AppId, Tokens>,
    /// The last calls, the newest first.
    calls: Vec<Sync>,
}

pub(crate) struct World {
    clock: Arc<AtomicU64>,
    cluster: ClusterId,
    book: Book,
    script: ScriptLedger<MluaEngine>,
    saved: Option<(Book, Store)>,
    apps: usize,
    nodes: Vec<Node>,
    reader: Reader,
}

/// Somebody who follows the policies.
#[derive(Default)]
struct Reader {
    epoch: u64,
    since: u64,
    known: BTreeMap<AppId, VersionedPolicy>,
}

impl World {
    pub(crate) fn new(apps: usize) -> Self {
        let clock = Arc::new(AtomicU64::new(1_700_000_000_123));
        let time = Arc::clone(&clock);
        let engine = MluaEngine::new(move || Millis::new(time.load(Ordering::Relaxed))).unwrap();
        let mut world = Self {
            book: Book::seed(seed(apps, None), Millis::new(clock.load(Ordering::Relaxed))).unwrap(),
            clock,
            cluster: ClusterId::new("cluster-01").unwrap(),
            script: ScriptLedger::new(engine),
            saved: None,
            apps,
            nodes: (0..4).map(Node::new).collect(),
            reader: Reader::default(),
        };
        world.seed_script(None);
        world
    }

    pub(crate) fn lease_everything(&mut self, node: usize) {
        let plan = |app| EntryPlan {
            app,
            spent: 0,
            returned: 0,
            need: 0,
            more: 330_000_000,
            lie: None,
            fallback: 1_000,
            operations: vec![(app, 1, 1_500_000)],
        };
        self.sync(node, &(0..self.apps).map(plan).collect::<Vec<_>>(), false);
    }

    pub(crate) fn step(&mut self, step: &Step) {
        let now = self.now();
        let tokens = Tokens::from_micros;
        match step {
            Step::Wait(ms) => _ = self.clock.fetch_add(*ms, Ordering::Relaxed),
            Step::SetBack(ms) => _ = self.clock.fetch_sub(*ms, Ordering::Relaxed),
            Step::Sync { node, entries, is_lost } => self.sync(*node, entries, *is_lost),
            Step::Again { node, age } => self.again(*node, *age),
            Step::Crash { node } => self.nodes[*node].crash(),
            Step::Depart { node, entries } => self.depart(*node, entries),
            Step::Acquire { app, cost } => {
                let (app, cost) = (self.app(*app), tokens(*cost));
                let expected = self.book.acquire(&app, cost, now);
                self.same(&expected, &wait(self.script.acquire(&self.cluster, &app, cost)));
            }
            Step::Borrow { app, amount } => {
                let (app, amount) = (self.app(*app), tokens(*amount));
                let expected = self.book.borrow(&app, amount, now);
                self.same(&expected, &wait(self.script.borrow(&self.cluster, &app, amount)));
            }
            Step::Repay { app, amount } => {
                let (app, amount) = (self.app(*app), tokens(*amount));
                let expected = self.book.repay(&app, amount, now);
                self.same(&expected, &wait(self.script.repay(&self.cluster, &app, amount)));
            }
            Step::Reserve { id, app, estimate, timeout } => {
                let (id, app, estimate) = (format!("held {id}"), self.app(*app), tokens(*estimate));
                let timeout = Millis::new(*timeout);
                let expected = self.book.reserve(&id, &app, estimate, timeout, now);
                self.same(&expected, &wait(self.script.reserve(&self.cluster, &app, &id, estimate, timeout)));
            }
            Step::Complete { id, actual } => {
                let (id, actual) = (format!("held {id}"), tokens(*actual));
                let expected = self.book.complete(&id, actual, now);
                self.same(&expected, &wait(self.script.complete(&self.cluster, &id, actual)));
            }
            Step::Cancel { id } => {
                let id = format!("held {id}");
                let expected = self.book.cancel(&id, now);
                self.same(&expected, &wait(self.script.cancel(&self.cluster, &id)));
            }
            order => self.order(order, now),
        }
    }

    fn order(&mut self, order: &Step, now: Millis) {
        match order {
            Step::Put { app, terms, carry, after, replaces } => {
                let put = PutApp {
                    policy: policy(*app % self.apps, *terms),
                    replaces: *replaces,
                    carry: [Carry::Keep, Carry::Scale, Carry::Reset][*carry],
                    effective_at: after.map_or(Millis::ZERO, |ms| now.plus(Millis::new(ms))),
                };
                let expected = self.book.put_app(put.clone(), now);
                self.same(&expected, &wait(self.script.put_app(&self.cluster, &put)));
            }
            Step::Delete { app } => {
                let app = self.app(*app);
                let expected = self.book.delete_app(&app, now);
                self.same(&expected, &wait(self.script.delete_app(&self.cluster, &app)));
            }
            Step::Capacity { rate, reserved, burst, threshold, connections } => {
                let capacity = Capacity {
                    rate: Rate::per_second(*rate),
                    reserved: Ratio::from_parts(*reserved),
                    burst_ratio: Ratio::from_parts(*burst),
                    emergency_threshold: Ratio::from_parts(*threshold),
                    connections: *connections,
                };
                let expected = self.book.put_cluster(capacity, now);
                self.same(&expected, &wait(self.script.put_cluster(&self.cluster, &capacity)));
            }
            Step::Declare { duration } => {
                let duration = Millis::new(*duration);
                self.book.declare_emergency("a test", duration, now);
                let version = wait(self.script.declare_emergency(&self.cluster, "a test", duration));
                self.same(&Ok(self.book.version()), &version);
            }
            Step::EndEmergency => {
                self.book.end_emergency(now);
                self.same(&Ok(self.book.version()), &wait(self.script.end_emergency(&self.cluster)));
            }
            Step::Reset { app } => {
                let app = self.app(*app);
                let expected = self.book.reset(&app, now);
                self.same(&expected, &wait(self.script.reset(&self.cluster, &app)));
            }
            Step::Reconcile => {
                let expected = Ok(self.book.reconcile(now));
                self.same(&expected, &wait(self.script.reconcile(&self.cluster)));
            }
            Step::Audit => {
                let expected = Ok(self.book.audit(now));
                self.same(&expected, &wait(self.script.audit(&self.cluster)));
            }
            Step::Read { since, limit } => {
                self.changes(*since, *limit);
                self.read(*limit);
            }
            Step::Look { after, limit } => {
                let after = after.map(app);
                let expected = Ok(self.book.app_views(after.as_ref(), *limit, now));
                self.same(&expected, &wait(self.script.apps(&self.cluster, after.as_ref(), *limit)));
                let expected = Ok(self.book.scheduled(1, *limit, now));
                self.same(&expected, &wait(self.script.scheduled(&self.cluster, 1, *limit)));
                let expected = Ok(self.book.cluster_view(now));
                self.same(&expected, &wait(self.script.cluster(&self.cluster)));
            }
            Step::Save => self.saved = Some((self.book.clone(), self.script.engine().store())),
            Step::Lose => self.lose(),
            Step::Wipe { is_remembered } => self.wipe(*is_remembered),
            other => panic!("{other:?} is no order"),
        }
    }

    /// The balance of both is the same, and balances. Taken on copies, so that looking changes nothing.
    pub(crate) fn compare(&mut self) {
        let (book, store) = (self.book.clone(), self.script.engine().store());
        let expected = self.book.audit(self.now());
        let actual = wait(self.script.audit(&self.cluster)).unwrap();
        assert_eq!(expected, actual);
        assert!(expected.balances(), "{expected:#?}");
        let audited = self.script.engine().store();
        for app in self.book.apps().values() {
            self.compare_totals(app, &audited);
        }
        self.script.engine().restore(store);
        self.book = book;
    }

    /// What no answer tells.
    fn compare_totals(&self, app: &App, store: &Store) {
        let root = format!("ratelimit:{{{}}}", self.cluster);
        let id: &str = &app.policy.app;
        let body = store.field(&format!("{root}:bodies"), id).unwrap();
        assert_eq!(app.policy.body.as_bytes(), body);
        let row = row(store.field(&root, id).unwrap());
        assert_eq!(row[..3], [app.version, app.since, app.epoch]);
        let totals = [app.total_consumed, app.consumed_rest.micros(), app.total_requests];
        let slack = [app.slack_used.micros(), app.slack_second];
        let suspects = [app.suspects.rate.millis(), app.suspects.until.get(), app.suspects.aside.micros()];
        assert_eq!(row[32..], [&totals[..], &slack, &suspects].concat());
    }

    fn changes(&mut self, since: u64, limit: u32) -> Changes {
        let expected = self.book.changes(since, limit, self.now());
        self.same(&Ok(expected.clone()), &wait(self.script.changes(&self.cluster, since, limit)));
        expected
    }

    /// Whoever has read until there is no more knows all there is.
    fn read(&mut self, limit: u32) {
        if self.reader.epoch != self.book.epoch() {
            self.reader = Reader { epoch: self.book.epoch(), ..Reader::default() };
        }
        loop {
            let page = self.changes(self.reader.since, limit);
            self.reader.take(&page);
            if !page.more {
                assert_eq!(page.next, page.version);
                break;
            }
        }
        let policies: BTreeMap<_, _> =
            self.book.apps().iter().map(|(id, app)| (id.clone(), versioned(app))).collect();
        assert_eq!(self.reader.known, policies);
    }

    fn sync(&mut self, node: usize, entries: &[EntryPlan], is_lost: bool) {
        let (now, apps) = (self.now(), self.apps);
        let call = self.nodes[node].call(entries, apps);
        let expected = self.book.sync(&call, now);
        self.same(&expected, &wait(self.script.sync(&self.cluster, &call)));
        if let (Ok(reply), false) = (expected, is_lost) {
            self.nodes[node].take(&call, &reply);
        }
    }

    fn again(&mut self, node: usize, age: usize) {
        let Some(call) = self.nodes[node].calls.get(age).cloned() else { return };
        let expected = self.book.sync(&call, self.now());
        self.same(&expected, &wait(self.script.sync(&self.cluster, &call)));
    }

    fn depart(&mut self, node: usize, entries: &[EntryPlan]) {
        let (now, apps) = (self.now(), self.apps);
        let call = self.nodes[node].call(entries, apps);
        // The second time is as if the answer had been lost.
        for _ in 0..2 {
            let expected = self.book.depart(&call, now);
            self.same(&expected, &wait(self.script.depart(&self.cluster, &call)));
        }
        self.nodes[node].crash();
    }

    fn lose(&mut self) {
        if let Some((book, store)) = self.saved.clone() {
            self.book = book;
            self.script.engine().restore(store);
            // Nobody has told the ledger yet that it lost something: the next one who had an answer will.
            self.reader = Reader::default();
        }
    }

    fn wipe(&mut self, is_remembered: bool) {
        let remembered = is_remembered.then(|| self.book.version());
        // Nothing is lost and found within a moment.
        self.clock.fetch_add(1_000, Ordering::Relaxed);
        self.book = Book::seed(seed(self.apps, remembered), self.now()).unwrap();
        self.script.engine().restore(Store::default());
        self.seed_script(remembered);
    }

    fn seed_script(&mut self, remembered: Option<u64>) {
        let seeded = wait(self.script.seed(&self.cluster, &seed(self.apps, remembered)));
        self.same(&Ok(self.book.version()), &seeded);
    }

    fn same<T: PartialEq + Debug>(&self, expected: &Answer<T>, actual: &Answer<T>) {
        assert_eq!(expected, actual, "at {}", self.now());
    }

    fn app(&self, index: usize) -> AppId {
        app(index % self.apps)
    }

    fn now(&self) -> Millis {
        Millis::new(self.clock.load(Ordering::Relaxed))
    }
}

impl Reader {
    fn take(&mut self, page: &Changes) {
        if page.is_whole {
            self.known.clear();
        }
        for app in &page.apps {
            self.known.insert(app.policy.app.clone(), app.clone());
        }
        for app in &page.gone {
            self.known.remove(app);
        }
        self.since = page.next;
    }
}

impl Node {
    fn new(index: usize) -> Self {
        Self {
            id: NodeId::new(&format!("node-{index}")).unwrap(),
            // Beyond what a double holds exactly.
            incarnation: u64::MAX - 1_000,
            seq: 0,
            acked: 0,
            epoch: 0,
            holding: BTreeMap::new(),
            calls: Vec::new(),
        }
    }

    fn call(&mut self, entries: &[EntryPlan], apps: usize) -> Sync {
        self.seq += 1;
        let call = Sync {
            node: self.id.clone(),
            incarnation: self.incarnation,
            seq: self.seq,
            acked: self.acked,
            epoch: self.epoch,
            silence: Millis::new(self.seq * 311 % 6_000),
            entries: entries.iter().map(|plan| self.entry(plan, app(plan.app % apps))).collect(),
        };
        self.calls.insert(0, call.clone());
        self.calls.truncate(3);
        call
    }

    fn entry(&mut self, plan: &EntryPlan, app: AppId) -> Entry {
        let percent = |amount: Tokens, percent| amount.proportion(Tokens::whole(percent), Tokens::whole(100));
        let held = self.holding.entry(app.clone()).or_default();
        let spent = percent(*held, plan.spent);
        let returned = percent(held.minus(spent), plan.returned);
        *held = held.minus(spent).minus(returned);
        let need = Tokens::from_micros(plan.need);
        Entry {
            app,
            spent: plan.lie.map_or(spent, |lie| Tokens::from_micros(lie / 2)),
            requests: plan.spent,
            by_operation: plan.operations.iter().map(operation_use).collect(),
            returned,
            holding: plan.lie.map_or(*held, Tokens::from_micros),
            need,
            want: need.plus(Tokens::from_micros(plan.more)),
            fallback: Rate::from_millis(plan.fallback),
        }
    }

    fn take(&mut self, call: &Sync, reply: &SyncReply) {
        (self.acked, self.epoch) = (call.seq, reply.epoch);
        for (entry, granted) in call.entries.iter().zip(&reply.entries) {
            let held = self.holding.entry(entry.app.clone()).or_default();
            *held = held.plus(granted.granted);
        }
    }

    fn crash(&mut self) {
        self.incarnation += 1;
        self.seq = 0;
        self.acked = 0;
        self.holding.clear();
    }
}

fn operation_use(&(index, requests, cost): &(usize, u64, u64)) -> OperationUse {
    let operation = Operation::ALL[index % Operation::COUNT];
    OperationUse { operation, requests, cost: Tokens::from_micros(cost) }
}

/// A row of doubles as numbers; one below zero as the largest.
fn row(bytes: &[u8]) -> Vec<u64> {
    let numbers = bytes.chunks_exact(8).map(|bytes| f64::from_le_bytes(bytes.try_into().unwrap()));
    numbers
        .map(|number| if number < 0.0 { u64::MAX } else { format!("{number:.0}").parse().unwrap() })
        .collect()
}

fn versioned(app: &App) -> VersionedPolicy {
    VersionedPolicy { version: app.version, policy: app.policy.clone() }
}

fn app(index: usize) -> AppId {
    AppId::new(&format!("app-{index}")).unwrap()
}

fn policy(
    index: usize,
    (guaranteed, more, interest, repay_share, flags): (u64, u64, u32, u32, u8),
) -> AppPolicy {
    let guaranteed = Rate::from_millis(guaranteed);
    let quota = Quota {
        guaranteed,
        burst: guaranteed.per_one_second().plus(Tokens::from_micros(more)),
        burst_window: Millis::from_secs(u64::from(flags) % 3 * 30),
        priority: Priority::ALL[index % 4],
        loan: LoanTerms {
            limit: Tokens::whole(10_000),
            interest: Ratio::from_parts(interest),
            repay_share: Ratio::from_parts(repay_share),
            automatic: flags & 1 == 0,
        },
    };
    AppPolicy { app: app(index), quota, enabled: flags % 16 != 0, body: format!("{{\"flags\": {flags}}}") }
}

fn seed(apps: usize, remembered: Option<u64>) -> Seed {
    let share = 45_000_000 / apps as u64;
    let policies = (0..apps).map(|index| policy(index, (share, 40_000_000_000, 2_000, 5_000, 2))).collect();
    let capacity = Capacity {
        rate: Rate::per_second(100_000),
        emergency_threshold: Ratio::percent(150),
        ..Capacity::default()
    };
    Seed { capacity, apps: policies, remembered }
}

/// Scripts in this process are done when they return: nothing is ever waited for.
fn wait<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(answer) => answer,
        Poll::Pending => panic!("a script in this process made its caller wait"),
    }
}
