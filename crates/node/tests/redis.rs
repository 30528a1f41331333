//! Nodes under load on real Redis servers that are killed, paused, wiped, slowed and failed over.
#![allow(clippy::unwrap_used, reason = "tests")]

mod support;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};
use support::{assert_balanced, get, millis, policy, setup, view};
use tokio::task::JoinSet;
use tokio::time::sleep;
use tollgate_core::degrade::Level;
use tollgate_ledger::script::ScriptLedger;
use tollgate_ledger::{RedisEngine, RedisLedger};
use tollgate_node::Node;
use tollgate_testkit::{Link, RedisCluster, RedisServer, Signal};

/// What a call may take; requests wait for 50 ms.
const CALL: Duration = Duration::from_millis(500);

/// How long something may take to come true on a busy machine.
const PATIENCE: Duration = Duration::from_secs(20);

fn node(name: &str, url: &str) -> Node<RedisLedger> {
    let ledger = ScriptLedger::new(RedisEngine::new(url, CALL).unwrap());
    Node::start(ledger, setup(name), &policy())
}

/// Requests that keep coming, each counted if it passed.
struct Load {
    passed: Arc<AtomicU64>,
    asked: Arc<AtomicU64>,
    is_over: Arc<AtomicBool>,
    tasks: JoinSet<()>,
}

impl Load {
    /// `clients` for each node, one request a millisecond each.
    fn start(nodes: &[Node<RedisLedger>], clients: usize) -> Self {
        let mut load = Self {
            passed: Arc::default(),
            asked: Arc::default(),
            is_over: Arc::default(),
            tasks: JoinSet::new(),
        };
        for node in nodes.iter().flat_map(|node| std::iter::repeat_n(node, clients)) {
            let node = node.clone();
            let (passed, asked, is_over) = (load.passed.clone(), load.asked.clone(), load.is_over.clone());
            load.tasks.spawn(async move {
                while !is_over.load(Ordering::Relaxed) {
                    asked.fetch_add(1, Ordering::Relaxed);
                    if let Ok(permit) = node.admit(&get("a")).await {
                        permit.keep();
                        passed.fetch_add(1, Ordering::Relaxed);
                    }
                    sleep(millis(1)).await;
                }
            });
        }
        load
    }

    fn passed(&self) -> u64 {
        self.passed.load(Ordering::Relaxed)
    }

    /// Waits until that many more have passed.
    async fn see(&self, more: u64) {
        let goal = self.passed() + more;
        wait_until("requests pass", || self.passed() >= goal).await;
    }

    async fn stop(mut self) -> u64 {
        self.is_over.store(true, Ordering::Relaxed);
        while let Some(task) = self.tasks.join_next().await {
            task.unwrap();
        }
        self.passed()
    }
}

async fn wait_until(what: &str, is_so: impl Fn() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < PATIENCE, "waited in vain: {what}");
        sleep(millis(5)).await;
    }
}

fn is_normal(node: &Node<RedisLedger>) -> bool {
    let standing = node.standing()["c"];
    !standing.is_cut_off && standing.level != Level::FailOpen
}

async fn wait_until_normal(nodes: &[Node<RedisLedger>]) {
    wait_until("the node is normal again", || nodes.iter().all(is_normal)).await;
}

/// Says goodbye and checks that all was counted.
async fn close(nodes: &[Node<RedisLedger>]) {
    for node in nodes {
        node.shut_down(Duration::from_secs(5)).await;
    }
    let ledger = nodes[0].ledger();
    assert_balanced(ledger).await;
    assert_eq!(view(ledger, "a").await.account.outstanding.floor(), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_healthy_server_is_told_everything() {
    let server = RedisServer::start().unwrap();
    let nodes = ["n1", "n2"].map(|name| node(name, &server.url()));
    let started = Instant::now();
    let load = Load::start(&nodes, 4);
    load.see(2_000).await;
    let passed = load.stop().await;
    let most = 2_000 + u64::try_from(started.elapsed().as_millis()).unwrap() + 1;
    close(&nodes).await;
    let view = view(nodes[0].ledger(), "a").await;
    assert_eq!((view.total_consumed, view.total_requests), (passed, passed));
    assert!(passed <= most, "{passed} of {most}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_killed_server_that_comes_back_empty_is_filled_and_used() {
    let mut server = RedisServer::start().unwrap();
    let nodes = ["n1", "n2"].map(|name| node(name, &server.url()));
    let load = Load::start(&nodes, 4);
    load.see(500).await;
    server.kill();
    wait_until("the server is given up", || nodes.iter().all(|node| !is_normal(node))).await;
    load.see(50).await;
    server.restart().unwrap();
    wait_until_normal(&nodes).await;
    load.see(500).await;
    load.stop().await;
    close(&nodes).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_paused_server_keeps_nobody_waiting_and_loses_nothing() {
    let server = RedisServer::start().unwrap();
    let nodes = [node("n1", &server.url())];
    let load = Load::start(&nodes, 4);
    load.see(500).await;
    server.signal(Signal::Stop).unwrap();
    wait_until("the server is given up", || !is_normal(&nodes[0])).await;
    load.see(50).await;
    server.signal(Signal::Continue).unwrap();
    wait_until_normal(&nodes).await;
    load.see(500).await;
    let passed = load.stop().await;
    close(&nodes).await;
    assert_eq!(view(nodes[0].ledger(), "a").await.total_consumed, passed, "the outage included");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_wiped_server_is_filled_under_load() {
    let server = RedisServer::start().unwrap();
    let nodes = ["n1", "n2"].map(|name| node(name, &server.url()));
    let load = Load::start(&nodes, 4);
    for _ in 0..3 {
        load.see(300).await;
        server.cli(&["FLUSHALL"]).unwrap();
    }
    load.see(300).await;
    load.stop().await;
    close(&nodes).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_slow_line_makes_a_node_patient_and_a_dead_one_makes_it_independent() {
    let server = RedisServer::start().unwrap();
    let link = Link::to(server.port()).unwrap();
    let url = format!("redis://127.0.0.1:{}", link.port());
    let nodes = [node("n1", &url)];
    let load = Load::start(&nodes, 4);
    load.see(300).await;
    link.delay(millis(200));
    wait_until("it is slow", || nodes[0].standing()["c"].level == Level::Significant).await;
    load.see(300).await;
    link.delay(Duration::ZERO);
    wait_until("it is quick again", || nodes[0].standing()["c"].level == Level::Normal).await;
    link.silence(true);
    wait_until("the line is given up", || !is_normal(&nodes[0])).await;
    load.see(50).await;
    link.silence(false);
    wait_until_normal(&nodes).await;
    load.see(300).await;
    let passed = load.stop().await;
    close(&nodes).await;
    assert_eq!(view(nodes[0].ledger(), "a").await.total_consumed, passed);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_failover_is_survived() {
    let mut cluster = RedisCluster::start().unwrap();
    let nodes = ["n1", "n2"].map(|name| node(name, &cluster.url()));
    let load = Load::start(&nodes, 3);
    load.see(500).await;
    let primary = cluster.primary_of("ratelimit:{c}").unwrap();
    cluster.wait_until_copied().unwrap();
    cluster.server(primary).kill();
    cluster.wait_until_another(primary, "ratelimit:{c}").unwrap();
    wait_until_normal(&nodes).await;
    load.see(500).await;
    load.stop().await;
    close(&nodes).await;
}
