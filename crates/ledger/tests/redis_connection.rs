//! Slots on real servers: the same answers as the stand-in, on one server and on a cluster, and what becomes of them
//! when a server loses its memory.

#![cfg(all(feature = "redis", feature = "mlua"))]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may panic")]

mod connection_world;

use connection_world::{Node, Plan, app, clock};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use redis::cluster::ClusterClient;
use redis::{Client, Cmd, ConnectionLike};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::runtime::Runtime;
use tollgate_core::connection::{Limits, Shortage};
use tollgate_core::id::{ClusterId, NodeId};
use tollgate_core::units::Millis;
use tollgate_ledger::connection::{Counts, EventKind, Hold, NewEvent, Report};
use tollgate_ledger::script::{Engine, EngineError, MluaEngine, Script, ScriptLedger, Value};
use tollgate_ledger::{RedisEngine, Slots};
use tollgate_testkit::{RedisCluster, RedisServer};

const TIMEOUT: Duration = Duration::from_secs(5);

const LIMITS: Limits = Limits { max: 10, burst: 15 };

/// Runs each script on both and demands the same answer.
struct TwinEngine<C> {
    clock: Arc<AtomicU64>,
    stand_in: MluaEngine,
    server: RedisEngine,
    /// To set the server's clock.
    connection: Mutex<C>,
}

impl<C: ConnectionLike + Send> Engine for TwinEngine<C> {
    async fn eval(&self, script: &Script, key: &str, args: Vec<Vec<u8>>) -> Result<Value, EngineError> {
        let now = self.clock.load(Ordering::Relaxed);
        let set = Cmd::set(format!("{key}:now"), now);
        self.connection.lock().unwrap().req_command(&set).unwrap();
        let expected = self.stand_in.eval(script, key, args.clone()).await;
        let actual = self.server.eval(script, key, args).await;
        assert_eq!(sorted(script, &expected), sorted(script, &actual), "{} at {now}", script.name);
        actual
    }
}

/// The fields of a hash come in any order.
fn sorted(script: &Script, answer: &Result<Value, EngineError>) -> Result<Value, EngineError> {
    let fields = |value: &Value| match value {
        Value::Array(items) => {
            let mut pairs: Vec<String> = items.chunks(2).map(|pair| format!("{pair:?}")).collect();
            pairs.sort_unstable();
            Value::Bulk(pairs.concat().into())
        }
        other => other.clone(),
    };
    match answer {
        Ok(Value::Array(items)) if script.name == "connection_stats" => {
            Ok(Value::Array(items.iter().map(fields).collect()))
        }
        other => other.clone(),
    }
}

#[derive(Clone, Debug)]
enum Step {
    Wait(u64),
    Hold { node: usize, plans: Vec<Plan> },
    Again { node: usize },
    Crash { node: usize },
    Leave { node: usize },
    Report { node: usize, count: u64 },
}

fn any_step() -> impl Strategy<Value = Step> {
    let plan = (0..100usize, 0..=100u32, 0..12u32, 0..12u32).prop_map(|(app, kept, more, ahead)| Plan {
        app,
        kept,
        more,
        ahead,
        limits: LIMITS,
        lie: None,
    });
    let few = prop::collection::vec(plan.clone(), 0..4);
    let many = prop::collection::vec(plan, 70..90);
    prop_oneof![
        6 => prop_oneof![3 => 0..2_000u64, 1 => 2_000..40_000u64].prop_map(Step::Wait),
        12 => (0..4usize, few).prop_map(|(node, plans)| Step::Hold { node, plans }),
        1 => (0..4usize, many).prop_map(|(node, plans)| Step::Hold { node, plans }),
        2 => (0..4usize).prop_map(|node| Step::Again { node }),
        1 => (0..4usize).prop_map(|node| Step::Crash { node }),
        1 => (0..4usize).prop_map(|node| Step::Leave { node }),
        2 => (0..4usize, 0..9u64).prop_map(|(node, count)| Step::Report { node, count }),
    ]
}

/// Plays one history; the engine compares.
async fn play<E: Engine>(ledger: &ScriptLedger<E>, clock: &AtomicU64, cluster: &ClusterId, steps: &[Step]) {
    let mut nodes: Vec<Node> = (0..4).map(Node::new).collect();
    for step in steps {
        match step {
            Step::Wait(ms) => _ = clock.fetch_add(*ms, Ordering::Relaxed),
            Step::Hold { node, plans } => {
                let call = nodes[*node].call(plans, 100);
                let reply = ledger.hold(cluster, &call).await.unwrap();
                nodes[*node].take(&call, &reply);
            }
            Step::Again { node } => {
                if let Some(call) = nodes[*node].calls.last() {
                    let _ = ledger.hold(cluster, call).await;
                }
            }
            Step::Crash { node } => nodes[*node].crash(),
            Step::Leave { node } => {
                let call = Hold { is_leaving: true, ..nodes[*node].call(&[], 1) };
                let _ = ledger.hold(cluster, &call).await;
                nodes[*node].crash();
            }
            Step::Report { node, count } => {
                ledger.report_connections(cluster, &report(&nodes[*node].id, *count)).await.unwrap();
                ledger.connection_stats(cluster).await.unwrap();
                ledger.connection_events(cluster, &app(0), 20).await.unwrap();
            }
        }
    }
}

