//! What the tests of a node share: a policy, a clock, and a ledger with moods.
#![allow(dead_code, clippy::unwrap_used, reason = "each test uses a part of it")]

use serde_json::json;
use std::future;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::time::{Instant, sleep};
use tollgate_config::Policy;
use tollgate_core::borrow::Repayment;
use tollgate_core::cost::Operation;
use tollgate_core::id::{AppId, ClusterId, NodeId};
use tollgate_core::quota::Capacity;
use tollgate_core::reservation::{Reservation, Settlement};
use tollgate_core::units::{Millis, Ratio, Tokens};
use tollgate_ledger::book::Audit;
use tollgate_ledger::connection::{ConnectionEvent, Hold, HoldReply, NodeStats, Report};
use tollgate_ledger::protocol::{AppView, Changes, ClusterView, PutApp, Scheduled, Seed, Sync, SyncReply};
use tollgate_ledger::question::{Asked, Question};
use tollgate_ledger::{Answer, Ledger, LedgerClock, LedgerError, MemoryLedger, Slots};
use tollgate_node::{Node, Request, Setup};

pub(crate) fn policy() -> Policy {
    Policy::from_value(&json!({
        "clusters": [{"id": "c", "capacity": 100_000}],
        "apps": [
            {"id": "a", "guaranteed_quota": 1_000, "burst_quota": 2_000, "borrow": false},
            {"id": "p0", "guaranteed_quota": 1_000, "burst_quota": 2_000, "priority": 0, "borrow": false},
            {"id": "p3", "guaranteed_quota": 1_000, "burst_quota": 2_000, "priority": 3, "borrow": false},
            {"id": "shared", "guaranteed_quota": 1_000, "burst_quota": 2_000, "fallback_ratio": 0.5, "borrow": false},
            {"id": "closed", "guaranteed_quota": 1_000, "burst_quota": 2_000, "outage": "closed", "borrow": false},
            {"id": "small", "guaranteed_quota": 1, "burst_quota": 3, "borrow": false},
            {"id": "off", "guaranteed_quota": 1_000, "burst_quota": 2_000, "enabled": false},
            {"id": "few", "guaranteed_quota": 10, "burst_quota": 10, "max_connections": 7},
            {"id": "shadow", "guaranteed_quota": 1, "burst_quota": 1, "shadow": true, "borrow": false},
        ],
    }))
    .unwrap()
}

/// The runtime's clock, as a ledger sees it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock(Instant);

impl LedgerClock for Clock {
    fn now(&self) -> Millis {
        Millis::new(1_000_000 + u64::try_from(self.0.elapsed().as_millis()).unwrap())
    }
}

pub(crate) type Memory = Moody<MemoryLedger<Clock>>;

pub(crate) fn clock() -> Clock {
    Clock(Instant::now())
}

pub(crate) fn empty() -> MemoryLedger<Clock> {
    MemoryLedger::with_clock(clock())
}

pub(crate) fn memory() -> Memory {
    Moody::new(empty())
}

/// A node that reports as often when it is calm: tests look at what becomes of reports.
pub(crate) fn setup(node: &str) -> Setup {
    let mut setup = Setup::new(NodeId::new(node).unwrap());
    setup.manners.calm_interval = setup.manners.sync_interval;
    setup
}

pub(crate) fn start<L: Ledger + Slots + 'static>(ledger: L) -> Node<L> {
    Node::start(ledger, setup("n"), &policy())
}

pub(crate) fn cluster() -> ClusterId {
    ClusterId::new("c").unwrap()
}

pub(crate) fn get(app: &str) -> Request<'_> {
    Request::new(app, Operation::Get)
}

pub(crate) fn millis(n: u64) -> Duration {
    Duration::from_millis(n)
}

/// Asks `per_10ms` times every ten milliseconds; returns how many passed.
pub(crate) async fn drive<L: Ledger + Slots + 'static>(
    node: &Node<L>,
    app: &str,
    per_10ms: u64,
    time: Duration,
) -> u64 {
    let start = Instant::now();
    let mut passed = 0;
    while start.elapsed() < time {
        for _ in 0..per_10ms {
            if let Ok(permit) = node.admit(&get(app)).await {
                permit.keep();
                passed += 1;
            }
        }
        sleep(millis(10)).await;
    }
    passed
}

pub(crate) async fn view<L: Ledger>(ledger: &L, app: &str) -> AppView {
    let all = ledger.apps(&cluster(), None, 256).await.unwrap();
    all.into_iter().find(|view| *view.policy.policy.app == *app).unwrap()
}

pub(crate) async fn assert_balanced<L: Ledger>(ledger: &L) {
    let audit = ledger.audit(&cluster()).await.unwrap();
    assert!(audit.balances(), "{audit:#?}");
}

/// How a ledger feels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mood {
    Well,
    /// Answers after that long.
    Slow(Duration),
    /// Refuses connections.
    Gone,
    /// Does not answer at all.
    Silent,
    /// Does what it is told and does not answer.
    Mute,
}

