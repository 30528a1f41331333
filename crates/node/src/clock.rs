//! Where a node's time comes from. Nothing else in this crate reads a clock.

use crate::connection::NodeClock;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio::time::Instant;
use tollgate_core::units::{Millis, Nanos};

/// The clock that the runtime's timers go by, counted from when this value was made. It never goes back, and stands still
/// when a test pauses the runtime's time.
#[derive(Clone, Copy, Debug)]
pub struct RuntimeClock {
    origin: Instant,
}

impl RuntimeClock {
    /// The time now.
    pub fn now(&self) -> Nanos {
        self.origin.elapsed().into()
    }

    /// The runtime's moment of a time on this clock. One too far off to be reckoned is an hour away.
    pub(crate) fn instant(&self, at: Nanos) -> Instant {
        let hour = Duration::from_hours(1);
        let since = Duration::from_nanos(at.get());
        self.origin.checked_add(since).unwrap_or_else(|| Instant::now() + hour)
    }
}

impl Default for RuntimeClock {
    fn default() -> Self {
        Self { origin: Instant::now() }
    }
}

impl NodeClock for RuntimeClock {
    fn now(&self) -> Nanos {
        Self::now(self)
    }
}

/// What people call the time: for logs and records, and to tell a node's lives apart.
pub fn wall() -> Millis {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(Millis::ZERO, Millis::from)
}
