//! The keeper as a task, on time that moves only when nobody has anything to do.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may panic")]

mod connection_world;

use connection_world::{CLIENT, app, cluster, run};
use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep};
use tollgate_core::connection::Limits;
use tollgate_core::degrade::Level;
use tollgate_core::id::{AppId, ClusterId, NodeId};
use tollgate_core::reason::Reason;
use tollgate_core::units::{Millis, Nanos};
use tollgate_ledger::connection::{ConnectionEvent, EventKind, Hold, HoldReply, NodeStats, Report};
use tollgate_ledger::{Answer, MemoryLedger, Slots};
use tollgate_node::connection::{
    Connections, Guard, Identity, Keeper, Line, Refused, RuntimeClock, Settings, Status,
};

/// A ledger that takes as long as a test wants.
#[derive(Default)]
struct Staged<C> {
    memory: MemoryLedger<C>,
    delay_ms: AtomicU64,
    holds: AtomicU64,
    reports: AtomicU64,
}

const NEVER: u64 = u64::MAX;

impl<C: tollgate_ledger::LedgerClock> Staged<C> {
    async fn delay(&self) {
        match self.delay_ms.load(Ordering::SeqCst) {
            0 => {}
            NEVER => pending().await,
            ms => sleep(Duration::from_millis(ms)).await,
        }
    }
}

impl<C: tollgate_ledger::LedgerClock> Slots for Staged<C> {
    async fn hold(&self, cluster: &ClusterId, hold: &Hold) -> Answer<HoldReply> {
        self.holds.fetch_add(1, Ordering::SeqCst);
        self.delay().await;
        self.memory.hold(cluster, hold).await
    }

    async fn report_connections(&self, cluster: &ClusterId, report: &Report) -> Answer<()> {
        self.delay().await;
        self.reports.fetch_add(1, Ordering::SeqCst);
        self.memory.report_connections(cluster, report).await
    }

    async fn connection_stats(&self, cluster: &ClusterId) -> Answer<Vec<NodeStats>> {
        self.memory.connection_stats(cluster).await
    }

    async fn connection_events(
        &self,
        cluster: &ClusterId,
        app: &AppId,
        limit: usize,
    ) -> Answer<Vec<ConnectionEvent>> {
        self.memory.connection_events(cluster, app, limit).await
    }
}

type Ledger = Staged<Box<dyn Fn() -> Millis + Send + Sync>>;

struct World {
    clock: RuntimeClock,
    ledger: Arc<Ledger>,
    connections: Connections,
    task: JoinHandle<()>,
    shutdown: oneshot::Sender<()>,
}

impl World {
    /// Within a runtime.
    fn start() -> Self {
        Self::with(Settings { cluster_max: 100, ..Settings::new(cluster()) })
    }

    fn with(settings: Settings) -> Self {
        let clock = RuntimeClock::default();
        let time: Box<dyn Fn() -> Millis + Send + Sync> =
            Box::new(move || Millis::new(1_700_000_000_000 + clock.now().get() / 1_000_000));
        let ledger = Arc::new(Staged {
            memory: MemoryLedger::with_clock(time),
            delay_ms: AtomicU64::new(0),
            holds: AtomicU64::new(0),
            reports: AtomicU64::new(0),
        });
        let connections = Connections::new(settings);
        for index in 0..3 {
            connections.set_limits(&app(index), Limits::new(20, 30), clock.now());
        }
        let identity = Identity { node: NodeId::new("node-0").unwrap(), incarnation: 1 };
        let keeper = Keeper::new(connections.clone(), identity, Arc::clone(&ledger), Line::default(), clock);
        let (shutdown, ended) = oneshot::channel();
        let task = tokio::spawn(keeper.run(async move { ended.await.unwrap_or_default() }));
        Self { clock, ledger, connections, task, shutdown }
    }

    async fn open(&self, index: usize) -> Result<Guard, Refused> {
        self.connections.open(&app(index), CLIENT, self.clock.now()).await
    }

    async fn open_many(&self, index: usize, count: usize) -> Vec<Result<Guard, Refused>> {
        let open = |_| {
            let (connections, now) = (self.connections.clone(), self.clock.now());
            tokio::spawn(async move { connections.open(&app(index), CLIENT, now).await })
        };
        let tasks: Vec<_> = (0..count).map(open).collect();
        let mut opened = Vec::new();
        for task in tasks {
            opened.push(task.await.unwrap());
        }
        opened
    }

