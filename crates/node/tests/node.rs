//! A node on a ledger in memory, with the runtime's clock in the hands of the test.
#![allow(clippy::unwrap_used, reason = "tests")]

mod support;

use serde_json::json;
use std::time::Duration;
use support::{
    Mood, assert_balanced, cluster, drive, empty, get, memory, millis, policy, setup, start, view,
};
use tokio::time::{Instant, sleep};
use tollgate_config::Policy;
use tollgate_core::cost::{Operation, Price};
use tollgate_core::decision::{Decision, Tier, Verdict};
use tollgate_core::id::{AppId, NodeId};
use tollgate_core::reason::Reason;
use tollgate_core::units::{Millis, Rate, Tokens};
use tollgate_ledger::protocol::{Carry, PutApp, Sync};
use tollgate_ledger::{Ledger, Slots};
use tollgate_node::{Node, NotYet, Request, Setup, Spending, connection, desk, wall};

fn reason(decision: &Decision) -> Reason {
    decision.verdict.reason().unwrap()
}

/// What sets the policy of an application, from a time on.
fn put(app: &str, policy: &tollgate_config::policy::App, effective_at: u64) -> PutApp {
    PutApp {
        policy: desk::to_ledger(&AppId::new(app).unwrap(), policy),
        replaces: None,
        carry: Carry::Scale,
        effective_at: Millis::new(effective_at),
    }
}

#[tokio::test(start_paused = true)]
async fn a_request_passes_and_is_charged() {
    let node = start(memory());
    let permit = node.admit(&get("a").with_bytes(1_024)).await.unwrap();
    assert_eq!(permit.price().cost(), 2);
    permit.keep();
    sleep(Duration::from_millis(300)).await;
    assert_balanced(node.ledger()).await;
    let view = view(node.ledger(), "a").await;
    assert_eq!((view.total_consumed, view.total_requests), (2, 1));
}

