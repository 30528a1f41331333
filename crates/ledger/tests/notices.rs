//! Hints: every change gives one, on every ledger in this process, and nothing else does.

#![cfg(feature = "mlua")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may panic")]

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, Waker};
use tollgate_core::id::{AppId, ClusterId, NodeId};
use tollgate_core::priority::Priority;
use tollgate_core::quota::{Capacity, LoanTerms, Quota};
use tollgate_core::units::{Millis, Rate, Tokens};
use tollgate_ledger::protocol::{AppPolicy, Carry, Entry, PutApp, Seed, Sync};
use tollgate_ledger::script::{Engine, EngineError, MluaEngine, Script, ScriptLedger, Value};
use tollgate_ledger::{Ledger, MemoryLedger};

const START: u64 = 1_700_000_000_000;

#[derive(Clone)]
struct Time(Arc<AtomicU64>);

impl Time {
    fn new() -> Self {
        Self(Arc::new(AtomicU64::new(START)))
    }

    fn pass(&self, ms: u64) {
        self.0.fetch_add(ms, Ordering::Relaxed);
    }

    fn clock(&self) -> impl Fn() -> Millis + Send + std::marker::Sync + use<> {
        let time = Arc::clone(&self.0);
        move || Millis::new(time.load(Ordering::Relaxed))
    }
}

/// Nothing in this process is ever waited for.
fn now<T>(future: impl Future<Output = T>) -> T {
    heard(future).unwrap_or_else(|| panic!("a ledger in this process made its caller wait"))
}

fn heard<T>(future: impl Future<Output = T>) -> Option<T> {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(answer) => Some(answer),
        Poll::Pending => None,
    }
}

fn cluster() -> ClusterId {
    ClusterId::new("c").unwrap()
}

fn app() -> AppId {
    AppId::new("app-a").unwrap()
}

fn seed() -> Seed {
    let capacity = Capacity { rate: Rate::per_second(1_000), ..Capacity::default() };
    Seed { capacity, apps: vec![put(100, 0).policy], remembered: None }
}

fn put(guaranteed: u64, effective_at: u64) -> PutApp {
    let quota = Quota {
        guaranteed: Rate::per_second(guaranteed),
        burst: Tokens::whole(2_000),
        burst_window: Quota::DEFAULT_BURST_WINDOW,
        priority: Priority::P1,
        loan: LoanTerms::default(),
    };
    let policy = AppPolicy { app: app(), quota, enabled: true, body: String::new() };
    PutApp { policy, replaces: None, carry: Carry::Keep, effective_at: Millis::new(effective_at) }
}

fn call(seq: u64, acked: u64, want: u64) -> Sync {
    let entry = Entry { want: Tokens::whole(want), ..Entry::idle(app()) };
    let node = NodeId::new("node-1").unwrap();
    Sync { node, incarnation: 1, seq, acked, epoch: 0, silence: Millis::from_secs(5), entries: vec![entry] }
}

/// Is handed the ledger, the version that must have been heard of if any, and what happened.
type Check<'a, L> = &'a mut dyn FnMut(&L, Option<u64>, &str);

/// Every way in which a cluster changes, and some in which it does not.
fn story<L: Ledger>(ledger: &L, time: &Time, check: Check<'_, L>) {
    let c = cluster();
    let mut check = |expected, what: &str| check(ledger, expected, what);
    check(now(ledger.seed(&c, &seed())).ok(), "seeded");
    now(ledger.seed(&c, &seed())).unwrap();
    check(None, "known already");
    let before = now(ledger.sync(&c, &call(1, 0, 10))).unwrap().version;
    check(None, "nothing changed");

    check(now(ledger.put_app(&c, &put(200, 0))).ok(), "an application");
    assert!(now(ledger.put_app(&c, &put(901, 0))).is_err());
    check(None, "too much was promised");
    check(now(ledger.put_app(&c, &put(300, START + 1_000))).ok(), "a change that is scheduled");
    time.pass(1_000);
    let reply = now(ledger.sync(&c, &call(2, 1, 0))).unwrap();
    check(Some(reply.version), "a change that takes effect");
    let capacity = Capacity { rate: Rate::per_second(2_000), ..seed().capacity };
    check(now(ledger.put_cluster(&c, &capacity)).ok(), "the capacity");

    check(now(ledger.declare_emergency(&c, "a drill", Millis::from_secs(5))).ok(), "an emergency");
    check(now(ledger.declare_emergency(&c, "a drill", Millis::from_secs(9))).ok(), "a new end");
    time.pass(9_000);
    check(Some(now(ledger.sync(&c, &call(3, 2, 0))).unwrap().version), "it ended by itself");
    check(now(ledger.declare_emergency(&c, "a drill", Millis::from_secs(5))).ok(), "another emergency");
    check(now(ledger.end_emergency(&c)).ok(), "an operator ends it");
    now(ledger.end_emergency(&c)).unwrap();
    check(None, "there was none to end");

    let lost = now(ledger.sync(&c, &call(9, 8, 0))).unwrap();
    check(Some(lost.version), "writes were lost");
    check(now(ledger.delete_app(&c, &app())).ok(), "an application is deleted");
    assert!(lost.version > before + 7, "{lost:?}");
}

