//! The stand-in for Redis, and what a script costs there in commands.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may panic")]

use std::pin::pin;
use std::task::{Context, Poll, Waker};
use tollgate_core::id::{AppId, ClusterId, NodeId};
use tollgate_core::priority::Priority;
use tollgate_core::quota::{Capacity, LoanTerms, Quota};
use tollgate_core::units::{Millis, Rate, Ratio, Tokens};
use tollgate_ledger::protocol::{AppPolicy, Entry, Seed, Sync};
use tollgate_ledger::script::{ALL, Engine, EngineError, MluaEngine, Script, ScriptLedger, Store, Value};
use tollgate_ledger::{Ledger, LedgerError};

const ROOT: &str = "ratelimit:{c}";

fn engine() -> MluaEngine {
    MluaEngine::new(|| Millis::new(1_700_000_000_000)).unwrap()
}

fn eval(engine: &MluaEngine, text: &'static str) -> Result<Value, EngineError> {
    wait(engine.eval(&Script { name: text, text }, ROOT, vec![b"7".to_vec()]))
}

fn wait<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(answer) => answer,
        Poll::Pending => panic!("a script in this process made its caller wait"),
    }
}

fn app(index: usize) -> AppId {
    AppId::new(&format!("app-{index}")).unwrap()
}

fn seed(apps: usize) -> Seed {
    let quota = Quota {
        guaranteed: Rate::per_second(100),
        burst: Tokens::whole(500),
        burst_window: Quota::DEFAULT_BURST_WINDOW,
        priority: Priority::P1,
        loan: LoanTerms::default(),
    };
    let policy = |index| AppPolicy { app: app(index), quota, enabled: true, body: String::new() };
    Seed { capacity: Capacity::default(), apps: (0..apps).map(policy).collect(), remembered: None }
}

fn call(seq: u64, apps: usize) -> Sync {
    let entry = |index| Entry {
        want: Tokens::whole(5),
        holding: Tokens::whole(5 * (seq - 1)),
        ..Entry::idle(app(index))
    };
    Sync {
        node: NodeId::new("node-1").unwrap(),
        incarnation: 1,
        seq,
        acked: seq - 1,
        epoch: 0,
        silence: Millis::from_secs(5),
        entries: (0..apps).map(entry).collect(),
    }
}

/// Overwrites what is out in leases, the fifteenth number of an application.
fn set_outstanding(store: &mut Store, app: &str, outstanding: f64) {
    let mut row = store.field(ROOT, app).unwrap().to_vec();
    row[14 * 8..15 * 8].copy_from_slice(&outstanding.to_le_bytes());
    store.set_field(ROOT, app, &row);
}

#[test]
fn values_convert_as_on_a_server() {
    let engine = engine();
    let bulk = |text: &str| Value::Bulk(text.into());
    assert_eq!(eval(&engine, "return 3.99"), Ok(Value::Int(3)));
    assert_eq!(eval(&engine, "return false"), Ok(Value::Nil));
    assert_eq!(eval(&engine, "return {1, 'a', nil, 'b'}"), Ok(Value::Array(vec![Value::Int(1), bulk("a")])));
    assert_eq!(eval(&engine, "return redis.call('HGET', KEYS[1], 'a') == false"), Ok(Value::Int(1)));
    assert_eq!(eval(&engine, "return redis.call('HSET', KEYS[1], 'a', 9e15)"), Ok(Value::Int(1)));
    assert_eq!(eval(&engine, "return redis.call('HGET', KEYS[1], 'a')"), Ok(bulk("9000000000000000")));
    assert_eq!(
        eval(&engine, "return struct.unpack('<dd', struct.pack('<dd', -1, 9e15))"),
        Ok(Value::Int(-1))
    );
    assert_eq!(
        eval(&engine, "return redis.call('TIME')"),
        Ok(Value::Array(vec![bulk("1700000000"), bulk("0")]))
    );
}

#[test]
fn what_a_server_would_refuse_is_refused() {
    let engine = engine();
    for (text, why) in [
        ("x = 1", "x is not a local variable"),
        ("return y", "y is not a local variable"),
        ("return os", "os is not a local variable"),
        ("return redis.call('KEYS', KEYS[1])", "not a command"),
        ("return redis.call('HGET', 'other', 'a')", "does not derive"),
        ("return redis.call('DEL', KEYS[1], 'ratelimit:{c}x')", "does not derive"),
        ("return redis.call('HSET', KEYS[1], 'a')", "wrong arguments"),
        ("return redis.call('HSET', KEYS[1], 'a', 0.5)", "no argument"),
        ("return struct.pack('<dd', 1)", "no row"),
        ("return struct.unpack('<dd', '12345678')", "no row"),
        ("redis.call('RPUSH', KEYS[1], 'a') return redis.call('HGET', KEYS[1], 'a')", "something else"),
    ] {
        match eval(&engine, text) {
            Err(EngineError::Protocol(error)) => assert!(error.contains(why), "{text}: {error}"),
            other => panic!("{text}: {other:?}"),
        }
    }
}

