use crate::units::Nanos;
use core::fmt;
use core::time::Duration;

/// So many tokens per period, and how many may be taken at once.
///
/// A limit is checked and worked out when it is built, so that a decision is additions and comparisons:
/// build it once and keep it. The bucket algorithms use the rate and the burst; the window algorithms admit
/// [`amount`](Self::amount) per [`period`](Self::period) and have no burst of their own.
///
/// ```
/// use std::time::Duration;
/// use tollgate_core::algorithm::Limit;
///
/// let steady = Limit::per_second(100)?;                            // 100 a second, 100 at once
/// let bursty = Limit::new(100, 500)?;                              // 100 a second, 500 at once
/// let slow = Limit::per(20, Duration::from_secs(60))?.with_burst(5)?; // 20 a minute, 5 at once
/// # assert_eq!((steady.burst(), bursty.burst(), slow.burst()), (100, 500, 5));
/// # Ok::<(), tollgate_core::algorithm::LimitError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Limit {
    amount: u64,
    period: Nanos,
    burst: u64,
    /// Ticks that one token is worth, rounded up: the rate in force is never above the one asked for.
    interval: u64,
    /// Ticks that a full bucket is worth.
    depth: u64,
    /// Ticks that a full bucket is worth beside one token.
    beside_one: u64,
    fingerprint: u64,
}

/// Why numbers do not make a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LimitError {
    /// No tokens per period.
    ZeroRate,
    /// No time in a period.
    ZeroPeriod,
    /// No tokens at once.
    ZeroBurst,
    /// More than [`Limit::MAX_RATE`] tokens a second.
    TooFast,
    /// A period, or the time to refill the burst, longer than [`Limit::MAX_SPAN`].
    TooLong,
}

impl Limit {
    /// The highest rate, in tokens per second.
    pub const MAX_RATE: u64 = 1_000_000_000;

    /// The longest period, and the longest time for a burst to refill: 366 days.
    pub const MAX_SPAN: Duration = Duration::from_hours(366 * 24);

    /// The words last until here, 17 years after the clock's origin. After that, buckets soon refuse everything;
    /// they never hand out more.
    pub const HORIZON: Nanos = Nanos::from_secs(17 * 366 * 24 * 60 * 60);

    /// `rate` tokens a second, `burst` at once.
    pub fn new(rate: u64, burst: u64) -> Result<Self, LimitError> {
        Self::build(rate, Nanos::from_secs(1), burst)
    }

    /// `rate` tokens a second, as many at once.
    pub fn per_second(rate: u64) -> Result<Self, LimitError> {
        Self::new(rate, rate)
    }

    /// `amount` tokens per `period`, as many at once.
    pub fn per(amount: u64, period: Duration) -> Result<Self, LimitError> {
        Self::build(amount, period.into(), amount)
    }

    /// The same rate with another burst.
    pub fn with_burst(self, burst: u64) -> Result<Self, LimitError> {
        Self::build(self.amount, self.period, burst)
    }

    /// Tokens per period.
    pub const fn amount(&self) -> u64 {
        self.amount
    }

    /// The period.
    pub const fn period(&self) -> Nanos {
        self.period
    }

    /// Tokens that may be taken at once.
    pub const fn burst(&self) -> u64 {
        self.burst
    }

    /// A number that tells this limit from others, for tables keyed by key and limit.
    pub const fn fingerprint(&self) -> u64 {
        self.fingerprint
    }

    pub(super) const fn interval(&self) -> u64 {
        self.interval
    }

    /// What `n` tokens are worth in ticks, and what a full bucket has left beside them; `None` if it never holds
    /// that many. A bucket always holds one.
    #[inline]
    pub(super) const fn split(&self, n: u64) -> Option<(u64, u64)> {
        if n == 1 {
            return Some((self.interval, self.beside_one));
        }
        let Some(cost) = n.checked_mul(self.interval) else { return None };
        match self.depth.checked_sub(cost) {
            Some(beside) => Some((cost, beside)),
            None => None,
        }
    }

    pub(super) const fn depth(&self) -> u64 {
        self.depth
    }

    fn build(amount: u64, period: Nanos, burst: u64) -> Result<Self, LimitError> {
        let longest = Nanos::from(Self::MAX_SPAN);
        match (amount, period, burst) {
            (0, ..) => return Err(LimitError::ZeroRate),
            (_, Nanos::ZERO, _) => return Err(LimitError::ZeroPeriod),
            (.., 0) => return Err(LimitError::ZeroBurst),
            (_, period, _) if period > longest => return Err(LimitError::TooLong),
            // At most one token per nanosecond.
            (amount, period, _) if amount > period.get() => return Err(LimitError::TooFast),
            _ => {}
        }
        let interval = ticks(period).div_ceil(amount);
        let depth = burst.checked_mul(interval).ok_or(LimitError::TooLong)?;
        if depth > ticks(longest) {
            return Err(LimitError::TooLong);
        }
        let fingerprint = mix(amount ^ mix(period.get() ^ mix(burst)));
        Ok(Self { amount, period, burst, interval, depth, beside_one: depth - interval, fingerprint })
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} per {:?}, {} at once", self.amount, Duration::from(self.period), self.burst)
    }
}

impl fmt::Display for LimitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ZeroRate => write!(f, "the rate must be positive"),
            Self::ZeroPeriod => write!(f, "the period must be positive"),
            Self::ZeroBurst => write!(f, "the burst must be positive"),
            Self::TooFast => write!(f, "the rate must be at most {} per second", Limit::MAX_RATE),
            Self::TooLong => {
                write!(f, "the period and the time to refill the burst must be at most 366 days")
            }
        }
    }
}

impl core::error::Error for LimitError {}

/// Spreads a number over all 64 bits, one to one (the finaliser of `SplitMix64`).
const fn mix(number: u64) -> u64 {
    let number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}

/// Ticks are 1/32 of a nanosecond, so that rounding an interval up to a whole tick costs a limit of a million
/// a second at most 0.003 % of its rate.
const TICK_BITS: u32 = 5;

/// A moment or span in ticks. Past the horizon the clock seems to step back, which hands out nothing.
pub(super) const fn ticks(time: Nanos) -> u64 {
    time.get() << TICK_BITS
}

/// Ticks in nanoseconds, rounded up: a wait is never told too short.
pub(super) const fn nanos(ticks: u64) -> Nanos {
    Nanos::new(ticks.div_ceil(1 << TICK_BITS))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_limit_is_refused() {
        assert_eq!(Limit::new(0, 1), Err(LimitError::ZeroRate));
        assert_eq!(Limit::new(1, 0), Err(LimitError::ZeroBurst));
        assert_eq!(Limit::per(1, Duration::ZERO), Err(LimitError::ZeroPeriod));
        assert_eq!(Limit::new(Limit::MAX_RATE + 1, 1), Err(LimitError::TooFast));
        assert_eq!(Limit::new(1, u64::MAX), Err(LimitError::TooLong));
        assert_eq!(Limit::per(1, Duration::MAX), Err(LimitError::TooLong));
        assert!(Limit::new(Limit::MAX_RATE, Limit::MAX_RATE).is_ok());
        assert!(Limit::per(1, Limit::MAX_SPAN).is_ok());
    }

    #[test]
    fn a_moment_and_a_span_fit_in_a_word() {
        let furthest = ticks(Limit::HORIZON).checked_add(ticks(Limit::MAX_SPAN.into()));
        assert!(furthest.is_some_and(|word| word.checked_add(word >> 8).is_some()));
    }
}
