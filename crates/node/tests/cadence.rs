//! How often a node speaks to its ledger, and that many who need it share what it says. The runtime's clock is in the
//! hands of the test: it moves only when nobody has anything to do.
#![allow(clippy::unwrap_used, reason = "tests")]

mod support;

use serde_json::json;
use std::time::Duration;
use support::{Memory, Mood, drive, get, memory, millis, setup, start};
use tokio::task::{JoinSet, yield_now};
use tokio::time::{Instant, sleep};
use tollgate_config::Policy;
use tollgate_core::units::Millis;
use tollgate_node::{Node, ReservationId, Setup};

/// A policy with plenty of everything, so that only time and counts matter.
fn plenty() -> Policy {
    Policy::from_value(&json!({
        "clusters": [{"id": "c", "capacity": 10_000_000}],
        "apps": [{"id": "a", "guaranteed_quota": 1_000_000, "burst_quota": 2_000_000}],
    }))
    .unwrap()
}

fn syncs(node: &Node<Memory>) -> usize {
    node.ledger().heard("sync").len()
}

/// Milliseconds between one and the next.
fn gaps(times: &[Instant]) -> Vec<u64> {
    times.windows(2).map(|pair| u64::try_from((pair[1] - pair[0]).as_millis()).unwrap()).collect()
}

