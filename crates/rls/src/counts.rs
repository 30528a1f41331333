use std::sync::atomic::{AtomicU64, Ordering};

/// What was asked of the service, since it started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Calls that passed.
    pub passed: u64,
    /// Calls that were refused.
    pub refused: u64,
    /// Calls that made no sense.
    pub invalid: u64,
    /// Descriptors that named no application.
    pub unmatched: u64,
}

#[derive(Debug, Default)]
pub(crate) struct Counters {
    pub(crate) passed: AtomicU64,
    pub(crate) refused: AtomicU64,
    pub(crate) invalid: AtomicU64,
    pub(crate) unmatched: AtomicU64,
}

impl Counters {
    pub(crate) fn counts(&self) -> Counts {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Counts {
            passed: read(&self.passed),
            refused: read(&self.refused),
            invalid: read(&self.invalid),
            unmatched: read(&self.unmatched),
        }
    }
}

pub(crate) fn count(counter: &AtomicU64) {
    counter.fetch_add(1, Ordering::Relaxed);
}