/// Use beyond the threshold starts an emergency by itself.
fn rush<L: Ledger>(ledger: &L, time: &Time, check: Check<'_, L>) {
    let c = cluster();
    let capacity =
        Capacity { emergency_threshold: tollgate_core::units::Ratio::percent(1), ..seed().capacity };
    now(ledger.seed(&c, &Seed { capacity, ..seed() })).unwrap();
    now(ledger.acquire(&c, &app(), Tokens::whole(90))).unwrap();
    time.pass(10);
    let reply = now(ledger.sync(&c, &call(1, 0, 0))).unwrap();
    assert!(reply.emergency.is_on(), "{reply:?}");
    check(ledger, Some(reply.version), "an emergency by use");
    time.pass(3_000);
    let reply = now(ledger.sync(&c, &call(2, 1, 0))).unwrap();
    assert!(!reply.emergency.is_on(), "{reply:?}");
    check(ledger, Some(reply.version), "the emergency is over");
}

/// Plays both stories and listens to the ledger's own hints.
fn listen<L: Ledger>(new: impl Fn(&Time) -> L) {
    for tell in [story::<L>, rush::<L>] {
        let time = Time::new();
        let ledger = new(&time);
        let mut notices = ledger.notices(&cluster());
        let mut other = ledger.notices(&ClusterId::new("other").unwrap());
        tell(&ledger, &time, &mut |_, expected, what| {
            assert_eq!(heard(notices.next()), expected, "{what}");
        });
        assert_eq!(heard(other.next()), None);
    }
}

#[test]
fn a_ledger_in_memory_tells_of_every_change() {
    listen(|time| MemoryLedger::with_clock(time.clock()));
}

#[test]
fn a_ledger_of_scripts_tells_of_every_change() {
    listen(|time| ScriptLedger::new(MluaEngine::new(time.clock()).unwrap()));
}

#[test]
fn scripts_publish_the_version_and_emergencies_apart() {
    let time = Time::new();
    let ledger = ScriptLedger::new(MluaEngine::new(time.clock()).unwrap());
    let mut last = 0;
    story(&ledger, &time, &mut |ledger, version, what| {
        let published = ledger.engine().published();
        let Some(version) = version else { return assert_eq!(published, [], "{what}") };
        let config = ("ratelimit:config:{c}".to_owned(), version.to_string());
        let emergency = |state| ("ratelimit:emergency:{c}".to_owned(), format!("{version} {state}"));
        let expected = match what {
            "an emergency" | "a new end" | "another emergency" => vec![config, emergency("on")],
            "it ended by itself" | "an operator ends it" => vec![config, emergency("off")],
            _ => vec![config],
        };
        assert_eq!(published, expected, "{what}");
        assert!(version > last, "{what}");
        last = version;
    });
}

/// A stand-in whose messages all get lost, as they may in a failover.
struct Deaf(MluaEngine);

impl Engine for Deaf {
    async fn eval(&self, script: &Script, key: &str, args: Vec<Vec<u8>>) -> Result<Value, EngineError> {
        self.0.eval(script, key, args).await
    }
}

/// With every message dropped, whoever keeps calling hears of every change by the version in the answer.
#[test]
fn nothing_depends_on_a_hint() {
    let time = Time::new();
    let ledger = ScriptLedger::new(Deaf(MluaEngine::new(time.clock()).unwrap()));
    let mut notices = ledger.notices(&cluster());
    let (c, mut seq) = (cluster(), 0);
    let mut sync = || {
        seq += 1;
        now(ledger.sync(&c, &call(seq, seq - 1, 0))).unwrap()
    };
    now(ledger.seed(&c, &seed())).unwrap();
    let mut known = sync().version;
    let mut changed = |reply: tollgate_ledger::protocol::SyncReply| {
        assert!(reply.version > known, "{reply:?}");
        known = reply.version;
    };
    now(ledger.put_app(&c, &put(200, 0))).unwrap();
    changed(sync());
    now(ledger.put_app(&c, &put(300, START + 1_000))).unwrap();
    changed(sync());
    time.pass(1_000);
    changed(sync());
    now(ledger.declare_emergency(&c, "a drill", Millis::from_secs(5))).unwrap();
    let reply = sync();
    assert!(reply.emergency.is_on());
    changed(reply);
    time.pass(5_000);
    let reply = sync();
    assert!(!reply.emergency.is_on());
    changed(reply);
    assert_eq!(heard(notices.next()), None, "not one message arrived");
}

#[test]
fn a_publish_that_fails_does_not_fail_the_script() {
    let engine = MluaEngine::new(Time::new().clock()).unwrap();
    for text in [
        "local a = redis.pcall('PUBLISH', 'elsewhere', '1') return a.err and 1 or 0",
        "local a = redis.pcall('PUBLISH', 'ratelimit:config:{d}', '1') return a.err and 1 or 0",
        "local a = redis.pcall('NONSENSE') return a.err and 1 or 0",
    ] {
        let answer = now(engine.eval(&Script { name: text, text }, "ratelimit:{c}", Vec::new()));
        assert_eq!(answer, Ok(Value::Int(1)), "{text}");
    }
    assert_eq!(engine.published(), []);
}
