//! How long requests waited for the ledger. Those that are decided in memory do not wait, and pay nothing for this.

use std::sync::atomic::{AtomicU64, Ordering};
use tollgate_core::units::Nanos;

/// Where waits are told apart, the shortest first; what is longer than the last counts beyond it.
pub const WAIT_BOUNDS: [Nanos; 10] = [
    Nanos::new(100_000),
    Nanos::new(250_000),
    Nanos::new(500_000),
    Nanos::new(1_000_000),
    Nanos::new(2_500_000),
    Nanos::new(5_000_000),
    Nanos::new(10_000_000),
    Nanos::new(25_000_000),
    Nanos::new(50_000_000),
    Nanos::new(100_000_000),
];

const BUCKETS: usize = WAIT_BOUNDS.len() + 1;

/// Waits, counted.
#[derive(Debug, Default)]
pub(crate) struct Waits {
    counts: [AtomicU64; BUCKETS],
    nanos: AtomicU64,
}

/// How often requests waited for how long, since the node started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Waited {
    /// How many waited no longer than each of [`WAIT_BOUNDS`] and longer than the one before, and how many longer than all.
    pub counts: [u64; BUCKETS],
    /// How long they waited in all.
    pub total: Nanos,
}

impl Waits {
    pub(crate) fn note(&self, wait: Nanos) {
        let bucket = WAIT_BOUNDS.iter().position(|bound| wait <= *bound).unwrap_or(WAIT_BOUNDS.len());
        self.counts[bucket].fetch_add(1, Ordering::Relaxed);
        self.nanos.fetch_add(wait.get(), Ordering::Relaxed);
    }

    pub(crate) fn read(&self) -> Waited {
        let counts = std::array::from_fn(|bucket| self.counts[bucket].load(Ordering::Relaxed));
        Waited { counts, total: Nanos::new(self.nanos.load(Ordering::Relaxed)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_is_counted_where_it_belongs() {
        let waits = Waits::default();
        for wait in [0, 100_000, 100_001, 2_000_000, 100_000_000, 100_000_001, 9_000_000_000] {
            waits.note(Nanos::new(wait));
        }
        let waited = waits.read();
        assert_eq!(waited.counts, [2, 1, 0, 0, 1, 0, 0, 0, 0, 1, 2]);
        assert_eq!(waited.total, Nanos::new(9_202_200_002));
    }
}
