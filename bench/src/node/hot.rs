//! Decisions in memory.

use crate::limiter::direct::governor;
use crate::limiter::keyed::{Side, Theirs, contender};
use crate::limiter::walk::{Walk, key};
use crate::race::{Contender, Outcome, Pair, Question, Threads};
use anyhow::{Context, ensure};
use serde_json::{Value, json};
use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{JoinHandle, sleep, spawn};
use std::time::{Duration, Instant};
use tokio::runtime::{Builder, Runtime};
use tollgate_config::Policy;
use tollgate_core::cost::{Operation, Price};
use tollgate_core::id::NodeId;
use tollgate_core::units::Millis;
use tollgate_ledger::MemoryLedger;
use tollgate_node::{App, Node, Permit, Request, Setup};

/// How long it takes until leases have followed the demand.
const SETTLING: Duration = Duration::from_secs(3);

/// All that may be promised of the largest cluster there can be.
const PROMISABLE: u64 = 900_000_000;

pub(super) fn questions() -> Vec<Question> {
    use Threads::{One, Two};
    vec![
        resolved("resolved", One, 1),
        by_name("by name, 1 application", One, 1),
        by_name("by name, 10 applications", One, 10),
        by_name("by name, 1,000 applications", One, 1_000),
        by_name("by name, 10,000 applications", One, 10_000),
        by_name_of("by name, 10,000 of 100,000 applications", One, 10_000, 100_000),
        resolved("two threads, one application", Two, 1),
        resolved("two threads, an application each", Two, 2),
        by_name("two threads, by name, 10,000 applications", Two, 10_000),
    ]
}

/// Questions about what it costs that somebody looks: ours is a node whose metrics are read, theirs one whose are not.
pub(super) fn read_questions() -> Vec<Question> {
    [("metrics read, 10 applications", 10), ("metrics read, 10,000 applications", 10_000)]
        .map(|(name, apps)| {
            Question::new(name, Threads::One, Outcome::Allowed, move || {
                let (read, unread) = (Ours::start(apps)?, Ours::start(apps)?);
                read.warm_up(apps)?;
                unread.warm_up(apps)?;
                let walk = Arc::new(Walk::new(apps));
                Ok(Pair {
                    ours: contender(Arc::clone(&walk), Read::start(read)),
                    theirs: contender(walk, unread),
                })
            })
        })
        .into()
}

fn resolved(name: &'static str, threads: Threads, apps: u32) -> Question {
    Question::new(name, threads, Outcome::Allowed, move || {
        let ours = Ours::start(apps)?;
        let handles = (0..apps).map(|i| ours.node.app(&key(i)).context("no such application"));
        let handles = handles.collect::<anyhow::Result<Vec<Arc<App>>>>()?;
        ours.warm_up(apps)?;
        let ours = Contender::new(move |lap| {
            let app = &handles[lap.thread % handles.len()];
            lap.count(|| ours.decide_resolved(black_box(app)))
        });
        Ok(Pair { ours, theirs: governor(apps as usize, Outcome::Allowed)? })
    })
}

fn by_name(name: &'static str, threads: Threads, apps: u32) -> Question {
    by_name_of(name, threads, apps, apps)
}

/// So many applications are used, of those that are known.
fn by_name_of(name: &'static str, threads: Threads, used: u32, known: u32) -> Question {
    Question::new(name, threads, Outcome::Allowed, move || pair(used, known))
}

fn pair(used: u32, known: u32) -> anyhow::Result<Pair> {
    let (ours, theirs) = (Ours::start(known)?, Theirs::new(Outcome::Allowed)?);
    ours.warm_up(used)?;
    for name in (0..known).map(key) {
        black_box(theirs.decide(&name));
    }
    let walk = Arc::new(Walk::new(used));
    Ok(Pair { ours: contender(Arc::clone(&walk), ours), theirs: contender(walk, theirs) })
}

/// A node on the embedded ledger.
pub(super) struct Ours {
    node: Node<MemoryLedger>,
    runtime: Runtime,
}

