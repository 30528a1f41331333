use core::fmt;
use core::time::Duration;

/// A node's time: nanoseconds on its monotonic clock, as a span or as a moment since the clock's origin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Nanos(u64);

/// The ledger's time: milliseconds, as a span or as a moment since the Unix epoch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Millis(u64);

macro_rules! span {
    ($name:ident, $per_second:literal, $unit:literal, $of_duration:ident) => {
        impl $name {
            /// No time, or the clock's origin.
            pub const ZERO: Self = Self(0);

            /// The longest span or latest moment.
            pub const MAX: Self = Self(u64::MAX);

            /// A span or moment of that many units.
            pub const fn new(count: u64) -> Self {
                Self(count)
            }

            /// Whole seconds.
            pub const fn from_secs(seconds: u64) -> Self {
                Self(seconds.saturating_mul($per_second))
            }

            /// The number of units.
            pub const fn get(self) -> u64 {
                self.0
            }

            /// Whole seconds, rounded up.
            pub const fn ceil_secs(self) -> u64 {
                self.0.div_ceil($per_second)
            }

            /// The later moment or longer span, saturating.
            #[must_use]
            pub const fn plus(self, other: Self) -> Self {
                Self(self.0.saturating_add(other.0))
            }

            /// What lies between: zero if `earlier` is in fact later, as when a clock steps back.
            #[must_use]
            pub const fn since(self, earlier: Self) -> Self {
                Self(self.0.saturating_sub(earlier.0))
            }
        }

        impl From<Duration> for $name {
            fn from(duration: Duration) -> Self {
                Self(u64::try_from(duration.$of_duration()).unwrap_or(u64::MAX))
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!("{}", $unit), self.0)
            }
        }
    };
}

span!(Nanos, 1_000_000_000, "ns", as_nanos);
span!(Millis, 1_000, "ms", as_millis);

impl From<Nanos> for Duration {
    fn from(span: Nanos) -> Self {
        Self::from_nanos(span.0)
    }
}

impl From<Millis> for Duration {
    fn from(span: Millis) -> Self {
        Self::from_millis(span.0)
    }
}

impl From<Millis> for Nanos {
    fn from(span: Millis) -> Self {
        Self(span.0.saturating_mul(1_000_000))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_saturate() {
        assert_eq!(Nanos::ZERO.since(Nanos::MAX), Nanos::ZERO);
        assert_eq!(Nanos::MAX.plus(Nanos::MAX), Nanos::MAX);
        assert_eq!(Nanos::from(Duration::MAX), Nanos::MAX);
        assert_eq!(Nanos::from(Millis::MAX), Nanos::MAX);
        assert_eq!(Millis::new(1_001).ceil_secs(), 2);
    }
}
