use std::time::{SystemTime, UNIX_EPOCH};
use tollgate_core::units::Millis;

/// Where a ledger in this process takes its time from.
pub trait LedgerClock: Send + Sync {
    /// Milliseconds since the Unix epoch.
    fn now(&self) -> Millis;
}

/// The machine's clock. It may be set back: the arithmetic expects that.
#[derive(Clone, Copy, Debug, Default)]
pub struct WallClock;

impl LedgerClock for WallClock {
    fn now(&self) -> Millis {
        SystemTime::now().duration_since(UNIX_EPOCH).map_or(Millis::ZERO, Millis::from)
    }
}

impl<F: Fn() -> Millis + Send + Sync> LedgerClock for F {
    fn now(&self) -> Millis {
        self()
    }
}
