//! The numbered properties of a node, over every ledger it may have.
#![allow(clippy::unwrap_used, reason = "tests")]

mod support;

use proptest::prelude::*;
use std::time::Duration;
use support::{Memory, assert_balanced, clock, empty, get, memory, millis, start, view};
use tokio::runtime::Builder;
use tokio::time::sleep;
use tollgate_core::cost::{Operation, Price};
use tollgate_core::units::Tokens;
use tollgate_ledger::script::{MluaEngine, ScriptLedger};
use tollgate_ledger::{Ledger, Slots};
use tollgate_node::Node;

/// What becomes of one request.
#[derive(Clone, Copy, Debug)]
enum End {
    Kept,
    Dropped,
    Settled(u64),
}

#[derive(Clone, Copy, Debug)]
struct Step {
    cost: u64,
    end: End,
    pause: u64,
}

fn any_step() -> impl Strategy<Value = Step> {
    let end = prop_oneof![Just(End::Kept), Just(End::Dropped), (0..60u64).prop_map(End::Settled)];
    (0..50u64, end, prop_oneof![Just(0), 1..150u64]).prop_map(|(cost, end, pause)| Step { cost, end, pause })
}

/// Plays a history; returns what was spent by the one who asked.
async fn play<L: Ledger + Slots + 'static>(node: &Node<L>, steps: &[Step]) -> u64 {
    let app = node.app("a").unwrap();
    let mut spent = 0;
    for step in steps {
        if let Ok(permit) = node.admit(&get("a").with_cost(step.cost)).await {
            let held = app.held();
            match step.end {
                End::Kept => {
                    permit.keep();
                    assert_eq!(app.held(), held);
                    spent += step.cost;
                }
                End::Dropped => {
                    drop(permit);
                    // As it was before, and never above what it may hold.
                    assert_eq!(app.held(), held.plus(Tokens::whole(step.cost)).min(Tokens::whole(2_000)));
                }
                End::Settled(actual) => {
                    permit.settle(Price::named(Operation::Get, actual));
                    spent += actual;
                }
            }
        }
        sleep(millis(step.pause)).await;
    }
    spent
}

/// Plays a history on a fresh node, lets it report, and checks what the ledger knows.
fn check<L: Ledger + Slots + 'static>(ledger: impl FnOnce() -> L, steps: &[Step]) {
    let runtime = Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    runtime.block_on(async {
        let node = start(ledger());
        // A node that stops before its first word leaves an empty ledger empty.
        sleep(millis(1)).await;
        let spent = play(&node, steps).await;
        node.shut_down(Duration::from_secs(5)).await;
        let view = view(node.ledger(), "a").await;
        assert_eq!(view.total_consumed, spent);
        let by_operation: u64 = view.by_operation.iter().map(|used| used.consumed).sum();
        assert_eq!(by_operation, spent);
        assert_eq!(view.account.outstanding, Tokens::ZERO);
        assert_balanced(node.ledger()).await;
    });
}

fn scripts() -> ScriptLedger<MluaEngine> {
    ScriptLedger::new(MluaEngine::new(clock()).unwrap())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn p02_p08_what_is_spent_is_reported_and_what_is_rolled_back_is_not(
        steps in prop::collection::vec(any_step(), 1..60),
    ) {
        check(memory, &steps);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn p02_p08_and_so_it_is_over_scripts(steps in prop::collection::vec(any_step(), 1..40)) {
        check(scripts, &steps);
    }
}

/// Threads that spend, roll back and settle while the node reports and leases: nothing is lost between them.
#[test]
fn p10_threads_spend_exactly_what_is_reported() {
    let runtime = Builder::new_multi_thread().worker_threads(2).enable_time().build().unwrap();
    let node = runtime.block_on(async { start(Memory::new(empty())) });
    let spent: u64 = std::thread::scope(|scope| {
        let runtime = &runtime;
        let threads: Vec<_> = (0..4u64)
            .map(|thread| {
                let node = node.clone();
                scope.spawn(move || {
                    let mut spent = 0;
                    for i in 0..20_000u64 {
                        let cost = (i + thread) % 4;
                        let admitted = match node.check_owned(&get("a").with_cost(cost)) {
                            Ok(permit) => Ok(permit),
                            Err(_) if i % 500 == 0 => runtime.block_on(node.admit(&get("a").with_cost(cost))),
                            Err(_) => continue,
                        };
                        match admitted {
                            Ok(permit) if i % 3 == 0 => drop(permit),
                            Ok(permit) => {
                                permit.keep();
                                spent += cost;
                            }
                            Err(_) => {}
                        }
                    }
                    spent
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    runtime.block_on(async {
        node.shut_down(Duration::from_secs(10)).await;
        assert_eq!(view(node.ledger(), "a").await.total_consumed, spent);
        assert_balanced(node.ledger()).await;
    });
    assert!(spent > 0);
}
