//! Several nodes on one ledger: a limit holds for all of them together.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may panic")]

mod connection_world;

use connection_world::{CLIENT, Node, Time, app, cluster, run, scripts};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use redis::{Client, Cmd, ConnectionLike};
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::oneshot;
use tollgate_core::connection::{Limits, RESERVE_LINE};
use tollgate_core::id::NodeId;
use tollgate_core::reason::Reason;
use tollgate_ledger::connection::{LEARNING, SLOT_TTL};
use tollgate_ledger::script::{Engine, EngineError, Script, ScriptLedger, Value};
use tollgate_ledger::{MemoryLedger, RedisEngine, Slots};
use tollgate_node::connection::{Connections, Guard, Identity, Keeper, Line, Round, RuntimeClock, Settings};
use tollgate_testkit::RedisServer;

const NODES: usize = 3;
const APPS: usize = 2;
const MAX: u32 = 8;
const BURST: u32 = 10;
const CLUSTER_MAX: u32 = 15;

#[derive(Clone, Debug)]
enum Step {
    Open {
        node: usize,
        app: usize,
    },
    End {
        connection: usize,
    },
    Wait(u64),
    /// A node dies with all its connections, and comes back.
    Crash {
        node: usize,
    },
    /// A node goes about its work.
    Tick {
        node: usize,
    },
}

struct World<L> {
    time: Time,
    ledger: Arc<L>,
    nodes: Vec<Node<L>>,
    lives: u64,
    /// Where each connection is, and of which application.
    connections: Vec<(usize, usize, Guard)>,
}

impl<L: Slots> World<L> {
    fn new(time: Time, ledger: L) -> Self {
        let mut world =
            Self { time, ledger: Arc::new(ledger), nodes: Vec::new(), lives: 0, connections: Vec::new() };
        for index in 0..NODES {
            let node = world.start(index);
            world.nodes.push(node);
        }
        world
    }

    fn start(&mut self, index: usize) -> Node<L> {
        self.lives += 1;
        let node = Node::new(&format!("node-{index}"), self.lives, &self.time, &self.ledger, CLUSTER_MAX);
        for index in 0..APPS {
            node.set_limits(index, MAX, BURST);
        }
        node
    }

    async fn open(&mut self, node: usize, app: usize) -> Result<(), Reason> {
        let guard = self.nodes[node].open(app).await.map_err(|refused| refused.reason)?;
        self.connections.push((node, app, guard));
        Ok(())
    }

    async fn tick_all(&mut self) {
        for node in &mut self.nodes {
            node.keeper.tick().await;
        }
    }

    /// Time passes, and every node goes about its work.
    async fn wait(&mut self, mut millis: u64) {
        while millis > 0 {
            let step = millis.min(500);
            self.time.advance(step);
            self.tick_all().await;
            millis -= step;
        }
    }

    fn crash(&mut self, node: usize) {
        self.connections.retain(|(at, ..)| *at != node);
        self.nodes[node] = self.start(node);
    }

    async fn step(&mut self, step: &Step) {
        match *step {
            Step::Open { node, app } => _ = self.open(node, app).await,
            Step::End { connection } if connection < self.connections.len() => {
                drop(self.connections.swap_remove(connection));
            }
            Step::End { .. } => {}
            Step::Wait(millis) => self.wait(millis).await,
            Step::Crash { node } => self.crash(node),
            Step::Tick { node } => self.nodes[node].keeper.tick().await,
        }
        let open = |app| self.connections.iter().filter(|(_, of, _)| *of == app).count();
        assert!((0..APPS).all(|app| open(app) <= BURST as usize), "{step:?}");
        assert!(self.connections.len() <= CLUSTER_MAX as usize, "{step:?}");
        assert!(self.connections.iter().all(|(.., guard)| guard.id().is_some()), "the ledger was there");
    }
}