#[test]
fn every_script_checks_its_arity() {
    let engine = engine();
    for script in ALL {
        let args = vec![b"1".to_vec(); 3];
        let answer = wait(engine.eval(script, ROOT, args)).unwrap();
        let Value::Array(answer) = answer else { panic!("{}: {answer:?}", script.name) };
        assert_eq!(answer[..2], [Value::Bulk("err".into()), Value::Bulk("arity".into())], "{}", script.name);
    }
}

#[test]
fn a_cluster_that_is_not_known_has_to_be_seeded() {
    let ledger = ScriptLedger::new(engine());
    let cluster = ClusterId::new("c").unwrap();
    assert_eq!(wait(ledger.acquire(&cluster, &app(0), Tokens::ZERO)), Err(LedgerError::Unseeded));
    assert_eq!(wait(ledger.sync(&cluster, &call(1, 1))), Err(LedgerError::Unseeded));
    assert_eq!(wait(ledger.seed(&cluster, &seed(1))), Ok(1));
    assert_eq!(wait(ledger.seed(&cluster, &seed(2))), Ok(1), "it stays as it is");
    assert_eq!(wait(ledger.acquire(&cluster, &app(1), Tokens::ZERO)), Err(LedgerError::UnknownApp));
}

#[test]
fn p14_what_drifted_too_far_is_corrected() {
    let ledger = ScriptLedger::new(engine());
    let cluster = ClusterId::new("c").unwrap();
    wait(ledger.seed(&cluster, &seed(2))).unwrap();
    wait(ledger.sync(&cluster, &call(1, 2))).unwrap();
    let mut store = ledger.engine().store();
    set_outstanding(&mut store, "app-0", 5_400_000.0);
    set_outstanding(&mut store, "app-1", 10_000_000.0);
    ledger.engine().restore(store);
    assert_eq!(wait(ledger.reconcile(&cluster)), Ok(vec![(app(1), Ratio::ONE)]), "8 % is left alone");
    let audit = wait(ledger.audit(&cluster)).unwrap();
    let out: Vec<_> = audit.lines.iter().map(|line| line.account.outstanding.micros()).collect();
    assert_eq!(out, [5_400_000, 5_000_000]);
    assert_eq!(wait(ledger.reconcile(&cluster)), Ok(Vec::new()));
}

#[test]
fn a_cluster_that_lost_only_its_own_record_starts_afresh() {
    let ledger = ScriptLedger::new(engine());
    let cluster = ClusterId::new("c").unwrap();
    wait(ledger.seed(&cluster, &seed(2))).unwrap();
    wait(ledger.sync(&cluster, &call(1, 2))).unwrap();
    let goodbye = Sync { node: NodeId::new("node-2").unwrap(), ..call(1, 0) };
    wait(ledger.depart(&cluster, &goodbye)).unwrap();
    let mut store = ledger.engine().store();
    store.forget(ROOT);
    ledger.engine().restore(store);
    wait(ledger.seed(&cluster, &seed(1))).unwrap();
    let audit = wait(ledger.audit(&cluster)).unwrap();
    assert!(audit.balances() && audit.lines.len() == 1, "{audit:?}");
    assert_eq!(wait(ledger.acquire(&cluster, &app(1), Tokens::ZERO)), Err(LedgerError::UnknownApp));
    assert!(wait(ledger.sync(&cluster, &goodbye)).is_ok(), "nobody remembers who left before");
}

/// What a server can do is bounded by the commands that a script gives.
#[test]
fn a_call_takes_six_commands_however_many_applications_it_is_about() {
    for (apps, commands) in [(1, 6), (2, 6), (50, 6)] {
        let ledger = ScriptLedger::new(engine());
        let cluster = ClusterId::new("c").unwrap();
        wait(ledger.seed(&cluster, &seed(apps))).unwrap();
        wait(ledger.sync(&cluster, &call(1, apps))).unwrap();
        wait(ledger.sync(&cluster, &call(2, apps))).unwrap();
        assert_eq!(ledger.engine().commands(), commands, "with {apps} applications");
    }
}
