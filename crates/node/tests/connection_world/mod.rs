//! A node with a clock in the test's hands, on any ledger.

#![allow(dead_code, reason = "no test uses all of it")]

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tollgate_core::connection::Limits;
use tollgate_core::id::{AppId, ClusterId, NodeId};
use tollgate_core::units::{Millis, Nanos};
use tollgate_ledger::Slots;
use tollgate_ledger::script::{MluaEngine, ScriptLedger};
use tollgate_node::connection::{
    Connections, Denied, Guard, Identity, Keeper, Line, NodeClock, Refused, Settings,
};

/// The time of everybody.
#[derive(Clone)]
pub(crate) struct Time(Arc<AtomicU64>);

impl Time {
    pub(crate) fn start() -> Self {
        Self(Arc::new(AtomicU64::new(1_000_000)))
    }

    pub(crate) fn advance(&self, millis: u64) {
        self.0.fetch_add(millis, Ordering::SeqCst);
    }

    pub(crate) fn millis(&self) -> Millis {
        Millis::new(self.0.load(Ordering::SeqCst))
    }

    /// The ledger's clock.
    pub(crate) fn ledger_clock(&self) -> impl Fn() -> Millis + Send + Sync + 'static + use<> {
        let time = self.clone();
        move || time.millis()
    }
}

impl NodeClock for Time {
    fn now(&self) -> Nanos {
        self.millis().into()
    }
}

pub(crate) struct Node<L> {
    pub(crate) time: Time,
    pub(crate) connections: Connections,
    pub(crate) keeper: Keeper<Arc<L>, Arc<Line>, Time>,
}

impl<L: Slots> Node<L> {
    pub(crate) fn new(name: &str, incarnation: u64, time: &Time, ledger: &Arc<L>, cluster_max: u32) -> Self {
        let settings =
            Settings { cluster_max, ledger_timeout: Duration::from_secs(5), ..Settings::new(cluster()) };
        Self::with_settings(name, incarnation, time, ledger, settings)
    }

    pub(crate) fn with_settings(
        name: &str,
        incarnation: u64,
        time: &Time,
        ledger: &Arc<L>,
        settings: Settings,
    ) -> Self {
        let connections = Connections::new(settings);
        let identity = Identity { node: NodeId::new(name).unwrap(), incarnation };
        let contact = Arc::new(Line::default());
        let keeper = Keeper::new(connections.clone(), identity, Arc::clone(ledger), contact, time.clone());
        Self { time: time.clone(), connections, keeper }
    }

    pub(crate) fn now(&self) -> Nanos {
        self.time.now()
    }

    pub(crate) fn set_limits(&self, index: usize, max: u32, burst: u32) {
        self.connections.set_limits(&app(index), Limits::new(max, burst), self.now());
    }

    /// Opens a connection; the keeper asks the ledger if it has to.
    pub(crate) async fn open(&mut self, index: usize) -> Result<Guard, Refused> {
        let (app, now) = (app(index), self.now());
        match self.connections.try_open(&app, CLIENT, now) {
            Ok(guard) => Ok(guard),
            Err(Denied::Refused(refused)) => Err(refused),
            Err(Denied::NoSlot) => {
                let connections = self.connections.clone();
                let (opened, _) = tokio::join!(connections.open(&app, CLIENT, now), self.keeper.round());
                opened
            }
        }
    }

    pub(crate) fn open_now(&self, index: usize) -> u64 {
        self.connections.counts(&app(index)).unwrap().open
    }
}

pub(crate) const CLIENT: IpAddr = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 7));

pub(crate) fn app(index: usize) -> AppId {
    AppId::new(&format!("app-{index}")).unwrap()
}

pub(crate) fn cluster() -> ClusterId {
    ClusterId::new("cluster-01").unwrap()
}

pub(crate) fn scripts(time: &Time) -> ScriptLedger<MluaEngine> {
    ScriptLedger::new(MluaEngine::new(time.ledger_clock()).unwrap())
}

/// Runs to the end on a runtime whose time moves only when nobody has anything to do.
pub(crate) fn run<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .unwrap()
        .block_on(future)
}
