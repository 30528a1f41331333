//! Every script on a real server and on the stand-in, side by side: the same answers to the same history, on one
//! server and on a cluster. The stand-in is held to the book in Rust by `script_differential.rs`.

#![cfg(all(feature = "redis", feature = "mlua"))]
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use redis::cluster::ClusterClient;
use redis::{Client, Cmd, ConnectionLike};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::runtime::Runtime;
use tollgate_core::cost::Operation;
use tollgate_core::id::{AppId, ClusterId, NodeId};
use tollgate_core::priority::Priority;
use tollgate_core::quota::{Capacity, LoanTerms, Quota};
use tollgate_core::units::{Millis, Rate, Ratio, Tokens};
use tollgate_ledger::protocol::{AppPolicy, Carry, Entry, OperationUse, PutApp, Seed, Sync};
use tollgate_ledger::script::{Engine, EngineError, MluaEngine, Script, ScriptLedger, Value};
use tollgate_ledger::{Ledger, RedisEngine};
use tollgate_testkit::{RedisCluster, RedisServer};

const TIMEOUT: Duration = Duration::from_secs(5);

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
        assert_eq!(expected, actual, "{} at {now}", script.name);
        actual
    }
}

#[derive(Clone, Debug)]
enum Step {
    Wait(u64),
    SetBack(u64),
    Sync { node: usize, apps: Vec<(usize, u64, u64, u64)> },
    Again { node: usize },
    Crash { node: usize },
    Acquire { app: usize, cost: u64 },
    Borrow { app: usize, amount: u64 },
    Repay { app: usize, amount: u64 },
    Reserve { id: usize, app: usize, estimate: u64 },
    Complete { id: usize, actual: u64 },
    Put { app: usize, guaranteed: u64, more: u64, after: u64 },
    Delete { app: usize },
    Emergency { duration: u64 },
    Calm,
    Reset { app: usize },
    Capacity { rate: u64, connections: u32 },
}

fn any_step() -> impl Strategy<Value = Step> {
    let (node, app) = (0..3usize, 0..4usize);
    let entry = (app.clone(), 0..=100u64, 0..9_000u64, 0..20_000u64);
    prop_oneof![
        8 => (0..4_000u64).prop_map(Step::Wait),
        1 => (5_000..200_000u64).prop_map(Step::Wait),
        1 => (0..10_000u64).prop_map(Step::SetBack),
        10 => (node.clone(), prop::collection::vec(entry, 0..4)).prop_map(|(node, apps)| Step::Sync { node, apps }),
        1 => node.clone().prop_map(|node| Step::Again { node }),
        1 => node.prop_map(|node| Step::Crash { node }),
        3 => (app.clone(), 0..20_000u64).prop_map(|(app, cost)| Step::Acquire { app, cost }),
        1 => (app.clone(), 0..9_000u64).prop_map(|(app, amount)| Step::Borrow { app, amount }),
        1 => (app.clone(), 0..9_000u64).prop_map(|(app, amount)| Step::Repay { app, amount }),
        2 => (0..4usize, app.clone(), 0..9_000u64).prop_map(|(id, app, estimate)| Step::Reserve { id, app, estimate }),
        1 => (0..4usize, 0..20_000u64).prop_map(|(id, actual)| Step::Complete { id, actual }),
        1 => (app.clone(), 0..40_000u64, 0..40_000u64, 0..4_000u64)
            .prop_map(|(app, guaranteed, more, after)| Step::Put { app, guaranteed, more, after }),
        1 => app.clone().prop_map(|app| Step::Delete { app }),
        1 => (1..20_000u64).prop_map(|duration| Step::Emergency { duration }),
        1 => Just(Step::Calm),
        1 => app.prop_map(|app| Step::Reset { app }),
        1 => (60_000..200_000u64, any::<u32>()).prop_map(|(rate, connections)| Step::Capacity { rate, connections }),
    ]
}

