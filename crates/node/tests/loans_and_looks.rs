//! Those who live on loans, and those who only look what would become of a request.
#![allow(clippy::unwrap_used, reason = "tests")]

mod support;

use serde_json::json;
use std::time::Duration;
use support::{Mood, assert_balanced, drive, get, memory, millis, setup, start, view};
use tokio::time::{Instant, sleep};
use tollgate_config::Policy;
use tollgate_core::decision::Verdict;
use tollgate_core::reason::Reason;
use tollgate_core::units::Tokens;
use tollgate_node::{Node, Request, Spending};

/// An application that starts with one token, may draw two more, and then borrows.
fn borrower() -> Policy {
    Policy::from_value(&json!({
        "clusters": [{"id": "c", "capacity": 100_000}],
        "apps": [{"id": "debtor", "guaranteed_quota": 1, "burst_quota": 3}],
    }))
    .unwrap()
}

#[tokio::test(start_paused = true)]
async fn p05_whoever_only_looks_borrows_nothing() {
    let node = Node::start(memory(), setup("n"), &borrower());
    let request = get("debtor").with_cost(50);
    let seen = node.foresee(&request).await;
    assert_eq!(seen.verdict, Verdict::Refused(Reason::AppExhausted));
    assert!(seen.retry_after.is_none(), "more than it ever has at once: {seen:?}");
    sleep(Duration::from_millis(300)).await;
    let (before, counts) = (view(node.ledger(), "debtor").await, node.app("debtor").unwrap().counts());
    assert!(before.account.loan.debt.is_zero(), "{before:?}");
    assert_eq!((counts.passed(), counts.refused_cost, counts.rolled_back), (Spending::default(), 0, 0));
    assert_eq!((counts.misses, node.app("debtor").unwrap().held()), (0, Tokens::ZERO));
    node.admit(&request).await.unwrap().keep();
    sleep(Duration::from_millis(300)).await;
    let after = view(node.ledger(), "debtor").await;
    assert!(!after.account.loan.debt.is_zero(), "a request that is waiting does borrow");
    assert_balanced(node.ledger()).await;
}

/// What it asks for in advance is never lent, and leaves nothing behind: that must not keep those out who come next.
#[tokio::test(start_paused = true)]
async fn p05_as_long_as_more_may_be_borrowed_nobody_is_refused() {
    let policy = json!({
        "clusters": [{"id": "c", "capacity": 100_000}],
        "apps": [{"id": "debtor", "guaranteed_quota": 10, "burst_quota": 10, "max_borrow": 1_000}],
    });
    let node = Node::start(memory(), setup("n"), &Policy::from_value(&policy).unwrap());
    for _ in 0..400 {
        node.admit(&get("debtor")).await.unwrap().keep();
        sleep(millis(5)).await;
    }
    sleep(millis(300)).await;
    let after = view(node.ledger(), "debtor").await;
    assert!(after.account.loan.borrowed >= Tokens::whole(300), "{after:?}");
    assert_balanced(node.ledger()).await;
}

/// Five times what it was promised, from fifty clients: all that is lent is lent to those who wait.
#[tokio::test(start_paused = true)]
async fn p05_whoever_lives_on_loans_does_not_ask_for_each_of_them() {
    let policy = json!({
        "clusters": [{"id": "c", "capacity": 100_000}],
        "apps": [{"id": "debtor", "guaranteed_quota": 1_000, "burst_quota": 2_000}],
    });
    let node = Node::start(memory(), setup("n"), &Policy::from_value(&policy).unwrap());
    let mut clients = tokio::task::JoinSet::new();
    for client in 0..50 {
        let node = node.clone();
        clients.spawn(async move {
            let (mut passed, mut longest) = (0, Duration::ZERO);
            sleep(millis(client) / 5).await;
            for _ in 0..3_000 {
                let asked = Instant::now();
                if let Ok(permit) = node.admit(&get("debtor")).await {
                    permit.keep();
                    passed += 1;
                }
                longest = longest.max(asked.elapsed());
                sleep(millis(10)).await;
            }
            (passed, longest)
        });
    }
    sleep(Duration::from_secs(20)).await;
    let before = node.standing()["c"].calls.made;
    sleep(Duration::from_secs(10)).await;
    let calls = node.standing()["c"].calls.made - before;
    let (passed, waits): (Vec<u64>, Vec<Duration>) = clients.join_all().await.into_iter().unzip();
    let (passed, longest) = (passed.iter().sum::<u64>(), waits.into_iter().max().unwrap());
    assert!(calls <= 500, "{calls} calls in ten seconds, {passed} passed");
    assert!(longest <= millis(11), "{longest:?}");
    let after = view(node.ledger(), "debtor").await;
    assert!(after.account.loan.borrowed >= Tokens::whole(5_000), "{after:?}");
    assert_balanced(node.ledger()).await;
}

