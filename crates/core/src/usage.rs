//! How much of the cluster is in use: what was spent over the last second. What is only leased keeps no hardware busy, and
//! most of what a node holds for a request now and then goes back unspent.

use crate::quota::Capacity;
use crate::units::{Millis, Ratio, Tokens};

/// What was spent in this second and the one before; the latter fades out as this one passes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Usage {
    second: u64,
    // The name it has had in snapshots.
    #[cfg_attr(feature = "serde", serde(rename = "granted"))]
    spent: Tokens,
    before: Tokens,
}

impl Usage {
    /// Counts what was spent.
    pub fn record(&mut self, spent: Tokens, now: Millis) {
        self.roll(now);
        self.spent = self.spent.plus(spent);
    }

    /// What was spent over the last second.
    pub fn last_second(&self, now: Millis) -> Tokens {
        let mut rolled = *self;
        rolled.roll(now);
        let still = Millis::from_secs(rolled.second + 1).since(now).get().min(1_000);
        let fading = rolled.before.proportion(Tokens::whole(still), Tokens::whole(1_000));
        rolled.spent.plus(fading)
    }

    /// The share of the capacity in use.
    pub fn ratio(&self, capacity: &Capacity, now: Millis) -> Ratio {
        Ratio::of_parts(self.last_second(now).micros(), capacity.rate.per_one_second().micros())
    }

    /// A clock that stepped back goes on counting in the second it had reached, until it catches up or, after
    /// a step of more than a second, from where it is.
    fn roll(&mut self, now: Millis) {
        let second = now.get() / 1_000;
        if second == self.second || second + 1 == self.second {
            return;
        }
        self.before = if second == self.second + 1 { self.spent } else { Tokens::ZERO };
        self.spent = Tokens::ZERO;
        self.second = second;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_second_slides() {
        let mut usage = Usage::default();
        usage.record(Tokens::whole(1_000), Millis::new(10_200));
        let at = |ms| usage.last_second(Millis::new(ms)).floor();
        assert_eq!((at(10_999), at(11_000), at(11_500), at(12_000)), (1_000, 1_000, 500, 0));
        assert_eq!(at(99_999), 0);
    }

    #[test]
    fn a_small_step_back_counts_on_and_a_large_one_starts_over() {
        let mut usage = Usage::default();
        usage.record(Tokens::whole(7), Millis::new(10_100));
        usage.record(Tokens::whole(7), Millis::new(9_900));
        assert_eq!(usage.last_second(Millis::new(10_100)).floor(), 14);
        usage.record(Tokens::whole(3), Millis::new(1_000));
        assert_eq!(usage.last_second(Millis::new(1_000)).floor(), 3);
    }

    #[test]
    fn is_a_share_of_the_capacity() {
        let mut usage = Usage::default();
        usage.record(Tokens::whole(950_000), Millis::new(500));
        assert_eq!(usage.ratio(&Capacity::default(), Millis::new(600)), Ratio::percent(95));
    }
}