fn app(index: usize) -> AppId {
    AppId::new(&format!("app-{index}")).unwrap()
}

fn policy(index: usize, guaranteed: u64, burst: u64) -> AppPolicy {
    let quota = Quota {
        guaranteed: Rate::per_second(guaranteed),
        burst: Tokens::whole(burst),
        burst_window: Millis::from_secs(10),
        priority: Priority::ALL[index % 4],
        loan: LoanTerms::default(),
    };
    AppPolicy { app: app(index), quota, enabled: true, body: r#"{"shadow":false}"#.into() }
}

struct Node {
    incarnation: u64,
    seq: u64,
    epoch: u64,
    holding: [Tokens; 4],
    last: Option<Sync>,
}

impl Node {
    const fn new(incarnation: u64) -> Self {
        Self { incarnation, seq: 0, epoch: 0, holding: [Tokens::ZERO; 4], last: None }
    }

    fn call(&mut self, index: usize, apps: &[(usize, u64, u64, u64)]) -> Sync {
        self.seq += 1;
        let entry = |&(index, percent, need, more): &(usize, u64, u64, u64)| {
            let held = &mut self.holding[index];
            let spent = held.proportion(Tokens::whole(percent), Tokens::whole(100));
            *held = held.minus(spent);
            let (need, want) = (Tokens::whole(need), Tokens::whole(need + more));
            Entry {
                spent,
                requests: 3,
                by_operation: vec![OperationUse {
                    operation: Operation::ALL[index],
                    requests: percent % 3,
                    cost: spent,
                }],
                holding: *held,
                need,
                want,
                fallback: Rate::per_second(50),
                ..Entry::idle(app(index))
            }
        };
        let entries = apps.iter().map(entry).collect();
        let node = NodeId::new(&format!("node-{index}")).unwrap();
        let silence = Millis::new(self.seq * 311 % 6_000);
        Sync {
            node,
            incarnation: self.incarnation,
            seq: self.seq,
            acked: self.seq - 1,
            epoch: self.epoch,
            silence,
            entries,
        }
    }
}

/// Plays one history; the engine compares.
async fn play<E: Engine>(ledger: &ScriptLedger<E>, clock: &AtomicU64, cluster: &ClusterId, steps: &[Step]) {
    let capacity = Capacity {
        rate: Rate::per_second(100_000),
        emergency_threshold: Ratio::percent(150),
        ..Capacity::default()
    };
    let apps = (0..4).map(|i| policy(i, 5_000 * (i as u64 + 1), 30_000)).collect();
    ledger.seed(cluster, &Seed { capacity, apps, remembered: None }).await.unwrap();
    let mut nodes: Vec<Node> = (0..3).map(|_| Node::new(1)).collect();
    let mut seen = 0;
    for step in steps {
        match *step {
            Step::Wait(ms) => _ = clock.fetch_add(ms, Ordering::Relaxed),
            Step::SetBack(ms) => _ = clock.fetch_sub(ms, Ordering::Relaxed),
            Step::Sync { node: index, ref apps } => {
                let call = nodes[index].call(index, apps);
                let reply = ledger.sync(cluster, &call).await.unwrap();
                for (&(app, ..), granted) in apps.iter().zip(&reply.entries) {
                    nodes[index].holding[app] = nodes[index].holding[app].plus(granted.granted);
                }
                (nodes[index].epoch, nodes[index].last) = (reply.epoch, Some(call));
            }
            Step::Again { node } => {
                if let Some(call) = &nodes[node].last {
                    let _ = ledger.sync(cluster, call).await;
                }
            }
            Step::Crash { node } => nodes[node] = Node::new(nodes[node].incarnation + 1),
            Step::Acquire { app: index, cost } => {
                let _ = ledger.acquire(cluster, &app(index), Tokens::whole(cost)).await;
            }
            Step::Borrow { app: index, amount } => {
                let _ = ledger.borrow(cluster, &app(index), Tokens::whole(amount)).await;
            }
            Step::Repay { app: index, amount } => {
                let _ = ledger.repay(cluster, &app(index), Tokens::whole(amount)).await;
            }
            Step::Reserve { id, app: index, estimate } => {
                let (id, timeout) = (format!("held-{id}"), Millis::from_secs(3));
                let _ = ledger.reserve(cluster, &app(index), &id, Tokens::whole(estimate), timeout).await;
            }
            Step::Complete { id, actual } => {
                let _ = ledger.complete(cluster, &format!("held-{id}"), Tokens::whole(actual)).await;
            }
            Step::Put { app: index, guaranteed, more, after } => {
                let effective_at = Millis::new(clock.load(Ordering::Relaxed) + after);
                let policy = policy(index, guaranteed + 1, guaranteed + 1 + more);
                let put = PutApp { policy, replaces: None, carry: Carry::Scale, effective_at };
                let _ = ledger.put_app(cluster, &put).await;
            }
            Step::Delete { app: index } => {
                let _ = ledger.delete_app(cluster, &app(index)).await;
            }
            Step::Emergency { duration } => {
                ledger.declare_emergency(cluster, "drill", Millis::new(duration)).await.unwrap();
            }
            Step::Calm => _ = ledger.end_emergency(cluster).await.unwrap(),
            Step::Reset { app: index } => {
                let _ = ledger.reset(cluster, &app(index)).await;
            }
            Step::Capacity { rate, connections } => {
                let capacity = Capacity { rate: Rate::per_second(rate), connections, ..capacity };
                let _ = ledger.put_cluster(cluster, &capacity).await;
            }
        }
        let changes = ledger.changes(cluster, seen, 2).await.unwrap();
        seen = changes.next;
        ledger.apps(cluster, Some(&app(0)), 2).await.unwrap();
        ledger.scheduled(cluster, 1, 2).await.unwrap();
        ledger.cluster(cluster).await.unwrap();
        let audit = ledger.audit(cluster).await.unwrap();
        assert!(audit.balances(), "{audit:#?}");
    }
}

/// Plays random histories, each on a cluster of its own name.
fn twin<C: ConnectionLike + Send>(url: &str, connection: C, cases: u32) {
    let runtime = Runtime::new().unwrap();
    let clock = Arc::new(AtomicU64::new(0));
    let time = Arc::clone(&clock);
    let server = {
        let _guard = runtime.enter();
        RedisEngine::on_test_clock(url, TIMEOUT).unwrap()
    };
    let engine = TwinEngine {
        clock: Arc::clone(&clock),
        stand_in: MluaEngine::new(move || Millis::new(time.load(Ordering::Relaxed))).unwrap(),
        server,
        connection: Mutex::new(connection),
    };
    let ledger = ScriptLedger::new(engine);
    let names = AtomicU64::new(0);
    let mut runner = TestRunner::new(Config { cases, failure_persistence: None, ..Config::default() });
    let histories = prop::collection::vec(any_step(), 1..60);
    let outcome = runner.run(&histories, |steps| {
        clock.store(1_700_000_000_000, Ordering::Relaxed);
        let cluster = format!("cluster-{}", names.fetch_add(1, Ordering::Relaxed));
        runtime.block_on(play(&ledger, &clock, &ClusterId::new(&cluster).unwrap(), &steps));
        Ok(())
    });
    outcome.unwrap();
}

#[test]
fn a_server_answers_as_the_stand_in_does() {
    let server = RedisServer::start().unwrap();
    let connection = Client::open(server.url()).unwrap().get_connection().unwrap();
    twin(&server.url(), connection, 60);
}

#[test]
fn a_cluster_answers_as_the_stand_in_does() {
    let servers = RedisCluster::start().unwrap();
    let nodes = [servers.url().replace("+cluster", "")];
    let connection = ClusterClient::new(nodes).unwrap().get_connection().unwrap();
    twin(&servers.url(), connection, 20);
}