#[tokio::test(start_paused = true)]
async fn what_is_foreseen_comes_true() {
    let node = start(memory());
    let verdict = async |request: Request<'static>| node.foresee(&request).await.verdict;
    assert_eq!(verdict(get("a").with_cost(900)).await, Verdict::Allowed);
    assert_eq!(verdict(get("a").with_cost(2_500)).await, Verdict::Refused(Reason::AppExhausted));
    assert_eq!(verdict(get("off")).await, Verdict::Refused(Reason::AppDisabled));
    assert_eq!(verdict(get("nobody")).await, Verdict::Refused(Reason::UnknownApp));
    assert_eq!(verdict(get("shadow").with_cost(3)).await, Verdict::Shadowed(Reason::AppExhausted));
    node.admit(&get("a").with_cost(900)).await.unwrap().keep();
    for app in node.apps() {
        let counts = app.counts();
        let (refused, shadowed) = (counts.refused.iter().sum::<u64>(), counts.shadowed.iter().sum::<u64>());
        assert_eq!((refused, shadowed), (0, 0), "{app:?}: looks are no decisions");
    }
    assert_eq!(node.strangers_refused(), 0);
    sleep(Duration::from_millis(300)).await;
    assert_balanced(node.ledger()).await;
    assert_eq!(view(node.ledger(), "a").await.total_consumed, 900);
}

#[tokio::test(start_paused = true)]
async fn a_look_never_stands_in_the_way_of_those_who_pay() {
    let node = start(memory());
    node.admit(&get("a")).await.unwrap().keep();
    let (cheap, large) = (get("a").with_cost(1_500), get("a").with_cost(1_900));
    let (seen, paid, denied) = tokio::join!(node.foresee(&large), node.admit(&cheap), node.foresee(&large));
    paid.unwrap().keep();
    assert_eq!(seen.verdict, denied.verdict);
    assert!(!seen.verdict.passes(), "what is spent is not there: {seen:?}");
    assert!(seen.retry_after.is_some());
}

#[tokio::test(start_paused = true)]
async fn what_is_looked_for_at_one_node_is_there_for_those_who_pay_at_another() {
    let ledger = memory();
    let policy = json!({
        "clusters": [{"id": "c", "capacity": 100_000}],
        "apps": [{"id": "debtor", "guaranteed_quota": 1_000, "burst_quota": 2_000}],
    });
    let policy = Policy::from_value(&policy).unwrap();
    let (looking, paying) = (
        Node::start(ledger.clone(), setup("n1"), &policy),
        Node::start(ledger.clone(), setup("n2"), &policy),
    );
    sleep(Duration::from_secs(1)).await;
    let mut seen = 0;
    for _ in 0..200 {
        seen += u32::from(looking.foresee(&get("debtor").with_cost(1_800)).await.verdict.passes());
        sleep(millis(20)).await;
        paying.admit(&get("debtor").with_cost(300)).await.unwrap().keep();
        sleep(millis(380)).await;
    }
    assert!(seen >= 190, "{seen}");
    let after = view(&ledger, "debtor").await;
    assert!(
        after.account.loan.debt.is_zero(),
        "those who pay had to borrow what somebody only looked for: {after:?}"
    );
    assert_balanced(&ledger).await;
}

#[tokio::test(start_paused = true)]
async fn what_was_foreseen_a_moment_ago_is_not_asked_again() {
    let node = start(memory());
    drive(&node, "a", 1, Duration::from_secs(1)).await;
    let calls = || node.standing()["c"].calls.made;
    let before = calls();
    for _ in 0..1_000 {
        let seen = node.foresee(&get("a").with_cost(2_500)).await;
        assert_eq!(seen.verdict, Verdict::Refused(Reason::AppExhausted));
        sleep(millis(1)).await;
    }
    assert!(calls() <= before + 40, "{} calls in a second", calls() - before);
    assert_eq!(
        node.foresee(&get("a").with_cost(900)).await.verdict,
        Verdict::Allowed,
        "less is another matter"
    );
}

#[tokio::test(start_paused = true)]
async fn whoever_looks_without_a_ledger_sees_what_the_node_lets_through() {
    let ledger = memory();
    let node = start(ledger.clone());
    ledger.feel(Mood::Gone);
    sleep(Duration::from_secs(1)).await;
    let verdict = async |request: Request<'static>| node.foresee(&request).await.verdict;
    assert_eq!(verdict(get("a")).await, Verdict::Allowed);
    assert!(!verdict(get("a").with_cost(5_000)).await.passes());
    assert!(!verdict(get("closed")).await.passes());
    ledger.feel(Mood::Silent);
    assert_eq!(verdict(get("a")).await, Verdict::Allowed);
}
