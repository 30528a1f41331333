//! What a connection on a held slot costs: one allocation, its tracked entry.

#![allow(unsafe_code, reason = "counting allocations takes an allocator")]
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod connection_world;

use connection_world::{CLIENT, Node, Time, app, run};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::Arc;
use tollgate_ledger::MemoryLedger;

struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

// SAFETY: every call is handed on to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.with(|count| count.set(count.get() + 1));
        // SAFETY: as above.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(block, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

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
    let before = ALLOCATIONS.with(Cell::get);
    for _ in 0..1_000 {
        let guard = node.connections.try_open(&name, CLIENT, now).unwrap();
        guard.touch(now);
        drop(guard);
    }
    assert_eq!(ALLOCATIONS.with(Cell::get) - before, 1_000);
}
