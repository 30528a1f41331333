//! The clock both sides read.

use governor::clock::{Clock as GovernorClock, Reference};
use governor::nanos::Nanos as GovernorNanos;
use std::hint::black_box;
use std::ops::Add;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;
use tollgate_limiter::{Clock, Nanos};

/// The processor's time stamp counter, scaled to nanoseconds.
#[derive(Clone, Debug, Default)]
pub(super) struct SharedClock(quanta::Clock);

impl SharedClock {
    fn nanos(&self) -> u64 {
        self.0.delta_as_nanos(0, self.0.raw())
    }
}

impl Clock for SharedClock {
    fn now(&self) -> Nanos {
        Nanos::new(self.nanos())
    }
}

impl GovernorClock for SharedClock {
    type Instant = Moment;

    fn now(&self) -> Moment {
        Moment(GovernorNanos::new(self.nanos()))
    }
}

/// A clock that costs next to nothing: every reading is a little later than the last. For one thread, as it
/// would lose readings between two.
#[derive(Debug, Default)]
pub(super) struct FreeClock(AtomicU64);

/// governor wants its clocks to be copied; a copy starts anew, as nothing compares their times.
impl Clone for FreeClock {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl FreeClock {
    /// Nanoseconds from one reading to the next: enough for any quota of the races to refill.
    const STEP: u64 = 4;

    fn nanos(&self) -> u64 {
        // A load and a store, not an atomic addition: that would cost as much as the decision.
        let now = self.0.load(Ordering::Relaxed) + Self::STEP;
        self.0.store(now, Ordering::Relaxed);
        now
    }
}

impl Clock for FreeClock {
    fn now(&self) -> Nanos {
        Nanos::new(self.nanos())
    }
}

impl GovernorClock for FreeClock {
    type Instant = Moment;

    fn now(&self) -> Moment {
        Moment(GovernorNanos::new(self.nanos()))
    }
}

/// The clock's time as governor wants it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Moment(GovernorNanos);

impl Add<GovernorNanos> for Moment {
    type Output = Self;

    fn add(self, span: GovernorNanos) -> Self {
        Self(self.0 + span)
    }
}

impl Reference for Moment {
    fn duration_since(&self, earlier: Self) -> GovernorNanos {
        self.0.saturating_sub(earlier.0)
    }

    fn saturating_sub(&self, span: GovernorNanos) -> Self {
        Self(self.0.saturating_sub(span))
    }
}

/// How long one reading takes: the part of every decision that neither side can help. The best of many short
/// series, since it has no other side to be paired with.
pub(super) fn nanos_to_read() -> f64 {
    const READINGS: u32 = 10_000;
    let clock = SharedClock::default();
    let series = || {
        let from = Instant::now();
        for _ in 0..READINGS {
            black_box(black_box(&clock).nanos());
        }
        from.elapsed().as_secs_f64() * 1e9 / f64::from(READINGS)
    };
    (0..100).map(|_| series()).fold(f64::INFINITY, f64::min)
}
