use super::room::Room;
use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU32, AtomicU64, Ordering};
use tollgate_core::units::Nanos;

/// The number of a connection, unique on its node for as long as that runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ConnectionId(pub u64);

/// What became of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Status {
    /// It is open.
    Open,
    /// It was released by its holder.
    Released,
    /// It was not seen for too long and was released for its holder.
    Leaked,
}

impl Status {
    /// The name, as in listings.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Released => "released",
            Self::Leaked => "leaked",
        }
    }
}

/// A tracked connection: it has taken a slot of its application and one of the cluster.
#[derive(Debug)]
pub(super) struct Track {
    pub(super) id: ConnectionId,
    pub(super) room: Arc<Room>,
    pub(super) client: IpAddr,
    pub(super) opened_at: Nanos,
    last_seen: AtomicU64,
    status: AtomicU8,
    /// Where it stands in its shard of the table; only used under that shard's lock.
    pub(super) place: AtomicU32,
}

impl Track {
    pub(super) const fn new(id: ConnectionId, room: Arc<Room>, client: IpAddr, now: Nanos) -> Self {
        Self {
            id,
            room,
            client,
            opened_at: now,
            last_seen: AtomicU64::new(now.get()),
            status: AtomicU8::new(Status::Open as u8),
            place: AtomicU32::new(0),
        }
    }

    pub(super) fn touch(&self, now: Nanos) {
        self.last_seen.store(now.get(), Ordering::Relaxed);
    }

    pub(super) fn last_seen(&self) -> Nanos {
        Nanos::new(self.last_seen.load(Ordering::Relaxed))
    }

    pub(super) fn status(&self) -> Status {
        [Status::Open, Status::Released, Status::Leaked][usize::from(self.status.load(Ordering::Acquire)) % 3]
    }

    /// Ends it and gives its slots back, unless somebody else has; returns whether it was this call.
    pub(super) fn end(&self, how: Status) -> bool {
        let (open, how) = (Status::Open as u8, how as u8);
        if self.status.compare_exchange(open, how, Ordering::AcqRel, Ordering::Relaxed).is_err() {
            return false;
        }
        // In this order, so that the table never holds more than the counters say.
        self.room.shared.table.remove(self);
        self.room.shared.gauge.give();
        self.room.gauge.give();
        true
    }
}

impl fmt::Display for ConnectionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