impl Ours {
    pub(super) fn start(apps: u32) -> anyhow::Result<Self> {
        let runtime = Builder::new_multi_thread().worker_threads(1).enable_time().build()?;
        let guaranteed = PROMISABLE / u64::from(apps);
        let app =
            |i: u32| json!({"id": key(i), "guaranteed_quota": guaranteed, "burst_quota": guaranteed * 2});
        let apps: Vec<Value> = (0..apps).map(app).collect();
        let clusters = json!([{"id": "bench", "capacity": 1_000_000_000, "emergency_threshold": 1.0}]);
        let policy = Policy::from_value(&json!({"clusters": clusters, "apps": apps}))?;
        let _inside = runtime.enter();
        let mut setup = Setup::new(NodeId::new("bench")?);
        // A busy machine may let the node's task wait; a refusal would end the race.
        setup.manners.patience = Millis::from_secs(5);
        let node = Node::start(MemoryLedger::default(), setup, &policy);
        Ok(Self { node, runtime })
    }

    /// Waits until all have something to spend, as a new cluster has less than a second's worth for all of them; then
    /// asks for all of them for a while, until what is held of each is what the race will ask for.
    pub(super) fn warm_up(&self, apps: u32) -> anyhow::Result<()> {
        let deadline = Instant::now() + Duration::from_mins(1);
        let names: Vec<String> = (0..apps).map(key).collect();
        let mut cold: Vec<&String> = names.iter().collect();
        loop {
            cold = self.ask_all(&cold);
            if cold.is_empty() {
                break;
            }
            ensure!(Instant::now() < deadline, "{} applications are refused for too long", cold.len());
            sleep(Duration::from_millis(50));
        }
        let start = Instant::now();
        while start.elapsed() < SETTLING {
            for name in &names {
                black_box(self.decide(name));
            }
        }
        Ok(())
    }

    /// Asks for all of them at once; those that were refused.
    fn ask_all<'a>(&self, names: &[&'a String]) -> Vec<&'a String> {
        let ask = |name: &String| {
            let (node, name) = (self.node.clone(), name.clone());
            let request =
                async move { node.admit(&Request::new(&name, Operation::Get)).await.map(Permit::keep) };
            self.runtime.spawn(request)
        };
        let asked: Vec<_> = names.iter().map(|name| ask(name)).collect();
        let is_refused = |answer| !matches!(self.runtime.block_on(answer), Ok(Ok(())));
        names.iter().zip(asked).filter_map(|(name, answer)| is_refused(answer).then_some(*name)).collect()
    }

    #[inline]
    fn decide_resolved(&self, app: &Arc<App>) -> bool {
        let price = Price::named(Operation::Get, 1);
        match app.check(price) {
            Some(permit) => {
                permit.keep();
                true
            }
            None => self.ask(app.id()),
        }
    }

    /// The whole way, for a request that found too little.
    #[cold]
    fn ask(&self, name: &str) -> bool {
        let request = Request::new(name, Operation::Get);
        self.runtime.block_on(self.node.admit(&request)).map(Permit::keep).is_ok()
    }
}

impl Side for Ours {
    #[inline]
    fn decide(&self, name: &String) -> bool {
        match self.node.check(&Request::new(name, Operation::Get)) {
            Ok(permit) => {
                permit.keep();
                true
            }
            Err(_) => self.ask(name),
        }
    }
}

/// A node whose metrics are read until it is dropped.
struct Read {
    node: Arc<Ours>,
    is_over: Arc<AtomicBool>,
    reader: Option<JoinHandle<()>>,
}

impl Read {
    fn start(node: Ours) -> Self {
        let (node, is_over) = (Arc::new(node), Arc::new(AtomicBool::new(false)));
        let reader = spawn({
            let (node, is_over) = (Arc::clone(&node), Arc::clone(&is_over));
            move || {
                while !is_over.load(Ordering::Relaxed) {
                    for app in node.node.apps() {
                        black_box(app.counts());
                    }
                    black_box((node.node.standing(), node.node.waited()));
                    sleep(Duration::from_millis(100));
                }
            }
        });
        Self { node, is_over, reader: Some(reader) }
    }
}

impl Drop for Read {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        // A reader that panicked has said so.
        self.reader.take().map(JoinHandle::join);
    }
}

impl Side for Read {
    #[inline]
    fn decide(&self, name: &String) -> bool {
        self.node.decide(name)
    }
}
