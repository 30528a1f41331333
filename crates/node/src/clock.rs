//! Where a node's time comes from. Nothing else in this crate reads a clock.

use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio::time::Instant;
use tollgate_core::units::{Millis, Nanos};

/// The runtime's clock, counted from when this value was made. It never goes back, and a test can stop it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    origin: Instant,
}

impl Clock {
    pub(crate) fn start() -> Self {
        Self { origin: Instant::now() }
    }

    pub(crate) fn now(&self) -> Nanos {
        Nanos::new(u64::try_from(self.origin.elapsed().as_nanos()).unwrap_or(u64::MAX))
    }

    /// The runtime's moment of a time on this clock. One too far off to be reckoned is an hour away.
    pub(crate) fn instant(&self, at: Nanos) -> Instant {
        let hour = Duration::from_hours(1);
        let since = Duration::from_nanos(at.get());
        self.origin.checked_add(since).unwrap_or_else(|| Instant::now() + hour)
    }
}

/// What people call the time: for logs and records, and to tell a node's lives apart.
pub(crate) fn wall() -> Millis {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(Millis::ZERO, Millis::from)
}
