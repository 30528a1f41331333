//! A circuit breaker: after a few failures in a row nobody waits for the ledger, and single probes find out
//! when it is back.

use crate::units::Nanos;

/// When to open and how often to probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Terms {
    /// Failures in a row that open the breaker.
    pub failures: u32,
    /// How long to wait before the first probe; doubled after each that fails.
    pub first_pause: Nanos,
    /// The longest pause between probes.
    pub longest_pause: Nanos,
}

impl Default for Terms {
    fn default() -> Self {
        Self { failures: 3, first_pause: Nanos::new(100_000_000), longest_pause: Nanos::new(500_000_000) }
    }
}

/// The state of a breaker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Breaker {
    /// Calls go through; this many in a row have failed.
    Closed(u32),
    /// No call goes through until then; the pause after that is this long.
    Open {
        /// When to probe.
        until: Nanos,
        /// How long this pause is.
        pause: Nanos,
    },
    /// One call is out to find out; no other goes through before `until`, when the probe counts as lost.
    Probing {
        /// When to give the probe up.
        until: Nanos,
        /// How long the last pause was.
        pause: Nanos,
    },
}

impl Default for Breaker {
    fn default() -> Self {
        Self::Closed(0)
    }
}

impl Breaker {
    /// Whether calls go through freely.
    pub const fn is_closed(&self) -> bool {
        matches!(self, Self::Closed(_))
    }

    /// Whether a call may go out now. While open, the first to ask after the pause becomes the probe.
    pub fn admits(&mut self, terms: &Terms, now: Nanos) -> bool {
        match *self {
            Self::Closed(_) => true,
            Self::Open { until, pause } | Self::Probing { until, pause } if now >= until => {
                *self = Self::Probing { until: now.plus(terms.longest_pause), pause };
                true
            }
            _ => false,
        }
    }

    /// A call was answered.
    pub fn succeeded(&mut self) {
        *self = Self::Closed(0);
    }

    /// A call failed. Answers of calls that were out when the breaker opened change nothing.
    pub fn failed(&mut self, terms: &Terms, now: Nanos) {
        *self = match *self {
            Self::Closed(failures) if failures + 1 < terms.failures => Self::Closed(failures + 1),
            Self::Closed(_) => Self::open(terms.first_pause, now),
            Self::Probing { pause, .. } => Self::open(pause.plus(pause).min(terms.longest_pause), now),
            Self::Open { .. } => return,
        };
    }

    const fn open(pause: Nanos, now: Nanos) -> Self {
        Self::Open { until: now.plus(pause), pause }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TERMS: Terms = Terms { failures: 3, first_pause: Nanos::new(100), longest_pause: Nanos::new(300) };

    fn opened() -> Breaker {
        let mut breaker = Breaker::default();
        for _ in 0..3 {
            breaker.failed(&TERMS, Nanos::ZERO);
        }
        breaker
    }

    #[test]
    fn opens_after_failures_in_a_row() {
        let mut breaker = Breaker::default();
        breaker.failed(&TERMS, Nanos::ZERO);
        breaker.failed(&TERMS, Nanos::ZERO);
        breaker.succeeded();
        breaker.failed(&TERMS, Nanos::ZERO);
        assert!(breaker.is_closed());
        assert!(!opened().is_closed());
        assert!(!opened().admits(&TERMS, Nanos::new(99)));
    }

    #[test]
    fn one_probe_at_a_time() {
        let mut breaker = opened();
        assert!(breaker.admits(&TERMS, Nanos::new(100)));
        assert!(!breaker.admits(&TERMS, Nanos::new(101)), "the probe is out");
        assert!(breaker.admits(&TERMS, Nanos::new(400)), "the probe never came back");
        breaker.succeeded();
        assert!(breaker.is_closed());
    }

    #[test]
    fn pauses_double_up_to_the_longest() {
        let mut breaker = opened();
        let mut now = Nanos::new(100);
        for pause in [200, 300, 300] {
            assert!(breaker.admits(&TERMS, now));
            breaker.failed(&TERMS, now);
            assert_eq!(
                breaker,
                Breaker::Open { until: now.plus(Nanos::new(pause)), pause: Nanos::new(pause) }
            );
            breaker.failed(&TERMS, now);
            now = now.plus(Nanos::new(pause));
        }
    }
}