    fn set_delay(&self, ms: u64) {
        self.ledger.delay_ms.store(ms, Ordering::SeqCst);
    }

    fn holds(&self) -> u64 {
        self.ledger.holds.load(Ordering::SeqCst)
    }

    async fn events(&self, index: usize) -> Vec<(EventKind, u64)> {
        let events = self.ledger.connection_events(&cluster(), &app(index), 100).await.unwrap();
        events.into_iter().map(|event| (event.kind, event.count)).collect()
    }
}

#[test]
fn all_who_need_a_slot_share_a_call() {
    run(async {
        let world = World::start();
        sleep(Duration::from_millis(10)).await;
        world.set_delay(5);
        let before = world.holds();
        let opened = world.open_many(0, 25).await;
        assert!(opened.iter().all(|guard| guard.as_ref().is_ok_and(|guard| guard.id().is_some())));
        assert!(world.holds() - before <= 3, "{} calls", world.holds() - before);
    });
}

#[test]
fn a_refusal_is_remembered_for_a_moment() {
    run(async {
        let world = World::start();
        let opened = world.open_many(0, 40).await;
        let refused: Vec<Refused> = opened.iter().filter_map(|guard| guard.as_ref().err().copied()).collect();
        assert_eq!(refused.len(), 10);
        assert_eq!(refused[0].reason, Reason::AppLimitExceeded);
        assert_eq!((refused[0].limit, refused[0].remaining()), (20, 0));
        let before = world.holds();
        for _ in 0..1_000 {
            assert!(world.open(0).await.is_err());
        }
        assert_eq!(world.holds(), before, "nobody asks again at once");
        drop(opened);
        assert!(world.open(0).await.is_ok(), "what was released here is free here");
    });
}

#[test]
fn idle_slots_of_one_application_are_there_for_another() {
    run(async {
        let world = World::start();
        world.connections.set_cluster_max(12);
        drop(world.open_many(0, 9).await);
        assert!(world.connections.counts(&app(0)).unwrap().held >= 9);
        let opened = world.open_many(1, 12).await;
        assert!(opened.iter().all(Result::is_ok), "all that the cluster has");
        assert_eq!(world.open(0).await.unwrap_err().reason, Reason::ClusterLimitExceeded);
    });
}

#[test]
fn nobody_waits_for_a_dead_ledger_longer_than_the_timeout_and_later_not_at_all() {
    run(async {
        let world = World::start();
        let tracked = world.open(0).await.unwrap();
        world.set_delay(NEVER);
        let mut guards = Vec::new();
        let mut waits = Vec::new();
        for _ in 0..60 {
            let start = Instant::now();
            guards.push(world.open(1).await.unwrap());
            waits.push(start.elapsed());
        }
        assert!(waits.iter().all(|wait| *wait <= Duration::from_millis(50)), "{waits:?}");
        assert!(waits[10..].iter().all(Duration::is_zero), "the breaker is open: {waits:?}");
        assert!(guards.iter().all(|guard| guard.id().is_none()));
        assert_eq!(world.connections.level(), Level::FailOpen);
        assert_eq!(world.connections.counts(&app(1)).unwrap().untracked, 60);

        world.set_delay(0);
        sleep(Duration::from_secs(2)).await;
        assert_eq!(world.connections.level(), Level::Normal, "it was found again");
        assert_eq!(world.open(1).await.unwrap_err().reason, Reason::AppLimitExceeded, "all sixty are known");
        assert!(guards[0].release() && !guards[0].release());
        drop(guards);
        sleep(Duration::from_secs(1)).await;
        assert!(world.open(1).await.unwrap().id().is_some());
        assert_eq!(world.connections.counts(&app(1)).unwrap().untracked, 0);
        sleep(Duration::from_secs(10)).await;
        assert_eq!(
            world.events(1).await,
            [(EventKind::Untracked, 60), (EventKind::AppLimitExceeded, 1)],
            "the log knows of all of it"
        );
        assert_eq!(tracked.status(), Status::Open);
    });
}