fn any_step() -> impl Strategy<Value = Step> {
    prop_oneof![
        16 => (0..NODES, 0..APPS).prop_map(|(node, app)| Step::Open { node, app }),
        8 => (0..20usize).prop_map(|connection| Step::End { connection }),
        4 => (0..3_000u64).prop_map(Step::Wait),
        2 => (0..NODES).prop_map(|node| Step::Tick { node }),
        1 => (0..NODES).prop_map(|node| Step::Crash { node }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, ..ProptestConfig::default() })]

    #[test]
    fn p16_nodes_together_stay_within_the_limits(steps in prop::collection::vec(any_step(), 1..100)) {
        let time = Time::start();
        let memory = MemoryLedger::with_clock(time.ledger_clock());
        let mut world = World::new(time, memory);
        run(async { for step in &steps { world.step(step).await; } });
        let time = Time::start();
        let ledger = scripts(&time);
        let mut world = World::new(time, ledger);
        run(async { for step in &steps { world.step(step).await; } });
    }
}

fn memory() -> World<MemoryLedger<impl Fn() -> tollgate_core::units::Millis + Send + Sync>> {
    let time = Time::start();
    let ledger = MemoryLedger::with_clock(time.ledger_clock());
    World::new(time, ledger)
}

/// Opens until there is no more; returns how many that were, and why there were no more.
async fn fill<L: Slots>(world: &mut World<L>, node: usize, app: usize) -> (usize, Reason) {
    let mut count = 0;
    loop {
        match world.open(node, app).await {
            Ok(()) => count += 1,
            Err(reason) => return (count, reason),
        }
    }
}

#[test]
fn p16_no_slot_stays_idle_while_others_need_it() {
    let mut world = memory();
    run(async {
        world.open(0, 0).await.unwrap();
        world.wait(2_000).await;
        let (count, reason) = fill(&mut world, 1, 0).await;
        assert!(count < BURST as usize && reason == Reason::AppLimitExceeded);
        world.wait(5_000).await;
        fill(&mut world, 1, 0).await;
        assert_eq!(world.connections.len(), BURST as usize, "the first node gave back what it did not use");
    });
}

#[test]
fn a_burst_ends_at_the_reserve_line() {
    let mut world = memory();
    run(async {
        fill(&mut world, 0, 0).await;
        world.wait(1_000).await;
        let (count, reason) = fill(&mut world, 1, 1).await;
        assert_eq!((world.nodes[0].open_now(0), count), (10, 5), "all that the cluster has");
        assert_eq!(reason, Reason::ClusterLimitExceeded);
        // Above its max, where less than the reserve is left, an application gets nothing.
        assert!(10 + 5 > RESERVE_LINE.apply(CLUSTER_MAX.into()));
        world.connections.retain(|(_, app, _)| *app == 1);
        world.wait(5_000).await;
        fill(&mut world, 2, 0).await;
        world.wait(2_000).await;
        assert_eq!(fill(&mut world, 2, 0).await.1, Reason::AppLimitExceeded);
        assert_eq!(world.nodes[2].open_now(0), 8, "up to its max it may");
    });
}

#[test]
fn slots_of_a_dead_node_come_back_after_their_time() {
    let mut world = memory();
    run(async {
        fill(&mut world, 0, 0).await;
        world.connections.clear();
        let dead = world.nodes.remove(0);
        world.wait(SLOT_TTL.get() - 1_000).await;
        assert_eq!(fill(&mut world, 0, 0).await.1, Reason::AppLimitExceeded);
        world.wait(1_500).await;
        assert_eq!(fill(&mut world, 0, 0).await.0, BURST as usize);
        drop(dead);
    });
}

