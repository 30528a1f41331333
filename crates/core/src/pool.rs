//! L1: the cluster's slack, the headroom that nobody has a private claim to.
//!
//! Slack is fed by the capacity that was not promised to anybody and by what spills from full meters. Meters
//! and slack together never hold more than [`Capacity::depth`]; so over any time `t` no more than
//! `capacity * t + depth` can leave, however many applications burst at once.

use crate::account::MAX_ELAPSED;
use crate::quota::Capacity;
use crate::units::{Millis, Rate, Tokens};

/// The state of one cluster.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Pool {
    /// Headroom for anybody.
    pub slack: Tokens,
    /// When it was last refilled.
    pub refilled_at: Millis,
}

impl Pool {
    /// A new cluster starts with all the slack it can hold.
    pub fn open(capacity: &Capacity, promised: Rate, now: Millis) -> Self {
        Self { slack: ceiling(capacity, promised), refilled_at: now }
    }

    /// Adds what accrued from the capacity that was not promised; returns what did not fit.
    pub fn refill(&mut self, capacity: &Capacity, promised: Rate, now: Millis) -> Tokens {
        let elapsed = now.since(self.refilled_at).min(MAX_ELAPSED);
        self.refilled_at = now;
        self.absorb(capacity.rate.minus(promised).over(elapsed), capacity, promised)
    }

    /// Takes up what spilled from a meter; returns what did not fit.
    pub fn absorb(&mut self, spilled: Tokens, capacity: &Capacity, promised: Rate) -> Tokens {
        let sum = self.slack.plus(spilled);
        self.slack = sum.min(ceiling(capacity, promised));
        sum.minus(self.slack)
    }

    /// What bursts and loans may use: all but the reserve.
    pub const fn spendable(&self, capacity: &Capacity) -> Tokens {
        self.slack.minus(capacity.reserve())
    }
}

/// The most slack there may be: what full meters leave of the depth.
pub const fn ceiling(capacity: &Capacity, promised: Rate) -> Tokens {
    capacity.depth().minus(promised.per_one_second())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn holds_what_full_meters_leave_of_the_depth() {
        let capacity = Capacity::default();
        let promised = Rate::per_second(900_000);
        let mut pool = Pool::open(&capacity, promised, Millis::ZERO);
        assert_eq!(pool.slack, Tokens::whole(300_000));
        assert_eq!(pool.spendable(&capacity), Tokens::whole(200_000));
        assert_eq!(pool.refill(&capacity, promised, Millis::from_secs(1)), Tokens::whole(100_000));
        pool.slack = Tokens::ZERO;
        assert_eq!(pool.refill(&capacity, promised, Millis::from_secs(2)), Tokens::ZERO);
        assert_eq!(pool.slack, Tokens::whole(100_000), "what was not promised");
    }
}
