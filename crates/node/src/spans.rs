//! How long things took, counted in bounds that are the same for all of them.

use std::sync::atomic::{AtomicU64, Ordering};
use tollgate_core::units::Nanos;

/// Up to where each bucket counts: five for each power of ten, each some 1.6 times the one before, from ten microseconds to
/// ten seconds.
pub const SPAN_BOUNDS: [Nanos; 31] = bounds();

const BUCKETS: usize = SPAN_BOUNDS.len() + 1;

/// How often something took how long.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spans {
    /// How many took no longer than each of [`SPAN_BOUNDS`] and longer than the one before, and how many longer than all.
    pub counts: [u64; BUCKETS],
    /// How long they took in all.
    pub total: Nanos,
}

/// The same where several count at once.
#[derive(Debug, Default)]
pub(crate) struct SharedSpans {
    counts: [AtomicU64; BUCKETS],
    nanos: AtomicU64,
}

impl Spans {
    /// How many there were.
    pub fn count(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// A bound that so many of a hundred did not exceed, the least that is known; none if there were none. Of those that took
    /// longer than all bounds only that is known: the greatest bound stands for them.
    pub fn percentile(&self, percent: u64) -> Option<Nanos> {
        let wanted = (self.count() * percent).div_ceil(100).max(1);
        let mut so_far = 0;
        let reached = self.counts.iter().position(|count| {
            so_far += count;
            so_far >= wanted
        });
        reached.map(|bucket| SPAN_BOUNDS[bucket.min(SPAN_BOUNDS.len() - 1)])
    }

    /// Both together.
    #[must_use]
    pub fn plus(&self, other: &Self) -> Self {
        let counts = std::array::from_fn(|bucket| self.counts[bucket] + other.counts[bucket]);
        Self { counts, total: self.total.plus(other.total) }
    }

    /// What was counted since then.
    #[must_use]
    pub fn since(&self, then: &Self) -> Self {
        let counts = std::array::from_fn(|bucket| self.counts[bucket].saturating_sub(then.counts[bucket]));
        Self { counts, total: self.total.since(then.total) }
    }

    pub(crate) fn note(&mut self, span: Nanos) {
        self.counts[bucket(span)] += 1;
        self.total = self.total.plus(span);
    }
}

impl SharedSpans {
    pub(crate) fn note(&self, span: Nanos) {
        self.counts[bucket(span)].fetch_add(1, Ordering::Relaxed);
        self.nanos.fetch_add(span.get(), Ordering::Relaxed);
    }

    pub(crate) fn read(&self) -> Spans {
        let counts = std::array::from_fn(|bucket| self.counts[bucket].load(Ordering::Relaxed));
        Spans { counts, total: Nanos::new(self.nanos.load(Ordering::Relaxed)) }
    }
}

fn bucket(span: Nanos) -> usize {
    SPAN_BOUNDS.partition_point(|bound| *bound < span)
}

const fn bounds() -> [Nanos; 31] {
    let steps = [10, 16, 25, 40, 63];
    let mut bounds = [Nanos::ZERO; 31];
    let (mut index, mut unit) = (0, 1_000);
    while index < bounds.len() {
        bounds[index] = Nanos::new(steps[index % steps.len()] * unit);
        index += 1;
        if index % steps.len() == 0 {
            unit *= 10;
        }
    }
    bounds
}

#[cfg(test)]
mod tests {
    use super::*;

    const MILLI: u64 = 1_000_000;

    #[test]
    fn the_bounds_grow_from_ten_microseconds_to_ten_seconds() {
        assert!(SPAN_BOUNDS.is_sorted());
        assert_eq!((SPAN_BOUNDS[0], SPAN_BOUNDS[30]), (Nanos::new(10_000), Nanos::from_secs(10)));
        assert_eq!(SPAN_BOUNDS[10], Nanos::new(MILLI));
    }

    #[test]
    fn a_span_is_counted_where_it_belongs() {
        let (shared, mut own) = (SharedSpans::default(), Spans::default());
        for span in [0, 10_000, 10_001, 2 * MILLI, 10_000 * MILLI, 10_001 * MILLI] {
            shared.note(Nanos::new(span));
            own.note(Nanos::new(span));
        }
        assert_eq!(shared.read(), own);
        let counted: Vec<(usize, u64)> =
            own.counts.into_iter().enumerate().filter(|(_, count)| *count > 0).collect();
        assert_eq!(counted, [(0, 2), (1, 1), (12, 1), (30, 1), (31, 1)]);
        assert_eq!((own.count(), own.total), (6, Nanos::new(20_003 * MILLI + 20_001)));
    }

    #[test]
    fn a_percentile_is_a_bound_that_so_many_stayed_under() {
        let mut spans = Spans::default();
        assert_eq!(spans.percentile(50), None);
        for _ in 0..98 {
            spans.note(Nanos::new(MILLI));
        }
        let quick = spans;
        spans.note(Nanos::new(40 * MILLI));
        spans.note(Nanos::from_secs(60));
        assert_eq!(spans.percentile(50), Some(Nanos::new(MILLI)));
        assert_eq!(spans.percentile(98), Some(Nanos::new(MILLI)));
        assert_eq!(spans.percentile(99), Some(Nanos::new(40 * MILLI)));
        assert_eq!(spans.percentile(100), Some(Nanos::from_secs(10)));
        let slow = spans.since(&quick);
        assert_eq!((slow.count(), slow.percentile(50)), (2, Some(Nanos::new(40 * MILLI))));
        assert_eq!(quick.plus(&slow), spans);
    }
}