/// A ledger with moods, which several nodes may share and which may be replaced by an empty one.
#[derive(Debug)]
pub(crate) struct Moody<L> {
    inner: Arc<Mutex<Arc<L>>>,
    mood: Arc<Mutex<Mood>>,
    /// What it was asked, and when.
    heard: Arc<Mutex<Vec<(&'static str, Instant)>>>,
    reports: Arc<Mutex<Vec<Sync>>>,
}

impl<L> Clone for Moody<L> {
    fn clone(&self) -> Self {
        Self {
            inner: Arc::clone(&self.inner),
            mood: Arc::clone(&self.mood),
            heard: Arc::clone(&self.heard),
            reports: Arc::clone(&self.reports),
        }
    }
}

impl<L: Ledger> Moody<L> {
    pub(crate) fn new(inner: L) -> Self {
        Self {
            inner: Arc::new(Mutex::new(Arc::new(inner))),
            mood: Arc::new(Mutex::new(Mood::Well)),
            heard: Arc::default(),
            reports: Arc::default(),
        }
    }

    /// When it was called like that.
    pub(crate) fn heard(&self, call: &str) -> Vec<Instant> {
        let heard = self.heard.lock().unwrap();
        heard.iter().filter(|(name, _)| *name == call).map(|(_, at)| *at).collect()
    }

    /// The reports that it was sent, and when.
    pub(crate) fn reports(&self) -> Vec<(Instant, Sync)> {
        self.heard("sync").into_iter().zip(self.reports.lock().unwrap().iter().cloned()).collect()
    }

    pub(crate) fn feel(&self, mood: Mood) {
        *self.mood.lock().unwrap() = mood;
    }

    pub(crate) fn replace(&self, inner: L) {
        *self.inner.lock().unwrap() = Arc::new(inner);
    }

    fn inner(&self) -> Arc<L> {
        Arc::clone(&self.inner.lock().unwrap())
    }

    async fn with_mood<T>(&self, call: impl Future<Output = Answer<T>>) -> Answer<T> {
        let mood = *self.mood.lock().unwrap();
        match mood {
            Mood::Well => call.await,
            Mood::Slow(delay) => {
                sleep(delay).await;
                call.await
            }
            Mood::Gone => Err(LedgerError::Connection("refused".into())),
            Mood::Silent => future::pending().await,
            Mood::Mute => {
                let _ = call.await;
                future::pending().await
            }
        }
    }
}

macro_rules! in_its_mood {
    ($($call:ident($($arg:ident: $type:ty),*) -> $answer:ty;)+) => {
        $(async fn $call(&self, $($arg: $type),*) -> Answer<$answer> {
            let inner = self.inner();
            self.heard.lock().unwrap().push((stringify!($call), Instant::now()));
            self.with_mood(inner.$call($($arg),*)).await
        })+
    };
}

impl<L: Ledger> Ledger for Moody<L> {
    async fn sync(&self, cluster: &ClusterId, sync: &Sync) -> Answer<SyncReply> {
        let inner = self.inner();
        self.heard.lock().unwrap().push(("sync", Instant::now()));
        self.reports.lock().unwrap().push(sync.clone());
        self.with_mood(inner.sync(cluster, sync)).await
    }

    in_its_mood! {
        seed(cluster: &ClusterId, seed: &Seed) -> u64;
        depart(cluster: &ClusterId, sync: &Sync) -> SyncReply;
        acquire(cluster: &ClusterId, app: &AppId, cost: Tokens) -> Tokens;
        reserve(cluster: &ClusterId, app: &AppId, id: &str, estimate: Tokens, timeout: Millis) -> Reservation;
        complete(cluster: &ClusterId, id: &str, actual: Tokens) -> Settlement;
        cancel(cluster: &ClusterId, id: &str) -> Settlement;
        borrow(cluster: &ClusterId, app: &AppId, amount: Tokens) -> Tokens;
        repay(cluster: &ClusterId, app: &AppId, amount: Tokens) -> Repayment;
        put_app(cluster: &ClusterId, put: &PutApp) -> u64;
        delete_app(cluster: &ClusterId, app: &AppId) -> u64;
        put_cluster(cluster: &ClusterId, capacity: &Capacity) -> u64;
        declare_emergency(cluster: &ClusterId, reason: &str, duration: Millis) -> u64;
        end_emergency(cluster: &ClusterId) -> u64;
        reset(cluster: &ClusterId, app: &AppId) -> ();
        reconcile(cluster: &ClusterId) -> Vec<(AppId, Ratio)>;
        changes(cluster: &ClusterId, since: u64, limit: u32) -> Changes;
        apps(cluster: &ClusterId, after: Option<&AppId>, limit: u32) -> Vec<AppView>;
        scheduled(cluster: &ClusterId, skip: u32, limit: u32) -> Vec<Scheduled>;
        cluster(cluster: &ClusterId) -> ClusterView;
        audit(cluster: &ClusterId) -> Audit;
        ask(cluster: &ClusterId, question: &Question) -> Asked;
        answer(cluster: &ClusterId, question: u128, text: &str) -> bool;
        answer_to(cluster: &ClusterId, question: u128) -> Option<String>;
    }
}

impl<L: Ledger + Slots> Slots for Moody<L> {
    in_its_mood! {
        hold(cluster: &ClusterId, hold: &Hold) -> HoldReply;
        report_connections(cluster: &ClusterId, report: &Report) -> ();
        connection_stats(cluster: &ClusterId) -> Vec<NodeStats>;
        connection_events(cluster: &ClusterId, app: &AppId, limit: usize) -> Vec<ConnectionEvent>;
    }
}
