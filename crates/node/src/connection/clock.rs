use tokio::time::Instant;
use tollgate_core::units::Nanos;

/// Where this node takes its time from. It never goes back.
pub trait NodeClock: Send + Sync {
    /// Nanoseconds since some origin that stays the same.
    fn now(&self) -> Nanos;
}

impl<F: Fn() -> Nanos + Send + Sync> NodeClock for F {
    fn now(&self) -> Nanos {
        self()
    }
}

/// The clock that the runtime's timers go by, counted from when this value was made. It stands still when a test pauses
/// the runtime's time.
#[derive(Clone, Copy, Debug)]
pub struct RuntimeClock {
    origin: Instant,
}

impl Default for RuntimeClock {
    fn default() -> Self {
        Self { origin: Instant::now() }
    }
}

impl NodeClock for RuntimeClock {
    fn now(&self) -> Nanos {
        self.origin.elapsed().into()
    }
}
