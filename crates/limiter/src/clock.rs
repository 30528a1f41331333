//! Where time comes from. Nothing else in this crate reads a clock.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;
use tollgate_core::units::Nanos;

/// A source of time that never goes back.
pub trait Clock: Send + Sync {
    /// Nanoseconds since some origin that stays the same.
    fn now(&self) -> Nanos;

    /// Blocks the thread for at most this long, or until it is unparked.
    fn park(&self, longest: Option<Duration>) {
        match longest {
            Some(longest) => thread::park_timeout(longest),
            None => thread::park(),
        }
    }
}

impl<C: Clock + ?Sized> Clock for Arc<C> {
    fn now(&self) -> Nanos {
        (**self).now()
    }

    fn park(&self, longest: Option<Duration>) {
        (**self).park(longest);
    }
}

/// The machine's monotonic clock, counted from when this value was made.
#[derive(Clone, Debug)]
pub struct MonotonicClock {
    #[cfg(feature = "quanta")]
    source: quanta::Clock,
    #[cfg(feature = "quanta")]
    origin: u64,
    #[cfg(not(feature = "quanta"))]
    origin: std::time::Instant,
}

#[cfg(feature = "quanta")]
impl Default for MonotonicClock {
    fn default() -> Self {
        let source = quanta::Clock::new();
        let origin = source.raw();
        Self { source, origin }
    }
}

#[cfg(feature = "quanta")]
impl Clock for MonotonicClock {
    #[inline]
    fn now(&self) -> Nanos {
        Nanos::new(self.source.delta_as_nanos(self.origin, self.source.raw()))
    }
}

#[cfg(not(feature = "quanta"))]
impl Default for MonotonicClock {
    fn default() -> Self {
        Self { origin: std::time::Instant::now() }
    }
}

#[cfg(not(feature = "quanta"))]
impl Clock for MonotonicClock {
    #[inline]
    fn now(&self) -> Nanos {
        self.origin.elapsed().into()
    }
}

/// A clock that moves only when told to, for tests: a thread that waits on it moves it instead of sleeping.
///
/// ```
/// use std::time::Duration;
/// use tollgate_limiter::{Algorithm, Bucket, Limit, ManualClock};
///
/// let clock = ManualClock::default();
/// let bucket = Bucket::with_clock(Algorithm::TokenBucket, Limit::per_second(1)?, clock.clone());
/// assert!(bucket.try_acquire(1)?.is_allowed());
/// assert!(!bucket.try_acquire(1)?.is_allowed());
/// clock.advance(Duration::from_secs(1));
/// assert!(bucket.try_acquire(1)?.is_allowed());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct ManualClock(Arc<AtomicU64>);

impl ManualClock {
    /// Moves the clock on.
    pub fn advance(&self, by: Duration) {
        self.0.fetch_add(Nanos::from(by).get(), Ordering::SeqCst);
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Nanos {
        Nanos::new(self.0.load(Ordering::SeqCst))
    }

    fn park(&self, longest: Option<Duration>) {
        match longest {
            Some(longest) => self.advance(longest),
            None => thread::park(),
        }
    }
}
