//! What an application asks for at one node: a moving average that knows how much time passed.

use crate::units::{Nanos, Rate, Tokens};

/// The time after which an observation has lost half of its weight, roughly.
pub const MEMORY: Nanos = Nanos::from_secs(1);

/// The observed demand, refusals included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Demand {
    rate: Rate,
    seen_at: Nanos,
}

impl Demand {
    /// Nothing asked for yet, from now on.
    pub const fn new(now: Nanos) -> Self {
        Self { rate: Rate::ZERO, seen_at: now }
    }

    /// Takes in what was asked for since the last observation. The longer that is ago, the more it counts.
    pub fn observe(&mut self, asked: Tokens, now: Nanos) {
        let elapsed = u128::from(now.since(self.seen_at).get());
        let memory = u128::from(MEMORY.get());
        // Millionths of a token per nanosecond are a million thousandths of a token per second.
        let weighted = u128::from(self.rate.millis()) * memory + u128::from(asked.micros()) * 1_000_000;
        let rate = weighted / (memory + elapsed);
        *self = Self { rate: Rate::from_millis(u64::try_from(rate).unwrap_or(u64::MAX)), seen_at: now };
    }

    /// Time in which nothing could be learned: the demand is taken to be what it was.
    pub const fn pass_over(&mut self, now: Nanos) {
        self.seen_at = now;
    }

    /// The demand as of the last observation.
    pub const fn rate(&self) -> Rate {
        self.rate
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn steady(rate: u64, interval_ms: u64, seconds: u64) -> u64 {
        let mut demand = Demand::default();
        let mut now = Nanos::ZERO;
        while now < Nanos::from_secs(seconds) {
            now = now.plus(Nanos::new(interval_ms * 1_000_000));
            demand.observe(Tokens::from_micros(rate * interval_ms * 1_000), now);
        }
        demand.rate().floor()
    }

    #[test]
    fn finds_a_steady_rate_whatever_the_interval() {
        for interval in [10, 100, 500, 1_000] {
            let found = steady(10_000, interval, 12);
            assert!((9_900..=10_000).contains(&found), "{found} at {interval} ms");
        }
    }

    #[test]
    fn forgets_when_nothing_is_asked_for() {
        let mut demand = Demand::default();
        demand.observe(Tokens::whole(10_000), Nanos::from_secs(1));
        demand.observe(Tokens::ZERO, Nanos::from_secs(100));
        assert!(demand.rate() < Rate::per_second(100));
    }

    proptest! {
        #[test]
        fn no_observation_overflows(steps in prop::collection::vec((any::<u64>(), any::<u64>()), 1..20)) {
            let mut demand = Demand::default();
            for (asked, now) in steps {
                demand.observe(Tokens::from_micros(asked), Nanos::new(now));
                prop_assert!(demand.rate() <= Rate::MAX);
            }
        }
    }
}