#[test]
fn a_node_that_comes_back_late_presents_its_connections() {
    let mut world = memory();
    run(async {
        fill(&mut world, 0, 0).await;
        // The first node is cut off, and its slots go to the second.
        let cut_off = world.nodes.remove(0);
        world.wait(SLOT_TTL.get() + 500).await;
        assert_eq!(fill(&mut world, 0, 0).await.0, BURST as usize);
        assert!(cut_off.connections.try_open(&app(0), CLIENT, cut_off.now()).is_err());
        assert_eq!(cut_off.open_now(0), 10, "its connections live on");
        // It is back: all of them are known, and nobody gets a slot before there is room.
        world.nodes.push(cut_off);
        world.wait(1_000).await;
        assert_eq!(world.connections.len(), 20);
        world.connections.truncate(11);
        world.wait(2_000).await;
        assert_eq!(fill(&mut world, 0, 0).await, (0, Reason::AppLimitExceeded));
        world.connections.truncate(1);
        world.wait(2_000).await;
        fill(&mut world, 0, 0).await;
        world.wait(2_000).await;
        fill(&mut world, 0, 0).await;
        assert_eq!(world.connections.len(), 10);
    });
}

#[test]
fn lowered_limits_hold_at_once_and_end_nothing() {
    let mut world = memory();
    run(async {
        for _ in 0..5 {
            world.open(0, 0).await.unwrap();
        }
        for node in &world.nodes {
            node.set_limits(0, 3, 3);
        }
        assert_eq!(world.open(0, 0).await, Err(Reason::AppLimitExceeded));
        assert_eq!(world.nodes[0].open_now(0), 5);
        world.wait(1_000).await;
        assert_eq!(world.open(1, 0).await, Err(Reason::AppLimitExceeded), "on every node");
        world.connections.truncate(2);
        world.wait(1_000).await;
        assert_eq!(world.open(1, 0).await, Ok(()));
        world.nodes[1].connections.set_cluster_max(1);
        assert_eq!(world.open(1, 1).await, Err(Reason::ClusterLimitExceeded));
    });
}

/// Tells a server what time it is before each script.
struct OnTestClock {
    time: Time,
    connection: Mutex<redis::Connection>,
    engine: RedisEngine,
}

impl Engine for OnTestClock {
    async fn eval(&self, script: &Script, key: &str, args: Vec<Vec<u8>>) -> Result<Value, EngineError> {
        let set = Cmd::set(format!("{key}:now"), self.time.millis().get());
        self.connection.lock().unwrap().req_command(&set).unwrap();
        self.engine.eval(script, key, args).await
    }
}

fn on_server(server: &RedisServer) -> World<ScriptLedger<OnTestClock>> {
    let time = Time::start();
    let engine = OnTestClock {
        time: time.clone(),
        connection: Mutex::new(Client::open(server.url()).unwrap().get_connection().unwrap()),
        engine: RedisEngine::on_test_clock(&server.url(), Duration::from_secs(5)).unwrap(),
    };
    World::new(time, ScriptLedger::new(engine))
}

#[test]
fn p16_nodes_on_a_real_server_stay_within_the_limits() {
    let server = RedisServer::start().unwrap();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let mut runner = TestRunner::new(Config { cases: 25, failure_persistence: None, ..Config::default() });
    let histories = prop::collection::vec(any_step(), 1..80);
    let outcome = runner.run(&histories, |steps| {
        server.cli(&["FLUSHALL"]).unwrap();
        let _guard = runtime.enter();
        let mut world = on_server(&server);
        runtime.block_on(async {
            for step in &steps {
                world.step(step).await;
            }
        });
        Ok(())
    });
    outcome.unwrap();
}

