//! Questions of nodes to each other, on every ledger.

#![cfg(all(feature = "redis", feature = "mlua"))]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may panic")]

mod connection_world;

use connection_world::{clock, cluster, wait};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, Waker};
use std::time::Duration;
use tollgate_core::id::ClusterId;
use tollgate_ledger::question::{Asked, MAX_ANSWER, MAX_OPEN, MAX_QUESTION, QUESTION_TTL, Question};
use tollgate_ledger::script::{MluaEngine, ScriptLedger};
use tollgate_ledger::{Ledger, MemoryLedger, Notices, RedisEngine, RedisLedger};
use tollgate_testkit::{RedisCluster, RedisServer};

const PATIENCE: Duration = Duration::from_secs(30);

fn question(name: u128) -> Question {
    Question { name, text: format!("decision {name:032x}") }
}

/// The question that is there, if there is one.
fn heard(notices: &mut Notices) -> Option<Question> {
    match pin!(notices.next_question()).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(question) => Some(question),
        Poll::Pending => None,
    }
}

/// Questions are heard by all who listen, answered while they are open, and bounded in size and number.
fn story(time: &AtomicU64, ledger: &impl Ledger) {
    let other = ClusterId::new("another").unwrap();
    let (mut notices, mut elsewhere) = (ledger.notices(&cluster()), ledger.notices(&other));
    let mut second = notices.clone();
    let ask = |question: &Question| wait(ledger.ask(&cluster(), question)).unwrap();
    let answer = |name, text: &str| wait(ledger.answer(&cluster(), name, text)).unwrap();
    let answer_to = |name| wait(ledger.answer_to(&cluster(), name)).unwrap();

    assert!(!answer(1, "nobody asked") && answer_to(1).is_none());
    assert_eq!(ask(&question(1)), Asked::Told(Some(1)), "whoever has clones is told once");
    let third = ledger.notices(&cluster());
    assert_eq!(ask(&question(u128::MAX)), Asked::Told(Some(2)));
    drop(third);
    for listener in [&mut notices, &mut second] {
        let all = [(); 3].map(|()| heard(listener));
        assert_eq!(all, [Some(question(1)), Some(question(u128::MAX)), None]);
    }
    assert_eq!(heard(&mut elsewhere), None);
    assert_eq!(answer_to(1), None);
    assert!(answer(1, "größer\n"));
    assert_eq!((answer_to(1).as_deref(), answer_to(u128::MAX)), (Some("größer\n"), None));
    assert_eq!(wait(ledger.answer_to(&other, 1)).unwrap(), None);
    assert!(answer(1, &"x".repeat(MAX_ANSWER)), "the last one counts");
    assert!(!answer(1, &"y".repeat(MAX_ANSWER + 1)));
    assert_eq!(answer_to(1), Some("x".repeat(MAX_ANSWER)));

    time.fetch_add(QUESTION_TTL.get() - 1, Ordering::Relaxed);
    assert!(answer(u128::MAX, "just in time") && answer_to(1).is_some());
    time.fetch_add(1, Ordering::Relaxed);
    assert!(!answer(1, "too late") && answer_to(1).is_none() && answer_to(u128::MAX).is_none());

    let too_long = Question { name: 2, text: "x".repeat(MAX_QUESTION + 1) };
    assert_eq!(ask(&too_long), Asked::Refused);
    for name in 0..MAX_OPEN as u128 {
        assert_eq!(ask(&question(name)), Asked::Told(Some(1)));
        assert_eq!(heard(&mut notices), Some(question(name)));
    }
    assert_eq!(ask(&question(99)), Asked::Refused, "too many are open");
    assert_eq!(heard(&mut notices), None);
    assert_eq!(wait(ledger.ask(&other, &question(99))).unwrap(), Asked::Told(Some(1)), "but not there");
    time.fetch_add(QUESTION_TTL.get(), Ordering::Relaxed);
    drop((notices, second));
    assert_eq!(ask(&question(99)), Asked::Told(Some(0)), "nobody listens any more");
}

