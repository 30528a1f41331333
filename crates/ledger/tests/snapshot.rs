//! A ledger in memory survives a restart by its snapshot.

#![cfg(feature = "snapshot")]
#![allow(clippy::panic, reason = "a test may panic")]

use std::fs;
use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use tollgate_core::id::{AppId, ClusterId, NodeId};
use tollgate_core::priority::Priority;
use tollgate_core::quota::{Capacity, LoanTerms, Quota};
use tollgate_core::units::{Millis, Rate, Tokens};
use tollgate_ledger::protocol::{AppPolicy, Carry, Entry, PutApp, Seed, Sync};
use tollgate_ledger::{Ledger, MemoryLedger, Snapshot, SnapshotError};

type Result = std::result::Result<(), Box<dyn std::error::Error>>;

/// The ledger in memory never waits.
fn now<T>(future: impl Future<Output = T>) -> T {
    let mut context = Context::from_waker(Waker::noop());
    match pin!(future).poll(&mut context) {
        Poll::Ready(value) => value,
        Poll::Pending => panic!("the ledger in memory waited"),
    }
}

fn policy(app: &AppId, guaranteed: u64) -> AppPolicy {
    let quota = Quota {
        guaranteed: Rate::per_second(guaranteed),
        burst: Tokens::whole(50_000),
        burst_window: Quota::DEFAULT_BURST_WINDOW,
        priority: Priority::P1,
        loan: LoanTerms::default(),
    };
    AppPolicy { app: app.clone(), quota, enabled: true, body: "{\"shadow\":true}".into() }
}

#[test]
fn a_restart_forgets_nothing() -> Result {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("ledger.json");
    let (cluster, app) = (ClusterId::new("cluster-01")?, AppId::new("app-a")?);
    assert_eq!(Snapshot::load(&path)?, None);

    let clock = || Millis::from_secs(1_000);
    let ledger = MemoryLedger::with_clock(clock);
    let seed = Seed { capacity: Capacity::default(), apps: vec![policy(&app, 10_000)], remembered: None };
    now(ledger.seed(&cluster, &seed))?;
    now(ledger.borrow(&cluster, &app, Tokens::whole(300)))?;
    now(ledger.reserve(&cluster, &app, "upload", Tokens::whole(40), Millis::from_secs(60)))?;
    let entry =
        Entry { want: Tokens::whole(700), fallback: Rate::per_second(10), ..Entry::idle(app.clone()) };
    let node = NodeId::new("node-1")?;
    now(ledger.sync(
        &cluster,
        &Sync {
            node,
            incarnation: 1,
            seq: 1,
            acked: 0,
            epoch: 0,
            silence: Millis::from_secs(5),
            entries: vec![entry],
        },
    ))?;
    let later = PutApp {
        policy: policy(&app, 20_000),
        replaces: None,
        carry: Carry::Scale,
        effective_at: Millis::from_secs(2_000),
    };
    now(ledger.put_app(&cluster, &later))?;
    now(ledger.declare_emergency(&cluster, "drill", Millis::from_secs(30)))?;
    ledger.snapshot().save(&path)?;

    let again = MemoryLedger::restore(Snapshot::load(&path)?.ok_or("nothing saved")?, clock);
    assert_eq!(again.snapshot(), ledger.snapshot());
    let audit = now(again.audit(&cluster))?;
    assert!(audit.balances());
    assert_eq!(audit.lines[0].account.loan.debt, Tokens::whole(360));
    assert_eq!(audit.lines[0].account.outstanding, Tokens::whole(700));
    now(again.complete(&cluster, "upload", Tokens::whole(10)))?;
    Ok(())
}

#[test]
fn what_is_no_snapshot_is_refused_and_left_alone() -> Result {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("ledger.json");
    for content in ["", "{", "[]", r#"{"layout":99,"books":{}}"#, r#"{"layout":1,"books":{"a b":{}}}"#] {
        fs::write(&path, content)?;
        assert!(matches!(Snapshot::load(&path), Err(SnapshotError::Content(..))), "{content}");
        assert_eq!(fs::read_to_string(&path)?, content);
    }
    Ok(())
}

#[test]
fn a_snapshot_that_cannot_be_written_leaves_the_last_one() -> Result {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("missing").join("ledger.json");
    let error = Snapshot::default().save(&path).err().ok_or("saved nowhere")?;
    assert!(error.to_string().contains("ledger.json"), "{error}");
    assert_eq!(Snapshot::load(&path)?, None);
    Ok(())
}
