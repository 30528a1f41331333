use super::event::Event;
use super::guard::Guard;
use super::refused::{Denied, Refused};
use super::room::Room;
use super::rounds::Rounds;
use super::shared::Shared;
use super::sweep::Cursor;
use super::track::{ConnectionId, Track};
use arc_swap::ArcSwap;
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tollgate_core::connection::{Limits, Shortage};
use tollgate_core::degrade::Level;
use tollgate_core::id::{AppId, ClusterId};
use tollgate_core::reason::Reason;
use tollgate_core::units::{Millis, Nanos};
use tollgate_ledger::connection::{Counts, EventKind};

/// When to come back after a limit was reached.
const RETRY_AFTER: Millis = Millis::from_secs(1);

/// How the connections of a cluster are treated on this node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// The cluster.
    pub cluster: ClusterId,
    /// How many connections it may have, over all nodes.
    pub cluster_max: u32,
    /// A connection that was not seen for this long has leaked.
    pub leak_timeout: Millis,
    /// The longest that opening a connection waits for the ledger.
    pub ledger_timeout: Duration,
}

impl Settings {
    /// The usual ones: 5,000 connections, 300 s, 50 ms.
    pub const fn new(cluster: ClusterId) -> Self {
        Self {
            cluster,
            cluster_max: 5_000,
            leak_timeout: Millis::from_secs(300),
            ledger_timeout: Duration::from_millis(50),
        }
    }
}

/// The connections of one cluster on this node. Clones are the same connections.
#[derive(Clone, Debug)]
pub struct Connections(pub(super) Arc<Inner>);

#[derive(Debug)]
pub(super) struct Inner {
    pub(super) settings: Settings,
    pub(super) rooms: ArcSwap<Rooms>,
    /// Held by whoever changes which rooms there are.
    pub(super) changing: Mutex<()>,
    pub(super) shared: Arc<Shared>,
    pub(super) rounds: Rounds,
    pub(super) cursor: Mutex<Cursor>,
}

pub(super) type Rooms = HashMap<AppId, Arc<Room>>;

/// What is in the way of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Obstacle {
    NoSlot,
    Limit(Shortage),
}

impl Connections {
    /// No connections, and no application that may open one.
    pub fn new(settings: Settings) -> Self {
        let shared = Arc::new(Shared::new(settings.cluster.clone(), settings.cluster_max));
        Self(Arc::new(Inner {
            settings,
            rooms: ArcSwap::default(),
            changing: Mutex::default(),
            shared,
            rounds: Rounds::default(),
            cursor: Mutex::default(),
        }))
    }

    /// Opens a connection on a slot that this node holds. Does no I/O. While the ledger is out of reach, a connection is
    /// let in without a slot.
    ///
    /// `now` must be the time of the keeper's clock.
    pub fn try_open(&self, app: &AppId, client: IpAddr, now: Nanos) -> Result<Guard, Denied> {
        let Some(room) = self.room(app) else { return Err(Denied::Refused(Refused::UNKNOWN_APP)) };
        self.try_enter(&room, client, now).map_err(|obstacle| match obstacle {
            Obstacle::NoSlot => Denied::NoSlot,
            Obstacle::Limit(shortage) => Denied::Refused(self.refuse(&room, shortage)),
        })
    }

    pub(super) fn try_enter(&self, room: &Arc<Room>, client: IpAddr, now: Nanos) -> Result<Guard, Obstacle> {
        match enter(room, client, now) {
            Err(_) if self.level() == Level::FailOpen => Ok(Guard::untracked(Arc::clone(room))),
            result => result,
        }
    }

    /// Counts a refusal and says what there is to tell about it.
    pub(super) fn refuse(&self, room: &Room, shortage: Shortage) -> Refused {
        let shared = &self.0.shared;
        room.tally.refused(shortage);
        shared.tally.refused(shortage);
        let (limit, total, gauge) = match shortage {
            Shortage::Cluster => (shared.max(), shared.total(), &shared.gauge),
            Shortage::App | Shortage::Learning => (room.limits().max, room.view.total(), &room.gauge),
        };
        Refused {
            reason: shortage.reason(),
            limit: limit.into(),
            current: total.max(gauge.read().in_use.into()),
            retry_after: Some(RETRY_AFTER),
        }
    }