fn report(node: &NodeId, count: u64) -> Report {
    let counts = Counts { open: count, opened: count, ..Counts::default() };
    let event = NewEvent {
        app: app(0),
        age: Millis::new(count),
        kind: EventKind::ConnectionLeaked,
        count,
        client: Some("2001:db8::7".parse().unwrap()),
    };
    let apps = (0..5).map(|index| (app(index), counts)).collect();
    Report { node: node.clone(), totals: counts, apps, events: vec![event] }
}

/// Plays random histories, each on a cluster of its own name.
fn twin<C: ConnectionLike + Send>(url: &str, connection: C, cases: u32) {
    let runtime = Runtime::new().unwrap();
    let time = Arc::new(AtomicU64::new(0));
    let server = {
        let _guard = runtime.enter();
        RedisEngine::on_test_clock(url, TIMEOUT).unwrap()
    };
    let engine = TwinEngine {
        clock: Arc::clone(&time),
        stand_in: MluaEngine::new(clock(&time)).unwrap(),
        server,
        connection: Mutex::new(connection),
    };
    let ledger = ScriptLedger::new(engine);
    let names = AtomicU64::new(0);
    let mut runner = TestRunner::new(Config { cases, failure_persistence: None, ..Config::default() });
    let histories = prop::collection::vec(any_step(), 1..60);
    let outcome = runner.run(&histories, |steps| {
        time.store(1_700_000_000_000, Ordering::Relaxed);
        let cluster = format!("cluster-{}", names.fetch_add(1, Ordering::Relaxed));
        runtime.block_on(play(&ledger, &time, &ClusterId::new(&cluster).unwrap(), &steps));
        Ok(())
    });
    outcome.unwrap();
}

#[test]
fn p16_a_server_answers_as_the_stand_in_does() {
    let server = RedisServer::start().unwrap();
    let connection = Client::open(server.url()).unwrap().get_connection().unwrap();
    twin(&server.url(), connection, 60);
}

#[test]
fn p16_a_cluster_answers_as_the_stand_in_does() {
    let servers = RedisCluster::start().unwrap();
    let nodes = [servers.url().replace("+cluster", "")];
    let connection = ClusterClient::new(nodes).unwrap().get_connection().unwrap();
    twin(&servers.url(), connection, 20);
}

#[tokio::test]
async fn a_wiped_server_learns_what_nodes_hold_before_it_hands_out_more() {
    let server = RedisServer::start().unwrap();
    let ledger = ScriptLedger::new(RedisEngine::new(&server.url(), TIMEOUT).unwrap());
    let cluster = connection_world::cluster();
    let (mut first, mut second) = (Node::new(0), Node::new(1));
    for node in [&mut first, &mut second] {
        let call = node.call(&[Plan { more: 7, limits: LIMITS, ..Plan::of(0) }], 1);
        let reply = ledger.hold(&cluster, &call).await.unwrap();
        node.take(&call, &reply);
    }
    server.cli(&["FLUSHALL"]).unwrap();

    let call = first.call(&[Plan { more: 8, limits: LIMITS, ..Plan::of(0) }], 1);
    let reply = ledger.hold(&cluster, &call).await.unwrap();
    assert!(reply.is_partial);
    assert_eq!((reply.entries[0].slots, reply.entries[0].shortage), (7, Some(Shortage::Learning)));
    let reply = ledger.hold(&cluster, &second.present(LIMITS)).await.unwrap();
    assert_eq!((reply.entries[0].slots, reply.entries[0].app_total), (7, 14), "all is known again");
}

#[tokio::test]
async fn statistics_and_events_expire_by_themselves() {
    let server = RedisServer::start().unwrap();
    let ledger = ScriptLedger::new(RedisEngine::new(&server.url(), TIMEOUT).unwrap());
    let cluster = connection_world::cluster();
    ledger.report_connections(&cluster, &report(&Node::new(0).id, 3)).await.unwrap();
    for key in ["stats:node-0", "events:app-0"] {
        let ttl = server.cli(&["PTTL", &format!("ratelimit:{{cluster-01}}:conn:{key}")]).unwrap();
        assert!(ttl.trim().parse::<i64>().unwrap() > 0, "{key}: {ttl}");
    }
    assert_eq!(ledger.connection_stats(&cluster).await.unwrap()[0].apps.len(), 5);
}