/// Nodes with tasks of their own, all at once and in real time.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn p16_busy_nodes_on_a_real_server_stay_within_the_limit() {
    let server = RedisServer::start().unwrap();
    let (open, most) = (Arc::new(AtomicI64::new(0)), Arc::new(AtomicI64::new(0)));
    let mut keepers = Vec::new();
    let mut clients = Vec::new();
    for index in 0..NODES {
        let clock = RuntimeClock::default();
        let settings = Settings { ledger_timeout: Duration::from_secs(10), ..Settings::new(cluster()) };
        let connections = Connections::new(settings);
        connections.set_limits(&app(0), Limits::new(MAX, BURST), clock.now());
        let identity = Identity { node: NodeId::new(&format!("node-{index}")).unwrap(), incarnation: 1 };
        let engine = RedisEngine::new(&server.url(), Duration::from_secs(10)).unwrap();
        let ledger = ScriptLedger::new(engine);
        let keeper = Keeper::new(connections.clone(), identity, ledger, Line::default(), clock);
        let (shutdown, ended) = oneshot::channel::<()>();
        keepers.push((shutdown, tokio::spawn(keeper.run(async move { ended.await.unwrap_or_default() }))));
        for client in 0..6u64 {
            let (connections, open, most) = (connections.clone(), Arc::clone(&open), Arc::clone(&most));
            clients.push(tokio::spawn(async move {
                let mut opened = 0;
                for i in 0..60 {
                    let Ok(guard) = connections.open(&app(0), CLIENT, clock.now()).await else {
                        tokio::time::sleep(Duration::from_millis(20)).await;
                        continue;
                    };
                    assert!(guard.id().is_some(), "the ledger was there");
                    opened += 1;
                    most.fetch_max(open.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                    tokio::time::sleep(Duration::from_millis((client * 7 + i) % 11)).await;
                    open.fetch_sub(1, Ordering::SeqCst);
                    drop(guard);
                }
                opened
            }));
        }
    }
    let mut opened = 0;
    for client in clients {
        opened += client.await.unwrap();
    }
    for (shutdown, task) in keepers {
        shutdown.send(()).unwrap();
        task.await.unwrap();
    }
    assert!(opened > 0 && most.load(Ordering::SeqCst) <= i64::from(BURST), "{most:?}");
    let left = server.cli(&["HGET", "ratelimit:{cluster-01}:conn", "total"]).unwrap();
    assert_eq!(left.trim(), "0", "all gave back what they had");
}

#[tokio::test]
async fn a_wiped_server_is_told_everything_before_it_hands_out_more() {
    let server = RedisServer::start().unwrap();
    let mut world = on_server(&server);
    for node in 0..3 {
        for _ in 0..3 {
            world.open(node, 0).await.unwrap();
        }
    }
    server.cli(&["FLUSHALL"]).unwrap();
    let (opened, reason) = fill(&mut world, 0, 0).await;
    assert!(world.connections.len() <= BURST as usize, "on slots that it still had, if any: {opened}");
    assert!(matches!(reason, Reason::LocalExhausted | Reason::AppLimitExceeded), "{reason}");
    world.wait(LEARNING.get() + 1_000).await;
    fill(&mut world, 1, 0).await;
    assert_eq!(world.connections.len(), BURST as usize, "everything was told");
    let stored = server.cli(&["HGET", "ratelimit:{cluster-01}:conn:apps", "app-0"]).unwrap();
    assert_eq!(stored.trim(), "10");
}

#[tokio::test]
async fn a_dead_server_lets_everybody_in_untracked_and_hears_of_them_later() {
    let mut server = RedisServer::start().unwrap();
    let time = Time::start();
    let engine = RedisEngine::new(&server.url(), Duration::from_secs(2)).unwrap();
    let mut world = World::new(time, ScriptLedger::new(engine));
    world.open(0, 0).await.unwrap();
    server.kill();
    let mut untracked = Vec::new();
    for _ in 0..30 {
        world.time.advance(101);
        untracked.push(world.nodes[0].open(0).await.unwrap());
    }
    let counts = world.nodes[0].connections.counts(&app(0)).unwrap();
    assert_eq!(counts.open + counts.untracked, 31);
    assert!(counts.open <= BURST.into() && counts.rejected == 0);

    server.restart().unwrap();
    let mut rounds = 0;
    while world.nodes[0].keeper.round().await == Round::Failed {
        world.time.advance(500);
        rounds += 1;
        assert!(rounds < 200, "the server was not found again");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    world.wait(500).await;
    assert_eq!(fill(&mut world, 1, 0).await.0, 0, "there are too many already");
    let stored = server.cli(&["HGET", &format!("ratelimit:{{{}}}:conn:apps", cluster()), "app-0"]).unwrap();
    assert_eq!(stored.trim(), "31");
    drop(untracked);
    let counts = world.nodes[0].connections.counts(&app(0)).unwrap();
    assert_eq!((counts.open, counts.untracked), (1, 0));
}