#[test]
fn whoever_goes_away_while_waiting_leaves_nothing_behind() {
    run(async {
        let world = World::start();
        world.set_delay(40);
        let waiting = tokio::time::timeout(Duration::from_millis(5), world.open(0)).await;
        assert!(waiting.is_err());
        sleep(Duration::from_mins(2)).await;
        let totals = world.connections.totals();
        assert_eq!((totals.open, totals.untracked, totals.held), (0, 0, 0), "what was granted went back");
    });
}

#[test]
fn p18_a_leaked_connection_is_released_logged_and_done_with() {
    run(async {
        let world = World::start();
        let (leaked, alive) = (world.open(0).await.unwrap(), world.open(0).await.unwrap());
        for _ in 0..34 {
            sleep(Duration::from_secs(10)).await;
            alive.touch(world.clock.now());
        }
        assert_eq!((leaked.status(), alive.status()), (Status::Leaked, Status::Open));
        let counts = world.connections.counts(&app(0)).unwrap();
        assert_eq!((counts.open, counts.leaked), (1, 1));
        drop(leaked);
        assert_eq!(world.connections.counts(&app(0)).unwrap().open, 1, "its guard does nothing any more");
        assert_eq!(world.events(0).await, [(EventKind::ConnectionLeaked, 1)]);
        let listed = world.connections.list(None, 0, 10);
        assert_eq!((listed.total, listed.connections[0].client), (1, CLIENT));
        assert!(listed.connections[0].last_seen > Nanos::from_secs(330));
    });
}

#[test]
fn p18_cleanup_follows_the_degradation() {
    run(async {
        let world = World::start();
        let leaked = world.open(0).await.unwrap();
        sleep(Duration::from_secs(280)).await;
        world.set_delay(NEVER);
        sleep(Duration::from_mins(10)).await;
        assert_eq!(leaked.status(), Status::Open, "nobody looks while the ledger is away");
        world.set_delay(0);
        sleep(Duration::from_secs(2)).await;
        assert_eq!(leaked.status(), Status::Leaked);
    });
}

/// When leaked connections are found while the ledger takes that long, in seconds since the last time, and how many.
async fn found_while_slow(delay_ms: u64, leaked: usize) -> Vec<(u64, u64)> {
    // A call that takes longer than anybody waits for it would count as lost.
    let patient = Duration::from_secs(1);
    let world =
        World::with(Settings { cluster_max: 5_000, ledger_timeout: patient, ..Settings::new(cluster()) });
    world.connections.set_limits(&app(0), Limits::new(2_000, 2_000), world.clock.now());
    let guards = world.open_many(0, leaked).await;
    assert!(guards.iter().all(Result::is_ok));
    sleep(Duration::from_secs(100)).await;
    world.set_delay(delay_ms);
    let (mut found, mut before, mut last) = (Vec::new(), 0, world.clock.now());
    while before < leaked as u64 {
        sleep(Duration::from_secs(1)).await;
        let leaked = world.connections.counts(&app(0)).unwrap().leaked;
        if leaked > before {
            let now = world.clock.now();
            found.push((now.since(last).get() / 1_000_000_000, leaked - before));
            (before, last) = (leaked, now);
        }
    }
    found
}

#[test]
fn p18_the_slower_the_ledger_the_less_and_the_later_it_is_cleaned_up() {
    run(async {
        let mild = found_while_slow(20, 1_100).await;
        assert_eq!(mild.iter().map(|(_, count)| *count).collect::<Vec<_>>(), [500, 500, 100]);
        assert!(mild[1..].iter().all(|(after, _)| (59..=61).contains(after)), "{mild:?}");
        let significant = found_while_slow(200, 500).await;
        assert_eq!(significant.iter().map(|(_, count)| *count).collect::<Vec<_>>(), [200, 200, 100]);
        assert!(significant[1..].iter().all(|(after, _)| (119..=121).contains(after)), "{significant:?}");
    });
}

