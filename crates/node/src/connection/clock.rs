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
