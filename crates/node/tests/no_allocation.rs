//! A hit allocates nothing, and neither does a refusal that asks nobody.

#![allow(clippy::unwrap_used, reason = "tests")]

mod support;

use std::hint::black_box;
use support::{get, memory, start};
use tollgate_core::cost::{Operation, Price};
use tollgate_node::NotYet;
use tollgate_testkit::{CountingAllocator, allocations};

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

#[tokio::test(start_paused = true)]
async fn a_hit_allocates_nothing() {
    assert_eq!(allocations(|| drop(black_box(Box::new(1)))), 1, "the counter counts");
    let node = start(memory());
    node.admit(&get("a").with_cost(100)).await.unwrap().keep();
    let app = node.app("a").unwrap();
    // The first of all may set up what the thread keeps for ever.
    node.check(&get("a")).unwrap().keep();
    let count = allocations(|| {
        for _ in 0..50 {
            app.check(Price::named(Operation::Get, 1)).unwrap().keep();
            node.check(&get("a").with_bytes(1_000)).unwrap().keep();
            drop(node.check(&get("a")).unwrap());
            node.check_owned(&get("a")).unwrap().keep();
        }
    });
    assert_eq!(count, 0);
}

#[tokio::test(start_paused = true)]
async fn a_refusal_that_asks_nobody_allocates_nothing() {
    let node = start(memory());
    while node.admit(&get("a").with_cost(100)).await.map(tollgate_node::Permit::keep).is_ok() {}
    let is_refused = || matches!(node.check(&get("a").with_cost(100)), Err(NotYet::Refused(_)));
    assert!(is_refused());
    assert_eq!(allocations(|| assert!(is_refused())), 0);
    let is_stranger_refused = || matches!(node.check(&get("nobody")), Err(NotYet::Refused(_)));
    assert_eq!(allocations(|| assert!(is_stranger_refused())), 0);
}
