//! Nodes under load on a real Redis.

use crate::report::Section;
use crate::table::Table;
use serde_json::{Value, json};
use std::io::{Write, stderr};
use std::time::{Duration, Instant};
use tokio::runtime::Builder;
use tokio::task::JoinSet;
use tokio::time::MissedTickBehavior;
use tollgate_config::Policy;
use tollgate_core::cost::Operation;
use tollgate_core::id::NodeId;
use tollgate_ledger::script::ScriptLedger;
use tollgate_ledger::{RedisEngine, RedisLedger};
use tollgate_node::{Node, Request, Setup};
use tollgate_testkit::RedisServer;

/// A load on some nodes.
struct Load {
    name: &'static str,
    nodes: usize,
    apps: usize,
    /// Requests per second at each node.
    rate: usize,
    /// What each application is promised.
    guaranteed: u64,
}

/// Fast enough for anything, and slow enough that five times as much can be asked for.
const LOADS: [Load; 3] = [
    Load { name: "load, one hot application", nodes: 1, apps: 1, rate: 20_000, guaranteed: 40_000 },
    Load { name: "load, 1,000 applications by Zipf", nodes: 1, apps: 1_000, rate: 20_000, guaranteed: 9_000 },
    Load {
        name: "load, 8 nodes at five times the guarantee",
        nodes: 8,
        apps: 1,
        rate: 1_250,
        guaranteed: 2_000,
    },
];

/// What one node did.
#[derive(Clone, Copy, Debug, Default)]
struct Done {
    asked: u64,
    passed: u64,
    hits: u64,
    calls: u64,
}

/// Measures those whose name contains `filter`.
pub(super) fn measure(filter: &str, is_quick: bool) -> anyhow::Result<Vec<Section>> {
    let time = Duration::from_secs(if is_quick { 5 } else { 30 });
    let mut table =
        Table::new(["load", "requests/s", "hits", "calls per 1,000", "passed of what it may", "Jain"]);
    for load in LOADS.iter().filter(|load| load.name.contains(filter)) {
        writeln!(stderr(), "{} for {} s", load.name, time.as_secs())?;
        table.push(load.run(time)?);
    }
    Ok(Section::of("Nodes under load on Redis", &table).into_iter().collect())
}

impl Load {
    fn run(&self, time: Duration) -> anyhow::Result<[String; 6]> {
        let server = RedisServer::start()?;
        let policy = self.policy()?;
        let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
        runtime.block_on(async {
            let mut nodes = Vec::new();
            for i in 0..self.nodes {
                let ledger = ScriptLedger::new(RedisEngine::new(&server.url(), Duration::from_millis(500))?);
                nodes.push(Node::start(ledger, Setup::new(NodeId::new(&format!("node-{i}"))?), &policy));
            }
            // Everybody knows everybody before it counts.
            self.drive(&nodes, Duration::from_secs(2)).await;
            let start = Instant::now();
            let done = self.drive(&nodes, time).await;
            Ok(self.row(&done, start.elapsed()))
        })
    }

    fn policy(&self) -> anyhow::Result<Policy> {
        let app = |i: usize| {
            let guaranteed = self.guaranteed;
            json!({"id": name(i), "guaranteed_quota": guaranteed, "burst_quota": guaranteed, "borrow": false})
        };
        let apps: Vec<Value> = (0..self.apps).map(app).collect();
        let clusters = json!([{"id": "bench", "capacity": 100_000_000}]);
        Ok(Policy::from_value(&json!({"clusters": clusters, "apps": apps}))?)
    }

    async fn drive(&self, nodes: &[Node<RedisLedger>], time: Duration) -> Vec<Done> {
        let mut runs = JoinSet::new();
        for (i, node) in nodes.iter().cloned().enumerate() {
            let (apps, rate) = (self.apps, self.rate);
            runs.spawn(async move { (i, drive(&node, apps, rate, time, i as u64).await) });
        }
        let mut done = runs.join_all().await;
        done.sort_by_key(|(i, _)| *i);
        done.into_iter().map(|(_, done)| done).collect()
    }

    #[expect(clippy::cast_precision_loss, reason = "shown to a few places")]
    fn row(&self, done: &[Done], took: Duration) -> [String; 6] {
        let sum = |of: fn(&Done) -> u64| done.iter().map(of).sum::<u64>() as f64;
        let (asked, passed) = (sum(|done| done.asked), sum(|done| done.passed));
        let promised = self.guaranteed as f64 * self.apps as f64 * took.as_secs_f64();
        let squares: f64 = done.iter().map(|done| (done.passed as f64).powi(2)).sum();
        [
            self.name.into(),
            format!("{:.0}", asked / took.as_secs_f64()),
            format!("{:.2} %", sum(|done| done.hits) / asked * 100.0),
            format!("{:.2}", sum(|done| done.calls) / asked * 1_000.0),
            format!("{:.2} %", passed / asked.min(promised) * 100.0),
            format!("{:.4}", passed * passed / (done.len() as f64 * squares)),
        ]
    }
}

/// Requests in equal steps, for as long as it takes.
async fn drive(node: &Node<RedisLedger>, apps: usize, rate: usize, time: Duration, seed: u64) -> Done {
    let draw = Zipf::new(apps);
    let mut random = Xorshift(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let names: Vec<String> = (0..apps).map(name).collect();
    let calls =
        |node: &Node<RedisLedger>| node.standing().values().map(|standing| standing.calls.made).sum::<u64>();
    let before = calls(node);
    let mut done = Done::default();
    let mut ticks = tokio::time::interval(Duration::from_millis(1));
    ticks.set_missed_tick_behavior(MissedTickBehavior::Burst);
    let start = Instant::now();
    let mut owed = 0;
    while start.elapsed() < time {
        ticks.tick().await;
        owed += rate;
        for _ in 0..owed / 1_000 {
            let request = Request::new(&names[draw.rank(random.next())], Operation::Get);
            done.asked += 1;
            match node.check(&request) {
                Ok(permit) => {
                    permit.keep();
                    done.passed += 1;
                    done.hits += 1;
                }
                // Refused without asking anybody: as good as a hit.
                Err(tollgate_node::NotYet::Refused(_)) => done.hits += 1,
                Err(tollgate_node::NotYet::Miss(miss)) => {
                    if let Ok(permit) = node.wait(miss).await {
                        permit.keep();
                        done.passed += 1;
                    }
                }
            }
        }
        owed %= 1_000;
    }
    done.calls = calls(node) - before;
    done
}

fn name(i: usize) -> String {
    format!("tenant-{i:04}")
}

/// Ranks by Zipf's law: the second is asked for half as often as the first, and so on.
struct Zipf(Vec<f64>);

impl Zipf {
    #[expect(clippy::cast_precision_loss, reason = "a thousand at most")]
    fn new(ranks: usize) -> Self {
        let mut sum = 0.0;
        let sums = (1..=ranks).map(|rank| {
            sum += 1.0 / rank as f64;
            sum
        });
        Self(sums.collect())
    }

    /// The rank of a random number.
    #[expect(clippy::cast_precision_loss, reason = "random anyway")]
    fn rank(&self, random: u64) -> usize {
        let all = self.0.last().copied().unwrap_or(1.0);
        let point = random as f64 / u64::MAX as f64 * all;
        self.0.partition_point(|&sum| sum < point).min(self.0.len() - 1)
    }
}

struct Xorshift(u64);

impl Xorshift {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
}
