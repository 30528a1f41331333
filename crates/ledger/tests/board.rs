//! Notes of nodes, on every ledger.

#![cfg(all(feature = "redis", feature = "mlua"))]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may panic")]

mod connection_world;

use connection_world::{clock, cluster, wait};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tollgate_core::id::{ClusterId, NodeId};
use tollgate_ledger::board::{Board, MAX_NOTE, NOTE_TTL, Note};
use tollgate_ledger::script::{MluaEngine, ScriptLedger};
use tollgate_ledger::{LedgerError, MemoryLedger, RedisEngine};
use tollgate_testkit::RedisServer;

fn note(node: &str, text: &str) -> Note {
    Note { node: NodeId::new(node).unwrap(), text: text.to_owned() }
}

/// Notes replace each other, are told by node, and are gone when their node falls silent.
fn story(time: &AtomicU64, ledger: &impl Board) {
    let pin = |node: &str, text: &str| wait(ledger.pin(&cluster(), &note(node, text)));
    let pinned = || wait(ledger.pinned(&cluster())).unwrap();
    assert_eq!(pinned(), []);
    pin("node-2", "{\"version\": 7}").unwrap();
    pin("node-1", "").unwrap();
    pin("node-1", "größer\n").unwrap();
    assert_eq!(pinned(), [note("node-1", "größer\n"), note("node-2", "{\"version\": 7}")]);
    assert_eq!(wait(ledger.pinned(&ClusterId::new("another").unwrap())).unwrap(), []);
    time.fetch_add(NOTE_TTL.get() - 1, Ordering::Relaxed);
    pin("node-3", "c").unwrap();
    assert_eq!(pinned().len(), 3);
    time.fetch_add(1, Ordering::Relaxed);
    assert_eq!(pinned(), [note("node-3", "c")], "the others have said nothing for too long");
    pin("node-1", "back").unwrap();
    assert_eq!(pinned(), [note("node-1", "back"), note("node-3", "c")]);
    pin("node-1", &"x".repeat(MAX_NOTE)).unwrap();
    assert!(matches!(pin("node-1", &"x".repeat(MAX_NOTE + 1)), Err(LedgerError::Protocol(_))));
}

fn start() -> Arc<AtomicU64> {
    Arc::new(AtomicU64::new(1_700_000_000_000))
}

#[test]
fn notes_are_kept_in_memory() {
    let time = start();
    story(&time, &MemoryLedger::with_clock(clock(&time)));
}

#[test]
fn notes_are_kept_by_scripts() {
    let time = start();
    story(&time, &ScriptLedger::new(MluaEngine::new(clock(&time)).unwrap()));
}

#[tokio::test]
async fn notes_are_kept_on_redis_and_leave_nothing_behind() {
    let server = RedisServer::start().unwrap();
    let ledger = ScriptLedger::new(RedisEngine::new(&server.url(), Duration::from_secs(5)).unwrap());
    for (node, text) in [("node-2", "b"), ("node-1", "a"), ("node-2", "größer\n")] {
        ledger.pin(&cluster(), &note(node, text)).await.unwrap();
    }
    assert_eq!(ledger.pinned(&cluster()).await.unwrap(), [note("node-1", "a"), note("node-2", "größer\n")]);
    for key in ["pinned", "notes"] {
        let ttl = server.cli(&["PTTL", &format!("ratelimit:{{cluster-01}}:board:{key}")]).unwrap();
        assert!(ttl.trim().parse::<i64>().unwrap() > 0, "{key}: {ttl}");
    }
}