#[tokio::test(start_paused = true)]
async fn what_is_in_the_purse_is_spent_without_waiting() {
    let node = start(memory());
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
async fn each_operation_is_charged_and_counted_as_its_own() {
    let node = start(memory());
    assert!(matches!(node.check(&get("a")), Err(NotYet::Miss(_))), "nothing is in the purse yet");
    node.admit(&get("a").with_cost(100)).await.unwrap().keep();
    let app = node.app("a").unwrap();
    let held = app.held();
    let operations = [Operation::Get, Operation::Put, Operation::MultipartComplete];
    for operation in operations {
        node.check(&Request::new("a", operation)).unwrap().keep();
    }
    assert_eq!(app.held(), held.minus(Tokens::whole(14)));
    let spent = operations.map(|operation| app.counts().spent[operation.index()]);
    assert_eq!(spent, [(2, 101), (1, 5), (1, 8)].map(|(requests, cost)| Spending { requests, cost }));
    let stranger = node.check(&get("nobody"));
    assert!(matches!(stranger, Err(NotYet::Refused(decision)) if reason(&decision) == Reason::UnknownApp));
    sleep(Duration::from_millis(300)).await;
    assert_balanced(node.ledger()).await;
}

/// A thread keeps the roster it saw last: that must never be another node's, nor an old one.
#[tokio::test(start_paused = true)]
async fn nodes_on_one_thread_know_their_own_applications() {
    let (one, other) = (start(memory()), start(memory()));
    for node in [&one, &other, &one] {
        node.admit(&get("a")).await.unwrap().keep();
    }
    let held = other.app("a").unwrap().held();
    one.check(&get("a")).unwrap().keep();
    assert_eq!(other.app("a").unwrap().held(), held);
    other.check(&get("a")).unwrap().keep();
    assert_eq!(other.app("a").unwrap().held(), held.minus(Tokens::whole(1)));
}

#[tokio::test(start_paused = true)]
async fn no_more_passes_than_was_minted_and_no_less() {
    let node = start(memory());
    let start = Instant::now();
    // Five times what it was promised.
    let passed = drive(&node, "a", 50, Duration::from_secs(30)).await;
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
    let node = start(memory());
    sleep(Duration::from_millis(10)).await;
    assert_eq!(reason(&node.admit(&get("nobody")).await.unwrap_err()), Reason::UnknownApp);
    assert_eq!(reason(&node.admit(&get("off")).await.unwrap_err()), Reason::AppDisabled);
    let refused = node.admit(&get("a").with_cost(500_000)).await.unwrap_err();
    assert_eq!(reason(&refused), Reason::AppExhausted);
    assert_eq!(refused.limit, Tokens::whole(2_000));
    for _ in 0..3 {
        let permit = node.admit(&get("shadow").with_cost(3)).await.unwrap();
        assert_eq!(permit.decision().verdict, Verdict::Shadowed(Reason::AppExhausted));
    }
    assert_eq!(node.app("shadow").unwrap().counts().shadowed.iter().sum::<u64>(), 3);
}

#[tokio::test(start_paused = true)]
async fn whoever_comes_back_when_told_to_is_let_in() {
    let node = start(memory());
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
async fn whoever_comes_back_when_told_to_is_let_in_where_the_bucket_is_small() {
    let node = start(memory());
    for _ in 0..20 {
        let decision = loop {
            match node.admit(&get("small")).await {
                Ok(permit) => permit.keep(),
                Err(decision) => break decision,
            }
        };
        let wait = decision.retry_after.unwrap();
        sleep(Duration::from_millis(wait.get())).await;
        let answer = node.admit(&get("small")).await;
        answer.unwrap_or_else(|again| panic!("after {wait}: {again:?}")).keep();
    }
}

#[tokio::test(start_paused = true)]
async fn a_node_that_stops_gives_everything_back() {
    let node = start(memory());
    for _ in 0..100 {
        node.admit(&get("a")).await.unwrap().keep();
    }
    node.shut_down(Duration::from_secs(1)).await;
    let view = view(node.ledger(), "a").await;
    assert_eq!(view.account.outstanding, Tokens::ZERO);
    assert_eq!(view.total_consumed, 100);
    assert_balanced(node.ledger()).await;
    assert!(node.admit(&get("a")).await.is_err());
}

#[tokio::test(start_paused = true)]
async fn a_sleepy_application_gives_its_tokens_back() {
    let node = start(memory());
    drive(&node, "a", 5, Duration::from_secs(2)).await;
    assert!(!node.app("a").unwrap().held().is_zero());
    sleep(Duration::from_secs(30)).await;
    assert_eq!(node.app("a").unwrap().held(), Tokens::ZERO);
    assert_eq!(view(node.ledger(), "a").await.account.outstanding, Tokens::ZERO);
}

#[tokio::test(start_paused = true)]
async fn p02_what_is_taken_is_what_is_reported() {
    let node = start(memory());
    let mut spent = 0;
    for round in 1..200u64 {
        let cost = round * 7 % 13;
        let Ok(permit) = node.admit(&get("a").with_cost(cost)).await else { continue };
        match round % 3 {
            0 => drop(permit),
            1 => {
                permit.keep();
                spent += cost;
            }
            _ => {
                let actual = cost / 2 + round % 5;
                permit.settle(Price::named(Operation::Get, actual));
                spent += actual;
            }
        }
        sleep(millis(7)).await;
    }
    sleep(millis(500)).await;
    assert_eq!(view(node.ledger(), "a").await.total_consumed, spent);
    assert_balanced(node.ledger()).await;
}

/// An upload that takes longer than its application is thought of, and is larger than was said.
#[tokio::test(start_paused = true)]
async fn p02_what_is_settled_long_after_is_reported_all_the_same() {
    let node = start(memory());
    let permit = node.admit(&get("a")).await.unwrap();
    sleep(Duration::from_mins(1)).await;
    permit.settle(Price::named(Operation::Get, 40));
    sleep(Duration::from_secs(2)).await;
    assert_eq!(view(node.ledger(), "a").await.total_consumed, 40);
    let permit = node.admit(&get("a")).await.unwrap();
    sleep(Duration::from_mins(1)).await;
    permit.settle(Price::named(Operation::Get, 30));
    node.shut_down(Duration::from_secs(1)).await;
    assert_eq!(view(node.ledger(), "a").await.total_consumed, 70);
    assert_balanced(node.ledger()).await;
}

#[tokio::test(start_paused = true)]
async fn a_policy_change_reaches_leases_that_are_out() {
    let node = start(memory());
    drive(&node, "a", 5, Duration::from_secs(1)).await;
    let mut app = policy().apps()["a"].clone();
    app.enabled = false;
    node.ledger().put_app(&cluster(), &put("a", &app, 0)).await.unwrap();
    sleep(millis(130)).await;
    assert_eq!(reason(&node.admit(&get("a")).await.unwrap_err()), Reason::AppDisabled);
    sleep(millis(200)).await;
    assert_eq!(view(node.ledger(), "a").await.account.outstanding, Tokens::ZERO);

    app.enabled = true;
    let now = node.ledger().cluster(&cluster()).await.unwrap().now;
    node.ledger().put_app(&cluster(), &put("a", &app, now.get() + 5_000)).await.unwrap();
    sleep(millis(4_500)).await;
    assert_eq!(
        reason(&node.admit(&get("a")).await.unwrap_err()),
        Reason::AppDisabled,
        "its time has not come"
    );
    sleep(millis(1_700)).await;
    node.admit(&get("a")).await.unwrap().keep();
}

#[tokio::test(start_paused = true)]
async fn an_application_that_is_deleted_is_unknown() {
    let node = start(memory());
    let kept = node.app("a").unwrap();
    node.admit(&get("a")).await.unwrap().keep();
    node.ledger().delete_app(&cluster(), kept.id()).await.unwrap();
    sleep(millis(300)).await;
    assert_eq!(reason(&node.admit(&get("a")).await.unwrap_err()), Reason::UnknownApp);
    assert!(node.app("a").is_none());
    assert_balanced(node.ledger()).await;
}

/// What is given back by name goes to whoever paid: the application that strangers are counted as, or nobody in shadow mode.
#[tokio::test(start_paused = true)]
async fn a_permit_of_a_stranger_or_in_shadow_mode_is_undone_where_it_was_paid() {
    let strangers = Some(AppId::new("a").unwrap());
    let node = Node::start(memory(), Setup { strangers, ..setup("n") }, &policy());
    node.admit(&get("nobody").with_cost(100)).await.unwrap().keep();
    let host = node.app("a").unwrap();
    let held = host.held();
    let permit = node.check(&get("nobody")).unwrap();
    assert_eq!(host.held(), held.minus(Tokens::whole(1)));
    assert_ne!(permit.decision().limit, Tokens::ZERO, "it is told of its host's limit");
    drop(permit);
    assert_eq!((host.held(), host.counts().rolled_back), (held, 1));

    node.admit(&get("shadow").with_cost(3)).await.unwrap().keep();
    let shadow = node.app("shadow").unwrap();
    let before = (shadow.held(), shadow.counts().rolled_back);
    let permit = node.check(&get("shadow").with_cost(3)).unwrap();
    assert!(matches!(permit.decision().verdict, Verdict::Shadowed(_)));
    drop(permit);
    assert_eq!((shadow.held(), shadow.counts().rolled_back), before, "nothing was paid");
}

/// A permit by name outlives changes of other applications, but gives nothing to another that is called like its own.
#[tokio::test(start_paused = true)]
async fn a_permit_by_name_is_given_back_to_whoever_paid() {
    let node = start(memory());
    node.admit(&get("a").with_cost(100)).await.unwrap().keep();
    let first = node.app("a").unwrap();
    let held = first.held();
    let (early, late) = (node.check(&get("a")).unwrap(), node.check(&get("a")).unwrap());
    node.ledger().delete_app(&cluster(), node.app("p0").unwrap().id()).await.unwrap();
    sleep(millis(300)).await;
    assert!(node.app("p0").is_none());
    drop(early);
    assert_eq!(first.counts().rolled_back, 1, "it is the same although others have gone");
    assert!(first.held() <= held);

    node.ledger().delete_app(&cluster(), first.id()).await.unwrap();
    sleep(millis(300)).await;
    assert_eq!(late.decision().limit, Tokens::ZERO, "nothing is known of it any more");
    node.ledger().put_app(&cluster(), &put("a", &policy().apps()["a"], 0)).await.unwrap();
    sleep(Duration::from_secs(2)).await;
    let second = node.app("a").unwrap();
    drop(late);
    assert_eq!((second.counts().rolled_back, first.counts().rolled_back), (0, 1));
    node.shut_down(Duration::from_secs(1)).await;
    assert_balanced(node.ledger()).await;
}

#[tokio::test(start_paused = true)]
async fn p06_an_emergency_reaches_leases_that_are_out() {
    let node = start(memory());
    for app in ["p0", "p3"] {
        drive(&node, app, 8, Duration::from_secs(1)).await;
        assert!(!node.app(app).unwrap().held().is_zero());
    }
    node.ledger().declare_emergency(&cluster(), "drill", Millis::from_secs(300)).await.unwrap();
    sleep(millis(130)).await;
    assert_eq!(reason(&node.admit(&get("p3")).await.unwrap_err()), Reason::EmergencyBlocked);
    node.admit(&get("p0")).await.unwrap().keep();
    node.ledger().end_emergency(&cluster()).await.unwrap();
    sleep(millis(300)).await;
    node.admit(&get("p3")).await.unwrap().keep();
}

/// A hundred a second are let through without a ledger: a tenth of it to priority 2 while the emergency lasts that the node was told of.
#[tokio::test(start_paused = true)]
async fn p06_an_emergency_goes_on_without_the_ledger_until_its_end() {
    let node = start(memory());
    for app in ["p3", "a"] {
        drive(&node, app, 8, Duration::from_secs(1)).await;
    }
    node.ledger().declare_emergency(&cluster(), "drill", Millis::from_secs(60)).await.unwrap();
    sleep(millis(500)).await;
    let announced = |app: &str| {
        let reports = node.ledger().reports();
        let entries = reports.iter().rev().flat_map(|(_, report)| &report.entries);
        entries.filter(|entry| *entry.app == *app).map(|entry| entry.fallback).next().unwrap()
    };
    assert_eq!((announced("p3"), announced("a")), (Rate::ZERO, Rate::per_second(10)));
    node.ledger().feel(Mood::Gone);
    sleep(Duration::from_secs(6)).await;
    assert_eq!(drive(&node, "p3", 10, Duration::from_secs(10)).await, 0);
    let refused = node.admit(&get("p3")).await.unwrap_err();
    assert_eq!(reason(&refused), Reason::EmergencyBlocked);
    assert!((40_000..45_000).contains(&refused.retry_after.unwrap().get()), "{refused:?}");
    let passed = drive(&node, "a", 10, Duration::from_secs(20)).await;
    assert!((195..=210).contains(&passed), "ten a second: {passed}");
    sleep(Duration::from_secs(30)).await;
    for app in ["p3", "a"] {
        let passed = drive(&node, app, 10, Duration::from_secs(20)).await;
        assert!((1_950..=2_110).contains(&passed), "a hundred a second for {app} after it: {passed}");
    }
    node.ledger().feel(Mood::Well);
    sleep(Duration::from_secs(3)).await;
    assert_eq!(announced("p3"), Rate::per_second(100));
}

#[tokio::test(start_paused = true)]
async fn a_large_request_passes_without_the_ledger_when_it_was_told_to_come_back() {
    let node = start(memory());
    drive(&node, "a", 8, Duration::from_secs(1)).await;
    node.ledger().feel(Mood::Gone);
    sleep(Duration::from_secs(6)).await;
    let large = get("a").with_cost(165);
    let refused = node.admit(&large).await.unwrap_err();
    sleep(millis(refused.retry_after.unwrap().get())).await;
    node.admit(&large).await.unwrap().keep();
    let never = node.admit(&get("a").with_cost(2_001)).await.unwrap_err();
    assert_eq!((reason(&never), never.retry_after), (Reason::LocalExhausted, None));
}

#[tokio::test(start_paused = true)]
async fn nobody_waits_for_a_ledger_that_is_silent() {
    let node = start(memory());
    drive(&node, "a", 1, Duration::from_secs(1)).await;
    node.ledger().feel(Mood::Silent);
    let mut longest = Duration::ZERO;
    let started = Instant::now();
    while started.elapsed() < Duration::from_secs(10) {
        let asked = Instant::now();
        let _ = node.admit(&get("a").with_cost(3)).await.map(tollgate_node::Permit::keep);
        longest = longest.max(asked.elapsed());
        sleep(millis(1)).await;
    }
    // On the test's clock, which stands still unless somebody waits.
    assert!(longest <= millis(51), "{longest:?}");
    let asked = Instant::now();
    let _ = node.admit(&get("a").with_cost(1_500)).await;
    assert_eq!(asked.elapsed(), Duration::ZERO, "nobody waits once the ledger is given up");
}

#[tokio::test(start_paused = true)]
async fn without_a_ledger_each_application_goes_on_as_its_policy_says() {
    let node = start(memory());
    for app in ["a", "shared", "closed"] {
        drive(&node, app, 10, Duration::from_secs(5)).await;
    }
    node.ledger().feel(Mood::Gone);
    // The lease that is out lasts for five seconds at most.
    sleep(Duration::from_secs(6)).await;
    let minute = Duration::from_mins(1);
    let passed = drive(&node, "a", 10, minute).await;
    assert!((5_900..=6_100).contains(&passed), "a hundred a second: {passed}");
    assert_eq!(drive(&node, "closed", 1, millis(500)).await, 0);
    let refused = node.admit(&get("closed")).await.unwrap_err();
    assert_eq!(reason(&refused), Reason::RedisConnectionFailed);
    let standing = node.standing()["c"];
    assert!(standing.is_cut_off);
    assert_eq!(standing.level, tollgate_core::degrade::Level::FailOpen);
}

/// As of a node with a name of its own whose clock was an hour ahead in its last life.
#[tokio::test(start_paused = true)]
async fn a_node_whose_clock_went_back_goes_on_alone_until_the_ledger_listens_to_it() {
    let ledger = memory();
    let first = start(ledger.clone());
    drive(&first, "a", 1, millis(500)).await;
    first.shut_down(Duration::from_secs(1)).await;
    let (node, hour) = (NodeId::new("n").unwrap(), 3_600_000_000);
    let incarnation = wall().get() * 1_000 + hour;
    let (silence, entries) = (Millis::from_secs(1), Vec::new());
    let sync = Sync { node, incarnation, seq: 1, acked: 0, epoch: 0, silence, entries };
    ledger.sync(&cluster(), &sync).await.unwrap();
    let before = view(&ledger, "a").await.total_consumed;
    let node = start(ledger.clone());
    // An idle node says its first word after a second.
    sleep(millis(1_150)).await;
    let (calls, started) = (ledger.heard("sync").len(), Instant::now());
    assert!(node.standing()["c"].is_cut_off);
    let mut passed = drive(&node, "a", 10, Duration::from_secs(6)).await;
    assert!((580..=630).contains(&passed), "a hundred a second: {passed}");
    assert!(started.elapsed() < millis(6_100), "nobody waits: {:?}", started.elapsed());
    passed += drive(&node, "a", 1, Duration::from_secs(6)).await;
    assert!(!node.standing()["c"].is_cut_off);
    let calls = ledger.heard("sync").len() - calls;
    assert!(calls < 60, "{calls} calls");
    let more = drive(&node, "a", 8, Duration::from_secs(5)).await;
    assert!(more > 3_900, "{more}");
    sleep(millis(300)).await;
    assert_eq!(view(&ledger, "a").await.total_consumed - before, passed + more, "everything was reported");
    assert_balanced(&ledger).await;
}

#[tokio::test(start_paused = true)]
async fn two_nodes_of_one_name_overtake_each_other_now_and_then() {
    let ledger = memory();
    let first = start(ledger.clone());
    drive(&first, "a", 1, millis(500)).await;
    let nodes = [first, start(ledger.clone())];
    let before = ledger.heard("sync").len();
    for _ in 0..10 {
        for node in &nodes {
            drive(node, "a", 1, millis(500)).await;
        }
    }
    let calls = ledger.heard("sync").len() - before;
    assert!(calls <= 450, "{calls} calls in ten seconds");
    assert_balanced(&ledger).await;
}

#[tokio::test(start_paused = true)]
async fn a_share_of_what_it_had_is_what_it_keeps() {
    let node = start(memory());
    let had = drive(&node, "shared", 8, Duration::from_secs(10)).await / 10;
    node.ledger().feel(Mood::Gone);
    sleep(Duration::from_secs(6)).await;
    let passed = drive(&node, "shared", 20, Duration::from_secs(30)).await / 30;
    assert!(passed.abs_diff(had / 2) <= had / 20, "{passed} of {had}");
}

#[tokio::test(start_paused = true)]
async fn what_passed_in_an_outage_is_reported_after_it() {
    let node = start(memory());
    let mut passed = drive(&node, "a", 5, Duration::from_secs(2)).await;
    node.ledger().feel(Mood::Silent);
    passed += drive(&node, "a", 5, Duration::from_secs(20)).await;
    node.ledger().feel(Mood::Well);
    passed += drive(&node, "a", 5, Duration::from_secs(3)).await;
    assert!(!node.standing()["c"].is_cut_off);
    sleep(millis(300)).await;
    assert_eq!(view(node.ledger(), "a").await.total_consumed, passed);
    assert_balanced(node.ledger()).await;
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_got_lost_is_asked_for_again() {
    let node = start(memory());
    let mut passed = drive(&node, "a", 5, Duration::from_secs(1)).await;
    for _ in 0..20 {
        node.ledger().feel(Mood::Mute);
        passed += drive(&node, "a", 5, millis(300)).await;
        node.ledger().feel(Mood::Well);
        passed += drive(&node, "a", 5, millis(700)).await;
    }
    sleep(millis(500)).await;
    assert_eq!(view(node.ledger(), "a").await.total_consumed, passed, "counted once");
    assert_balanced(node.ledger()).await;
}

#[tokio::test(start_paused = true)]
async fn a_slow_ledger_is_asked_less_often_for_more() {
    use tollgate_core::degrade::Level;
    let node = start(memory());
    for (delay, level, most) in [(30, Level::Mild, 40), (200, Level::Significant, 30)] {
        node.ledger().feel(Mood::Slow(millis(delay)));
        drive(&node, "a", 8, Duration::from_secs(5)).await;
        assert_eq!(node.standing()["c"].level, level);
        let before = node.standing()["c"].calls.made;
        drive(&node, "a", 8, Duration::from_secs(10)).await;
        let calls = node.standing()["c"].calls.made - before;
        assert!(calls <= most, "{calls} calls in ten seconds at {delay} ms");
    }
    node.ledger().feel(Mood::Well);
    drive(&node, "a", 8, Duration::from_secs(8)).await;
    assert_eq!(node.standing()["c"].level, Level::Normal);
    assert_balanced(node.ledger()).await;
}

#[tokio::test(start_paused = true)]
async fn a_ledger_that_lost_everything_is_filled_again() {
    let node = start(memory());
    drive(&node, "a", 5, Duration::from_secs(2)).await;
    let version = node.standing()["c"].version;
    node.ledger().replace(empty());
    let passed = drive(&node, "a", 5, Duration::from_secs(5)).await;
    assert!(passed > 2_000, "{passed}");
    assert!(node.standing()["c"].version > version);
    assert_balanced(node.ledger()).await;
}

#[tokio::test(start_paused = true)]
async fn nodes_share_fairly_and_together_get_what_was_promised() {
    let ledger = memory();
    let nodes: Vec<_> =
        (0..8).map(|i| Node::start(ledger.clone(), setup(&format!("n{i}")), &policy())).collect();
    let started = Instant::now();
    let mut runs = tokio::task::JoinSet::new();
    for (i, node) in (0..).zip(nodes) {
        runs.spawn(async move {
            sleep(Duration::from_millis(1) * i).await;
            // Together five times what was promised.
            drive(&node, "a", 6, Duration::from_secs(30)).await
        });
    }
    let passed: Vec<u64> = runs.join_all().await;
    let sum: u64 = passed.iter().sum();
    let most = 2_000 + u64::try_from(started.elapsed().as_millis()).unwrap();
    assert!(sum <= most, "{sum} of {most}");
    assert!(sum * 100 >= most * 99, "{sum} of {most}");
    let squares: u64 = passed.iter().map(|n| n * n).sum();
    #[allow(clippy::cast_precision_loss, reason = "small numbers")]
    let jain = (sum * sum) as f64 / (8 * squares) as f64;
    assert!(jain >= 0.99, "{jain} of {passed:?}");
    assert_balanced(&ledger).await;
}

#[tokio::test(start_paused = true)]
async fn p09_a_reservation_goes_through_the_node() {
    let node = start(memory());
    sleep(millis(10)).await;
    let (id, reservation) = node.reserve("a", 400, Millis::from_secs(60)).await.unwrap();
    assert_eq!(reservation.estimate, Tokens::whole(400));
    let again = id.to_string().parse().unwrap();
    let settled = node.complete(&again, 150).await.unwrap();
    assert_eq!(settled.refund, Tokens::whole(250));
    assert_eq!(node.cancel(&id).await, Err(tollgate_node::EndError::Unknown));
    let refused = node.reserve("a", 900_000, Millis::from_secs(60)).await.unwrap_err();
    assert_eq!(reason(&refused), Reason::AppExhausted);
    node.ledger().feel(Mood::Silent);
    let refused = node.reserve("a", 1, Millis::from_secs(60)).await.unwrap_err();
    assert_eq!(reason(&refused), Reason::RedisTimeout);
}

#[tokio::test(start_paused = true)]
async fn connections_are_limited_by_the_policy_across_nodes() {
    let ledger = memory();
    let nodes = ["n1", "n2"].map(|name| Node::start(ledger.clone(), setup(name), &policy()));
    let client = std::net::IpAddr::from([127, 0, 0, 1]);
    let mut open = Vec::new();
    let refused = loop {
        match nodes[open.len() % 2].connect("few", client).await {
            Ok(guard) => open.push(guard),
            Err(refused) => break refused,
        }
    };
    assert_eq!((open.len(), refused.reason), (7, Reason::AppLimitExceeded));
    open.clear();
    sleep(Duration::from_secs(5)).await;
    assert!(nodes[1].connect("few", client).await.is_ok());
    assert_eq!(nodes[0].connect("nobody", client).await.unwrap_err().reason, Reason::UnknownApp);
}

/// More policies than fit on a page, and then one at a time.
#[tokio::test(start_paused = true)]
async fn limits_of_connections_follow_the_policies_that_a_node_reads() {
    let named = |i: u32| format!("app-{i}");
    let app = |id: String| json!({"id": id, "guaranteed_quota": 1, "burst_quota": 1, "max_connections": 2});
    let many: Vec<_> = (0..600).map(|i| app(named(i))).collect();
    let many =
        Policy::from_value(&json!({"clusters": [{"id": "c", "capacity": 100_000}], "apps": many})).unwrap();
    let ledger = memory();
    let _first = Node::start(ledger.clone(), setup("n1"), &many);
    sleep(Duration::from_secs(2)).await;
    let node = Node::start(ledger.clone(), setup("n2"), &policy());
    sleep(Duration::from_secs(2)).await;
    let client = std::net::IpAddr::from([127, 0, 0, 1]);
    let open = async |app: &str, wanted: usize| {
        let mut open = Vec::new();
        while open.len() < wanted
            && let Ok(guard) = node.connect(app, client).await
        {
            open.push(guard);
        }
        open.len()
    };
    for app in ["app-0", "app-300", "app-599"] {
        assert_eq!(open(app, 9).await, 2, "{app}");
    }
    assert_eq!(open("few", 1).await, 0, "it is in the node's file, but not in the ledger");

    sleep(Duration::from_secs(5)).await;
    let mut policy = many.apps()["app-0"].clone();
    policy.connections.max = 4;
    policy.connections.burst = 4;
    for name in ["app-0", "new"] {
        ledger.put_app(&cluster(), &put(name, &policy, 0)).await.unwrap();
    }
    ledger.delete_app(&cluster(), &AppId::new("app-300").unwrap()).await.unwrap();
    sleep(Duration::from_secs(2)).await;
    let opened =
        [open("app-0", 9).await, open("new", 9).await, open("app-300", 9).await, open("app-599", 9).await];
    assert_eq!(opened, [4, 4, 0, 2]);
}

#[tokio::test(start_paused = true)]
async fn after_days_without_the_ledger_a_node_is_not_taken_for_a_sign_of_lost_memory() {
    let node = start(memory());
    let mut passed = drive(&node, "a", 5, Duration::from_secs(1)).await;
    let epoch = node.standing()["c"].epoch;
    node.ledger().feel(Mood::Gone);
    sleep(Duration::from_hours(25)).await;
    node.ledger().feel(Mood::Well);
    passed += drive(&node, "a", 5, Duration::from_secs(3)).await;
    assert_eq!(node.standing()["c"].epoch, epoch);
    sleep(millis(300)).await;
    assert_eq!(view(node.ledger(), "a").await.total_consumed, passed);
    assert_balanced(node.ledger()).await;
}

#[tokio::test(start_paused = true)]
async fn while_there_is_plenty_the_ledger_is_spoken_to_less_often() {
    let node = Node::start(memory(), Setup::new(NodeId::new("n").unwrap()), &policy());
    let passed = drive(&node, "a", 4, Duration::from_secs(5)).await;
    assert_eq!(passed, 2_000, "within its guarantee");
    let before = node.standing()["c"].calls.made;
    drive(&node, "a", 4, Duration::from_secs(10)).await;
    let calm = node.standing()["c"].calls.made - before;
    assert!((8..=25).contains(&calm), "{calm} calls in ten seconds");

    // Five times what it was promised: nothing is left over, and what comes up is fetched at once.
    drive(&node, "a", 50, Duration::from_secs(5)).await;
    let before = node.standing()["c"].calls.made;
    drive(&node, "a", 50, Duration::from_secs(10)).await;
    let short = node.standing()["c"].calls.made - before;
    assert!(short >= 80, "{short} calls in ten seconds");
    sleep(millis(2_000)).await;
    assert_balanced(node.ledger()).await;
}

/// However rarely a calm node speaks, it hears of changes at once; and should it not, with the next answer.
#[tokio::test(start_paused = true)]
async fn a_calm_node_hears_of_an_emergency_at_once() {
    async fn hears_of_it_within<L: Ledger + Slots + 'static>(ledger: L, time: Duration) {
        let node = Node::start(ledger, Setup::new(NodeId::new("n").unwrap()), &policy());
        drive(&node, "p3", 2, Duration::from_secs(5)).await;
        node.ledger().declare_emergency(&cluster(), "drill", Millis::from_secs(300)).await.unwrap();
        sleep(time).await;
        assert_eq!(reason(&node.admit(&get("p3")).await.unwrap_err()), Reason::EmergencyBlocked);
    }
    hears_of_it_within(empty(), millis(10)).await;
    // This one tells nobody of anything.
    hears_of_it_within(memory(), millis(1_300)).await;
}

/// A node that was calm when the tokens got short fetches what comes up as soon as any other would.
#[tokio::test(start_paused = true)]
async fn a_shortage_ends_the_calm_at_once() {
    let node = Node::start(memory(), Setup::new(NodeId::new("n").unwrap()), &policy());
    drive(&node, "a", 4, Duration::from_secs(10)).await;
    // Others take all that was left.
    let left = view(node.ledger(), "a").await.account.rights;
    node.ledger().acquire(&cluster(), node.app("a").unwrap().id(), left).await.unwrap();
    let (mut last, mut longest) = (Instant::now(), Duration::ZERO);
    for _ in 0..500 {
        if drive(&node, "a", 50, millis(10)).await > 0 {
            longest = longest.max(last.elapsed());
            last = Instant::now();
        }
    }
    assert!(longest <= millis(250), "nothing passed for {longest:?}");
}

#[tokio::test(start_paused = true)]
async fn a_refused_connection_is_a_decision_and_no_demand_for_tokens() {
    let node = start(memory());
    let reason = Reason::AppLimitExceeded;
    let in_a_second = Some(Millis::from_secs(1));
    let refused = connection::Refused { reason, limit: 1, current: 1, retry_after: in_a_second };
    let (app, ghost) = (node.app("a").unwrap(), node.app("shadow").unwrap());
    let decision = node.crowd_out(&app, &get("a").with_cost(7), &refused).unwrap_err();
    assert_eq!((decision.verdict, decision.tier), (Verdict::Refused(reason), Tier::App));
    assert_eq!((decision.retry_after, decision.price.cost()), (in_a_second, 7));
    assert_eq!((app.counts().refused_for(reason), app.counts().refused_cost), (1, 0));
    // Shadow mode counts it for that reason alone, whether or not it could have paid.
    for cost in [1, 700] {
        let permit = node.crowd_out(&ghost, &get("shadow").with_cost(cost), &refused).unwrap();
        assert_eq!(
            (permit.decision().verdict, permit.decision().tier),
            (Verdict::Shadowed(reason), Tier::App)
        );
        permit.keep();
    }
    let counts = ghost.counts();
    let shadowed = Reason::ALL.iter().zip(counts.shadowed).filter(|(_, count)| *count > 0);
    assert_eq!(shadowed.collect::<Vec<_>>(), [(&reason, 2)]);
    assert_eq!((counts.passed(), counts.refused_cost), (Spending::default(), 0));
}
