//! A node on a ledger in memory, with the runtime's clock in the hands of the test.
#![allow(clippy::unwrap_used, reason = "tests")]

use serde_json::json;
use std::time::Duration;
use tokio::time::{Instant, advance, sleep};
use tollgate_config::Policy;
use tollgate_core::cost::Operation;
use tollgate_core::decision::Verdict;
use tollgate_core::id::{ClusterId, NodeId};
use tollgate_core::reason::Reason;
use tollgate_core::units::{Millis, Tokens};
use tollgate_ledger::{Ledger, MemoryLedger};
use tollgate_node::{Node, Request, Setup};

fn policy() -> Policy {
    Policy::from_value(&json!({
        "clusters": [{"id": "c", "capacity": 100_000}],
        "apps": [
            {"id": "a", "guaranteed_quota": 1_000, "burst_quota": 2_000, "borrow": false},
            {"id": "off", "guaranteed_quota": 1_000, "burst_quota": 2_000, "enabled": false},
            {"id": "shadow", "guaranteed_quota": 1, "burst_quota": 1, "shadow": true, "borrow": false},
        ],
    }))
    .unwrap()
}

fn clock() -> impl Fn() -> Millis + Send + Sync {
    let origin = Instant::now();
    move || Millis::new(1_000_000 + u64::try_from(origin.elapsed().as_millis()).unwrap())
}

fn start() -> Node<MemoryLedger<impl tollgate_ledger::LedgerClock>> {
    let ledger = MemoryLedger::with_clock(clock());
    Node::start(ledger, Setup::new(NodeId::new("n").unwrap()), &policy())
}

fn get(app: &str) -> Request<'_> {
    Request::new(app, Operation::Get)
}

#[tokio::test(start_paused = true)]
async fn a_request_passes_and_is_charged() {
    let node = start();
    let permit = node.admit(&get("a").with_bytes(1_024)).await.unwrap();
    assert_eq!(permit.price().cost(), 2);
    permit.keep();
    sleep(Duration::from_millis(300)).await;
    let cluster = ClusterId::new("c").unwrap();
    let audit = node.ledger().audit(&cluster).await.unwrap();
    assert!(audit.balances(), "{audit:?}");
    let view = node.ledger().apps(&cluster, None, 10).await.unwrap();
    assert_eq!((view[0].total_consumed, view[0].total_requests), (2, 1));
}

#[tokio::test(start_paused = true)]
async fn what_is_in_the_purse_is_spent_without_waiting() {
    let node = start();
    node.admit(&get("a")).await.unwrap().keep();
    let app = node.app("a").unwrap();
    let held = app.held();
    assert!(!held.is_zero());
    node.check(&get("a")).unwrap().keep();
    assert_eq!(app.held(), held.minus(Tokens::whole(1)));
    drop(node.check(&get("a")).unwrap());
    assert_eq!(app.held(), held.minus(Tokens::whole(1)), "dropped, it gives back what was paid");
}

#[tokio::test(start_paused = true)]
async fn no_more_passes_than_was_minted_and_no_less() {
    let node = start();
    let start = Instant::now();
    let mut passed = 0u64;
    while start.elapsed() < Duration::from_secs(30) {
        // Five times what it was promised.
        for _ in 0..50 {
            if let Ok(permit) = node.admit(&get("a")).await {
                permit.keep();
                passed += 1;
            }
        }
        advance(Duration::from_millis(10)).await;
    }
    let elapsed = u64::try_from(start.elapsed().as_millis()).unwrap();
    // It starts with a second of its guarantee, and may draw its burst allowance once in a minute.
    let most = 1_000 + elapsed + 1_000;
    assert!(passed <= most, "{passed} of at most {most}");
    assert!(passed >= most * 99 / 100, "{passed} of {most}");
    let standing = &node.standing()["c"];
    assert!(standing.calls.made < 450, "{standing:?}");
}

#[tokio::test(start_paused = true)]
async fn refusals_say_why() {
    let node = start();
    sleep(Duration::from_millis(10)).await;
    let reason = |decision: tollgate_core::decision::Decision| decision.verdict.reason().unwrap();
    assert_eq!(reason(node.admit(&get("nobody")).await.unwrap_err()), Reason::UnknownApp);
    assert_eq!(reason(node.admit(&get("off")).await.unwrap_err()), Reason::AppDisabled);
    let refused = node.admit(&get("a").with_cost(500_000)).await.unwrap_err();
    assert_eq!(reason(refused), Reason::AppExhausted);
    assert_eq!(refused.limit, Tokens::whole(2_000));
    for _ in 0..3 {
        let permit = node.admit(&get("shadow").with_cost(3)).await.unwrap();
        assert_eq!(permit.decision().verdict, Verdict::Shadowed(Reason::AppExhausted));
    }
    assert_eq!(node.app("shadow").unwrap().counts().shadowed, 3);
}

#[tokio::test(start_paused = true)]
async fn whoever_comes_back_when_told_to_is_let_in() {
    let node = start();
    let mut told = 0;
    for _ in 0..20 {
        let decision = loop {
            match node.admit(&get("a").with_cost(700)).await {
                Ok(permit) => permit.keep(),
                Err(decision) => break decision,
            }
        };
        told += 1;
        sleep(Duration::from_millis(decision.retry_after.unwrap().get())).await;
        node.admit(&get("a").with_cost(700)).await.unwrap().keep();
    }
    assert_eq!(told, 20);
}

#[tokio::test(start_paused = true)]
async fn a_node_that_stops_gives_everything_back() {
    let node = start();
    for _ in 0..100 {
        node.admit(&get("a")).await.unwrap().keep();
    }
    node.shut_down(Duration::from_secs(1)).await;
    let cluster = ClusterId::new("c").unwrap();
    let view = node.ledger().apps(&cluster, None, 1).await.unwrap().remove(0);
    assert_eq!(view.account.outstanding, Tokens::ZERO);
    assert_eq!(view.total_consumed, 100);
    let audit = node.ledger().audit(&cluster).await.unwrap();
    assert!(audit.balances(), "{audit:?}");
    assert!(node.admit(&get("a")).await.is_err());
}