#[test]
fn a_node_tells_how_it_is_doing_every_ten_seconds() {
    run(async {
        let world = World::start();
        let guards = world.open_many(1, 7).await;
        sleep(Duration::from_millis(60_500)).await;
        assert_eq!(world.ledger.reports.load(Ordering::SeqCst), 6);
        let stats = world.ledger.connection_stats(&cluster()).await.unwrap();
        assert_eq!((stats.len(), stats[0].totals.open, stats[0].apps.len()), (1, 7, 1));
        drop(guards);
        world.connections.set_limits(&app(1), Limits::new(3, 3), world.clock.now());
        sleep(Duration::from_secs(10)).await;
        let stats = world.ledger.connection_stats(&cluster()).await.unwrap();
        assert_eq!((stats[0].totals.open, stats[0].totals.peak, stats[0].totals.opened), (0, 7, 7));
        assert_eq!(world.events(1).await, [(EventKind::LimitsChanged, 1)]);
    });
}

#[test]
fn an_idle_node_is_quiet_and_a_busy_one_asks_little() {
    run(async {
        let world = World::start();
        sleep(Duration::from_mins(1)).await;
        assert!(world.holds() <= 1, "it has nothing to say");
        let before = world.holds();
        for _ in 0..10_000 {
            let guard = world.open(0).await.unwrap();
            sleep(Duration::from_millis(1)).await;
            drop(guard);
        }
        let calls = world.holds() - before;
        assert!(calls <= 30, "{calls} calls for ten thousand connections within ten seconds");
    });
}

/// As of a node whose clock was an hour ahead in its last life.
#[test]
fn a_node_whose_clock_went_back_gets_slots_again() {
    run(async {
        let world = World::start();
        let later = Hold {
            node: NodeId::new("node-0").unwrap(),
            incarnation: 3_600_000_000,
            seq: 1,
            acked: 0,
            is_leaving: false,
            cluster_max: 100,
            entries: Vec::new(),
        };
        world.ledger.memory.hold(&cluster(), &later).await.unwrap();
        let start = Instant::now();
        let first = world.open(0).await.unwrap();
        assert!(first.id().is_none(), "let in without a slot");
        let second = world.open(0).await.unwrap();
        assert!(second.id().is_none() && start.elapsed().is_zero(), "and at once");
        assert_eq!(world.connections.level(), Level::FailOpen);
        sleep(Duration::from_secs(15)).await;
        assert!(world.holds() <= 40, "{} calls", world.holds());
        assert_eq!(world.connections.level(), Level::Normal);
        assert!(world.open(0).await.unwrap().id().is_some());
    });
}

#[test]
fn goodbye_gives_everything_back() {
    run(async {
        let world = World::start();
        let guards = world.open_many(0, 9).await;
        let ask = Hold {
            node: NodeId::new("node-1").unwrap(),
            incarnation: 1,
            seq: 1,
            acked: 0,
            is_leaving: false,
            cluster_max: 100,
            entries: Vec::new(),
        };
        let reply = world.ledger.memory.hold(&cluster(), &ask).await.unwrap();
        assert!(reply.cluster_total >= 9);
        world.shutdown.send(()).unwrap();
        world.task.await.unwrap();
        let reply = world.ledger.memory.hold(&cluster(), &Hold { seq: 2, ..ask }).await.unwrap();
        assert_eq!(reply.cluster_total, 0);
        drop(guards);
        let start = Instant::now();
        let straggler = world.connections.open(&app(0), CLIENT, world.clock.now()).await.unwrap();
        assert!(straggler.id().is_none() && start.elapsed().is_zero(), "let in at once");
    });
}

#[test]
fn an_application_that_is_gone_is_refused_and_forgotten() {
    run(async {
        let world = World::start();
        assert_eq!(
            world
                .connections
                .open(&AppId::new("nobody").unwrap(), CLIENT, Nanos::ZERO)
                .await
                .unwrap_err()
                .reason,
            Reason::UnknownApp
        );
        let guard = world.open(2).await.unwrap();
        world.connections.remove(&app(2));
        assert_eq!(world.open(2).await.unwrap_err().reason, Reason::AppLimitExceeded);
        sleep(Duration::from_secs(5)).await;
        assert_eq!(world.connections.counts(&app(2)).unwrap().open, 1, "what is open stays");
        drop(guard);
        sleep(Duration::from_mins(1)).await;
        assert_eq!(world.connections.counts(&app(2)), None);
        assert_eq!(world.open(2).await.unwrap_err().reason, Reason::UnknownApp);
    });
}
