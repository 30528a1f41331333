use std::sync::atomic::{AtomicU64, Ordering};

/// What became of the requests that a layer has seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Passed within their limit.
    pub passed: u64,
    /// Refused.
    pub refused: u64,
    /// Passed since there was no key or no rule for them.
    pub skipped: u64,
    /// Passed since the throttle had no answer.
    pub failed: u64,
}

#[derive(Debug, Default)]
pub(super) struct Counters {
    pub(super) passed: AtomicU64,
    pub(super) refused: AtomicU64,
    pub(super) skipped: AtomicU64,
    pub(super) failed: AtomicU64,
}

impl Counters {
    pub(super) fn counts(&self) -> Counts {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Counts {
            passed: read(&self.passed),
            refused: read(&self.refused),
            skipped: read(&self.skipped),
            failed: read(&self.failed),
        }
    }
}

pub(super) fn count(counter: &AtomicU64) {
    counter.fetch_add(1, Ordering::Relaxed);
}
