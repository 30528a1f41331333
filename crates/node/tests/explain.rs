//! Decisions are explained by whichever node has them, over nothing but the ledger that the nodes share.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may panic")]

mod support;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use support::{clock, cluster, get, millis, policy, setup};
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep};
use tollgate_config::Policy;
use tollgate_core::id::ClusterId;
use tollgate_ledger::question::{Asked, MAX_ANSWER, MAX_OPEN, Question};
use tollgate_ledger::script::{Channels, Engine, EngineError, MluaEngine, Script, ScriptLedger, Value};
use tollgate_ledger::{Ledger, LedgerError, Notices};
use tollgate_node::{DecisionId, Node, Record, Unexplained};

/// A store that nodes share, which counts what it is asked and may be out of reach.
#[derive(Clone)]
struct Shared {
    engine: MluaEngine,
    calls: Arc<Mutex<BTreeMap<&'static str, usize>>>,
    is_gone: Arc<AtomicBool>,
}

type Peer = Node<ScriptLedger<Shared>>;

impl Shared {
    fn new() -> Self {
        let engine = MluaEngine::new(clock()).unwrap();
        Self { engine, calls: Arc::default(), is_gone: Arc::default() }
    }

    fn ledger(&self) -> ScriptLedger<Self> {
        ScriptLedger::new(self.clone())
    }

    async fn join(&self, name: &str) -> Peer {
        self.join_with(name, &policy()).await
    }

    /// A node that has found its feet.
    async fn join_with(&self, name: &str, policy: &Policy) -> Peer {
        let node = Node::start(self.ledger(), setup(name), policy);
        sleep(Duration::from_secs(2)).await;
        node
    }

    fn calls(&self, script: &str) -> usize {
        self.calls.lock().unwrap().get(script).copied().unwrap_or(0)
    }
}

impl Engine for Shared {
    async fn eval(&self, script: &Script, key: &str, args: Vec<Vec<u8>>) -> Result<Value, EngineError> {
        if self.is_gone.load(Ordering::Relaxed) {
            return Err(EngineError::Connection("refused".into()));
        }
        *self.calls.lock().unwrap().entry(script.name).or_default() += 1;
        self.engine.eval(script, key, args).await
    }

    fn notices(&self, channels: &Channels) -> Notices {
        self.engine.notices(channels)
    }
}

/// A refusal that a node recorded.
async fn refusal(node: &Peer) -> Record {
    let decision = node.admit(&get("off")).await.unwrap_err();
    node.explain(node.record("off", &decision)).unwrap()
}

/// Asks in the background.
fn ask(node: &Peer, id: DecisionId) -> JoinHandle<Result<Record, Unexplained>> {
    let node = node.clone();
    tokio::spawn(async move { node.explain_anywhere(id).await })
}