/// Waits until the node has reported once more.
async fn next_report(node: &Node<Memory>) {
    let before = syncs(node);
    while syncs(node) == before {
        sleep(millis(1)).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_hundred_misses_share_one_call() {
    let node = start(memory());
    sleep(millis(20)).await;
    node.ledger().feel(Mood::Slow(millis(5)));
    let before = syncs(&node);
    let mut asking = JoinSet::new();
    for _ in 0..100 {
        let node = node.clone();
        asking.spawn(async move { node.admit(&get("a")).await.map(tollgate_node::Permit::keep) });
    }
    let passed = asking.join_all().await;
    assert!(passed.iter().all(Result::is_ok));
    assert_eq!(syncs(&node) - before, 1);
    assert_eq!(node.app("a").unwrap().counts().misses, 100);
}

#[tokio::test(start_paused = true)]
async fn running_low_once_makes_one_refill() {
    let node = Node::start(memory(), setup("n"), &plenty());
    drive(&node, "a", 200, Duration::from_secs(1)).await;
    next_report(&node).await;
    // Long enough after the last report that another may follow, and long before the next is due.
    sleep(millis(15)).await;
    node.ledger().feel(Mood::Slow(millis(5)));
    let (app, before) = (node.app("a").unwrap(), syncs(&node));
    let full = app.held();
    while syncs(&node) == before {
        node.check(&get("a")).unwrap().keep();
        yield_now().await;
    }
    let low = app.held();
    assert!(low < full && !low.is_zero(), "{low:?} of {full:?}");
    for _ in 0..5 {
        node.check(&get("a")).unwrap().keep();
        yield_now().await;
    }
    sleep(millis(10)).await;
    assert_eq!(syncs(&node) - before, 1, "those who came later started none of their own");
    assert!(app.held() > low, "it has come");
}

/// Spends `requests` right after a report; returns whether the next came before the interval could be over.
async fn reports_early(batch_threshold: u64, requests: u64) -> bool {
    let mut setup = setup("n");
    setup.manners.batch_threshold = batch_threshold;
    let node = Node::start(memory(), setup, &plenty());
    // Whoever had much to report the last time is looked at, and holds enough not to run low here.
    drive(&node, "a", 200, Duration::from_secs(1)).await;
    let before = syncs(&node);
    while syncs(&node) < before + 2 {
        for _ in 0..20 {
            node.admit(&get("a")).await.unwrap().keep();
        }
        sleep(millis(1)).await;
    }
    let before = syncs(&node);
    for _ in 0..requests {
        node.check(&get("a")).unwrap().keep();
    }
    // Reports are 75 to 150 ms apart; batches are looked at twice in an interval of 100 ms.
    sleep(millis(60)).await;
    syncs(&node) > before
}

#[tokio::test(start_paused = true)]
async fn a_full_batch_is_reported_before_its_time() {
    assert!(reports_early(1_000, 1_000).await);
    assert!(!reports_early(1_000, 999).await);
    assert!(!reports_early(100_000, 1_000).await);
}

#[tokio::test(start_paused = true)]
async fn a_node_that_holds_nothing_is_heard_of_once_a_second() {
    let node = Node::start(memory(), Setup::new(setup("n").id), &plenty());
    sleep(Duration::from_millis(10_500)).await;
    let gaps = gaps(&node.ledger().heard("sync"));
    assert!(gaps.len() >= 9, "{gaps:?}");
    assert!(gaps.iter().all(|gap| (1_000..=1_001).contains(gap)), "{gaps:?}");
}

#[tokio::test(start_paused = true)]
async fn what_is_held_is_looked_at_once_a_second_though_there_is_no_news() {
    let node = start(memory());
    node.admit(&get("a")).await.unwrap().keep();
    sleep(Duration::from_millis(4_900)).await;
    let reports = node.ledger().reports();
    let told: Vec<Instant> =
        reports.iter().filter(|(_, sync)| !sync.entries.is_empty()).map(|(at, _)| *at).collect();
    let gaps = gaps(&told);
    // The interval is 100 ms: whoever has nothing to say is left out until a second has passed.
    let silent = gaps.iter().filter(|gap| **gap >= 1_000).count();
    assert!(silent >= 3, "{gaps:?}");
    assert!(gaps.iter().all(|gap| *gap <= 1_200), "{gaps:?}");
}

#[tokio::test(start_paused = true)]
async fn a_ledger_that_is_gone_is_tried_ever_more_seldom() {
    let node = start(memory());
    sleep(millis(500)).await;
    node.ledger().feel(Mood::Gone);
    let before = syncs(&node);
    sleep(Duration::from_secs(4)).await;
    let tried = node.ledger().heard("sync").split_off(before);
    let gaps = gaps(&tried);
    // Three failures ten milliseconds apart open the breaker, then its pauses double up to half a second.
    let expected = [10, 10, 100, 200, 400, 500, 500];
    assert!(gaps.len() >= expected.len(), "{gaps:?}");
    assert!(
        gaps.iter().zip(expected).all(|(gap, expected)| (expected..=expected + 1).contains(gap)),
        "{gaps:?}"
    );
    node.ledger().feel(Mood::Well);
    sleep(millis(600)).await;
    assert!(!node.standing()["c"].is_cut_off, "one probe brought it back");
}

async fn reserved(node: &Node<Memory>) -> ReservationId {
    sleep(millis(20)).await;
    node.reserve("a", 10, Millis::from_secs(60)).await.unwrap().0
}

/// How long ending a reservation takes, either way.
async fn ending_takes(node: &Node<Memory>, id: &ReservationId) -> [Duration; 2] {
    let started = Instant::now();
    assert!(node.complete(id, 5).await.is_err());
    let completed = started.elapsed();
    assert!(node.cancel(id).await.is_err());
    [completed, started.elapsed().saturating_sub(completed)]
}

#[tokio::test(start_paused = true)]
async fn whoever_ends_a_reservation_waits_no_longer_than_others_and_later_not_at_all() {
    let node = start(memory());
    let id = reserved(&node).await;
    node.ledger().feel(Mood::Silent);
    let waits = ending_takes(&node, &id).await;
    assert!(waits.iter().all(|wait| *wait <= millis(51)), "{waits:?}");
    sleep(Duration::from_secs(3)).await;
    assert!(node.standing()["c"].is_cut_off);
    assert_eq!(ending_takes(&node, &id).await, [Duration::ZERO; 2], "the breaker is open");
    node.ledger().feel(Mood::Well);
    sleep(Duration::from_secs(2)).await;
    assert!(node.complete(&id, 5).await.is_ok());
}