    /// Sets the limits of an application, or makes it known. They hold at once for new connections; those that are open
    /// stay, and other nodes learn from the ledger.
    pub fn set_limits(&self, app: &AppId, limits: Limits, now: Nanos) {
        self.set_all_limits([(app.clone(), limits)], now);
    }

    /// Sets the limits of many applications in one step.
    pub fn set_all_limits(&self, limits: impl IntoIterator<Item = (AppId, Limits)>, now: Nanos) {
        let _changing = self.0.changing.lock().unwrap_or_else(PoisonError::into_inner);
        let mut rooms = self.0.rooms.load_full();
        for (app, limits) in limits {
            match rooms.get(&app) {
                Some(room) if room.set_limits(limits) => {
                    let kind = EventKind::LimitsChanged;
                    self.0.shared.pending.push(Event { app, at: now, kind, client: None });
                }
                Some(_) => {}
                None => {
                    let room = Room::new(app.clone(), Arc::clone(&self.0.shared), limits);
                    Arc::make_mut(&mut rooms).insert(app, Arc::new(room));
                }
            }
        }
        self.0.rooms.store(rooms);
    }

    /// Forgets applications that are gone, once nothing of them is left.
    pub(super) fn prune(&self) {
        let _changing = self.0.changing.lock().unwrap_or_else(PoisonError::into_inner);
        let mut rooms = self.0.rooms.load_full();
        if rooms.values().any(|room| room.is_over()) {
            Arc::make_mut(&mut rooms).retain(|_, room| !room.is_over());
            self.0.rooms.store(rooms);
        }
    }

    /// The application is gone: nobody opens a connection for it any more. It is forgotten once those that are open
    /// have ended.
    pub fn remove(&self, app: &AppId) {
        if let Some(room) = self.room(app) {
            room.remove();
        }
    }

    /// Sets how many connections the cluster may have. Holds at once for new connections.
    pub fn set_cluster_max(&self, max: u32) {
        self.0.shared.set_max(max);
    }

    /// How many connections the cluster may have.
    pub fn cluster_max(&self) -> u32 {
        self.0.shared.max()
    }

    /// How well the ledger can be reached, as the keeper last found.
    pub fn level(&self) -> Level {
        self.0.shared.level()
    }

    /// The counts over all applications.
    pub fn totals(&self) -> Counts {
        let held = self.0.rooms.load().values().map(|room| u64::from(room.gauge.read().held)).sum();
        let shared = &self.0.shared;
        Counts { held, ..shared.tally.counts(shared.gauge.read()) }
    }

    /// The counts of an application, if it is known.
    pub fn counts(&self, app: &AppId) -> Option<Counts> {
        self.room(app).map(|room| room.tally.counts(room.gauge.read()))
    }

    /// The counts of every application, in no order.
    pub fn all_counts(&self) -> Vec<(AppId, Counts)> {
        let rooms = self.0.rooms.load();
        rooms.values().map(|room| (room.app.clone(), room.tally.counts(room.gauge.read()))).collect()
    }

    pub(super) fn room(&self, app: &AppId) -> Option<Arc<Room>> {
        self.0.rooms.load().get(app).cloned()
    }
}

impl Refused {
    /// Nobody knows the application.
    pub const UNKNOWN_APP: Self =
        Self { reason: Reason::UnknownApp, limit: 0, current: 0, retry_after: None };
}

/// Takes a slot of the application and one of the cluster, or neither.
fn enter(room: &Arc<Room>, client: IpAddr, now: Nanos) -> Result<Guard, Obstacle> {
    let shared = &room.shared;
    let no_slot = || room.view.refusal(now).map_or(Obstacle::NoSlot, Obstacle::Limit);
    let most = room.limits().burst;
    if shared.has_lapsed(now) {
        return Err(no_slot());
    }
    let in_use = room
        .gauge
        .take(most)
        .map_err(|reading| if reading.in_use >= most { Obstacle::Limit(Shortage::App) } else { no_slot() })?;
    let Ok(in_use_by_all) = shared.gauge.take(shared.max()) else {
        room.gauge.give();
        return Err(Obstacle::Limit(Shortage::Cluster));
    };
    room.tally.opened(in_use);
    let id = ConnectionId(shared.tally.opened(in_use_by_all));
    let track = Arc::new(Track::new(id, Arc::clone(room), client, now));
    shared.table.insert(&track);
    Ok(Guard::tracked(track))
}