fn made_up(number: u128) -> DecisionId {
    format!("{number:032x}").parse().unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_refusal_is_explained_by_a_node_that_did_not_make_it() {
    let shared = Shared::new();
    let (first, second) = (shared.join("n1").await, shared.join("n2").await);
    let record = refusal(&first).await;
    assert_eq!(second.explain(record.id), None);
    assert_eq!(second.explain_anywhere(record.id).await, Ok(record.clone()));
    assert_eq!((shared.calls("ask"), shared.calls("answer")), (1, 1));
    assert_eq!(first.explain_anywhere(record.id).await, Ok(record));
    assert_eq!(shared.calls("ask"), 1, "whoever has it asks nobody");
}

#[tokio::test(start_paused = true)]
async fn what_nobody_has_takes_a_second_and_a_few_calls() {
    let shared = Shared::new();
    let (_first, second) = (shared.join("n1").await, shared.join("n2").await);
    let start = Instant::now();
    let answer = second.explain_anywhere(made_up(7)).await;
    assert_eq!(answer, Err(Unexplained::Unknown { others: Some(1) }));
    // The clock of the test stands still but for what is waited for.
    assert!(start.elapsed() <= millis(1_100), "{:?}", start.elapsed());
    assert_eq!(["ask", "answer", "answer_to"].map(|script| shared.calls(script)), [1, 0, 7]);
}

#[tokio::test(start_paused = true)]
async fn a_node_that_is_alone_waits_for_nobody() {
    let shared = Shared::new();
    let node = shared.join("n1").await;
    let start = Instant::now();
    assert_eq!(node.explain_anywhere(made_up(7)).await, Err(Unexplained::Unknown { others: Some(0) }));
    assert_eq!((start.elapsed(), shared.calls("ask"), shared.calls("answer_to")), (Duration::ZERO, 1, 0));
}

#[tokio::test(start_paused = true)]
async fn while_nobody_asks_nothing_is_called() {
    let shared = Shared::new();
    let (_first, _second) = (shared.join("n1").await, shared.join("n2").await);
    sleep(Duration::from_mins(1)).await;
    assert_eq!(["ask", "answer", "answer_to"].map(|script| shared.calls(script)), [0, 0, 0]);
}

/// However many ids are made up, a node asks about four at a time, and about each of them once.
#[tokio::test(start_paused = true)]
async fn a_flood_of_ids_is_a_trickle_of_questions() {
    let shared = Shared::new();
    let (_first, second) = (shared.join("n1").await, shared.join("n2").await);
    let asking: Vec<_> = (0..500).map(|number| ask(&second, made_up(number % 100))).collect();
    let (mut unknown, mut busy) = (0, 0);
    for answer in asking {
        match answer.await.unwrap() {
            Err(Unexplained::Unknown { .. }) => unknown += 1,
            Err(Unexplained::Busy) => busy += 1,
            other => panic!("{other:?}"),
        }
    }
    assert_eq!((unknown, busy), (20, 480), "four ids, each asked for five times");
    assert_eq!((shared.calls("ask"), shared.calls("answer_to")), (4, 28));
    assert_eq!(second.explain_anywhere(made_up(99)).await, Err(Unexplained::Unknown { others: Some(1) }));
}

/// However many nodes ask, so many questions are open in a cluster and no more.
#[tokio::test(start_paused = true)]
async fn a_cluster_that_is_asked_too_much_says_so() {
    let shared = Shared::new();
    let (first, second) = (shared.join("n1").await, shared.join("n2").await);
    let record = refusal(&first).await;
    for name in 0..MAX_OPEN as u128 {
        let question = Question { name, text: "whatever".into() };
        assert_eq!(shared.ledger().ask(&cluster(), &question).await, Ok(Asked::Told(Some(2))));
    }
    assert_eq!(second.explain_anywhere(record.id).await, Err(Unexplained::Busy));
    sleep(Duration::from_secs(2)).await;
    assert_eq!(second.explain_anywhere(record.id).await, Ok(record));
}

/// Whoever can write to the ledger can answer anything. What is no record of the decision is as if nobody had said it, and
/// does not keep whoever knows from being heard.
#[tokio::test(start_paused = true)]
async fn what_strangers_answer_is_not_believed() {
    let shared = Shared::new();
    let (first, second) = (shared.join("n1").await, shared.join("n2").await);
    let other = refusal(&first).await;
    let ledger = shared.ledger();
    let mut notices = ledger.notices(&cluster());
    let asking = ask(&second, other.id);
    let name = notices.next_question().await.name;
    assert_eq!(asking.await.unwrap(), Ok(other.clone()));
    let text = ledger.answer_to(&cluster(), name).await.unwrap().unwrap();
    let long = ["x", "["].map(|text| text.repeat(MAX_ANSWER));
    for (number, answer) in ["", "no", "{}", &text, &long[0], &long[1]].iter().enumerate() {
        let asking = ask(&second, made_up(number as u128));
        let name = notices.next_question().await.name;
        assert!(ledger.answer(&cluster(), name, answer).await.unwrap());
        assert!(!ledger.answer(&cluster(), name ^ 1, &text).await.unwrap(), "nobody asked that");
        assert_eq!(asking.await.unwrap(), Err(Unexplained::Unknown { others: Some(2) }), "{answer:.40}");
    }
    // Somebody who knows, and says so later.
    let record = Record { id: made_up(42), ..other.clone() };
    let asking = ask(&second, record.id);
    let name = notices.next_question().await.name;
    assert!(ledger.answer(&cluster(), name, "no").await.unwrap());
    sleep(millis(100)).await;
    let text = text.replace(&other.id.to_string(), &record.id.to_string());
    assert!(ledger.answer(&cluster(), name, &text).await.unwrap());
    assert_eq!(asking.await.unwrap(), Ok(record));
}

#[tokio::test(start_paused = true)]
async fn without_the_ledger_the_others_cannot_be_asked() {
    let shared = Shared::new();
    let (first, second) = (shared.join("n1").await, shared.join("n2").await);
    let record = refusal(&first).await;
    shared.is_gone.store(true, Ordering::Relaxed);
    let Err(Unexplained::Unasked(why)) = second.explain_anywhere(record.id).await else {
        panic!("nobody can know whether it exists")
    };
    assert_eq!(why, LedgerError::Connection("refused".into()));
    assert_eq!(first.explain_anywhere(record.id).await, Ok(record), "whoever has it needs no ledger");
}

/// A look for the answer that fails is made up for by the next.
#[tokio::test(start_paused = true)]
async fn a_moment_without_the_ledger_is_forgiven() {
    let shared = Shared::new();
    let (first, second) = (shared.join("n1").await, shared.join("n2").await);
    let record = refusal(&first).await;
    let asking = ask(&second, record.id);
    while shared.calls("answer") == 0 {
        tokio::task::yield_now().await;
    }
    shared.is_gone.store(true, Ordering::Relaxed);
    sleep(millis(15)).await;
    shared.is_gone.store(false, Ordering::Relaxed);
    assert_eq!((asking.await.unwrap(), shared.calls("answer_to")), (Ok(record), 1));
}

/// Nodes find each other by any cluster that they share.
#[tokio::test(start_paused = true)]
async fn nodes_that_share_one_of_their_clusters_answer_each_other() {
    let shared = Shared::new();
    let of = |clusters: &[&str]| {
        let clusters: Vec<_> =
            clusters.iter().map(|id| serde_json::json!({"id": id, "capacity": 1_000})).collect();
        Policy::from_value(&serde_json::json!({"clusters": clusters, "apps": []})).unwrap()
    };
    let first = shared.join_with("n1", &of(&["x", "y"])).await;
    let second = shared.join_with("n2", &of(&["y", "z"])).await;
    assert!(first.standing().contains_key(&ClusterId::new("x").unwrap()));
    let record = refusal(&first).await;
    assert_eq!(second.explain_anywhere(record.id).await, Ok(record));
}
