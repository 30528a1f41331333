//! What a connection on a held slot costs: one allocation, its tracked entry.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod connection_world;

use connection_world::{CLIENT, Node, Time, app, run};
use std::sync::Arc;
use tollgate_ledger::MemoryLedger;
use tollgate_testkit::{CountingAllocator, allocations};

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

#[test]
fn a_connection_on_a_held_slot_is_one_allocation() {
    let time = Time::start();
    let ledger = Arc::new(MemoryLedger::with_clock(time.ledger_clock()));
    let mut node = Node::new("node-0", 1, &time, &ledger, 100);
    node.set_limits(0, 50, 50);
    let (name, now) = (app(0), node.now());
    // The shards grow to what is needed of them.
    drop(run(async {
        let mut guards = Vec::new();
        while let Ok(guard) = node.open(0).await {
            guards.push(guard);
        }
        guards
    }));
    let count = allocations(|| {
        for _ in 0..1_000 {
            let guard = node.connections.try_open(&name, CLIENT, now).unwrap();
            guard.touch(now);
            drop(guard);
        }
    });
    assert_eq!(count, 1_000);
}