fn start() -> Arc<AtomicU64> {
    Arc::new(AtomicU64::new(1_700_000_000_000))
}

#[test]
fn questions_are_answered_in_memory() {
    let time = start();
    story(&time, &MemoryLedger::with_clock(clock(&time)));
}

#[test]
fn questions_are_answered_by_scripts() {
    let time = start();
    story(&time, &ScriptLedger::new(MluaEngine::new(clock(&time)).unwrap()));
}

fn ledger(url: &str) -> RedisLedger {
    ScriptLedger::new(RedisEngine::new(url, Duration::from_secs(5)).unwrap())
}

/// A question as another node hears it. The first ones are asked before it listens.
async fn heard_over_the_wire(asker: &RedisLedger, notices: &mut Notices) -> Question {
    let asking = async {
        let mut name = 1;
        loop {
            // A cluster that has just started may not be ready yet.
            let _ = asker.ask(&cluster(), &question(name)).await;
            name += 1;
            if let Ok(heard) = tokio::time::timeout(Duration::from_millis(200), notices.next_question()).await
            {
                return heard;
            }
        }
    };
    tokio::time::timeout(PATIENCE, asking).await.unwrap()
}

/// A question and its answer. A machine that has much to do may take longer than a question is open, so it is tried again.
async fn exchange(asker: &RedisLedger, other: &RedisLedger, notices: &mut Notices) {
    let answered = async {
        loop {
            let heard = heard_over_the_wire(asker, notices).await;
            let _ = other.answer(&cluster(), heard.name, "größer").await.unwrap();
            if let Some(answer) = asker.answer_to(&cluster(), heard.name).await.unwrap() {
                return answer;
            }
        }
    };
    assert_eq!(tokio::time::timeout(PATIENCE, answered).await.unwrap(), "größer");
}

#[tokio::test]
async fn questions_cross_a_server_and_leave_nothing_behind() {
    let server = RedisServer::start().unwrap();
    let (asker, other) = (ledger(&server.url()), ledger(&server.url()));
    let mut notices = other.notices(&cluster());
    exchange(&asker, &other, &mut notices).await;
    for key in ["questions", "answers"] {
        // It may have expired by now; what would never do so has -1.
        let ttl = server.cli(&["PTTL", &format!("ratelimit:{{cluster-01}}:{key}")]).unwrap();
        assert_ne!(ttl.trim(), "-1", "{key}");
    }
}

/// Whoever can write to the server can write anything: what no node would have written is not even fetched.
#[tokio::test]
async fn what_strangers_write_to_a_server_does_no_harm() {
    let server = RedisServer::start().unwrap();
    let (asker, other) = (ledger(&server.url()), ledger(&server.url()));
    let mut notices = other.notices(&cluster());
    let heard = heard_over_the_wire(&asker, &mut notices).await;
    for nonsense in ["", "decision", "0 1", "-1 x", "7"] {
        server.cli(&["PUBLISH", "ratelimit:questions:{cluster-01}", nonsense]).unwrap();
    }
    let name = format!("{:032x}", heard.name);
    server.cli(&["HSET", "ratelimit:{cluster-01}:answers", &name, &"x".repeat(MAX_ANSWER + 1)]).unwrap();
    assert_eq!(asker.answer_to(&cluster(), heard.name).await.unwrap(), None);
    assert_eq!(asker.ask(&cluster(), &question(7)).await.unwrap(), Asked::Told(Some(1)));
    // What was asked meanwhile may still be on its way.
    let next = async { while notices.next_question().await != question(7) {} };
    tokio::time::timeout(PATIENCE, next).await.unwrap();
}

#[tokio::test]
async fn questions_cross_a_cluster_of_servers() {
    let servers = RedisCluster::start().unwrap();
    let (asker, other) = (ledger(&servers.url()), ledger(&servers.url()));
    let mut notices = other.notices(&cluster());
    exchange(&asker, &other, &mut notices).await;
    let told = asker.ask(&cluster(), &question(0)).await.unwrap();
    assert_eq!(told, Asked::Told(None), "each of the servers counts its own");
}
