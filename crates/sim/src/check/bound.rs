//! How much an application may pass, over any time.
//!
//! Over every time *t* at most `rate * t + burst` passes, and on top of that what is booked as such: the burst
//! allowance and loans, what was granted by writes that a failover lost, what cut-off nodes minted for themselves, what a
//! clock that jumped ahead minted, what an empty store was opened with, and what a change of policy gave.
//!
//! All times are checked at once, by a bucket in one place that knows the promise and every request, but not what anybody
//! lost: it never has less than the system has. Should it run out, more has passed than may.

use tollgate_core::units::{Nanos, Rate, Tokens};

/// A token in the unit of the levels: rate in thousandths x nanoseconds.
const TOKEN: i128 = 1_000_000_000_000;

/// What may pass beyond rate and burst.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Extra {
    /// Drawn from the burst allowance, or borrowed.
    Booked,
    /// Granted by writes that were lost.
    LostWrites,
    /// Minted by nodes that were cut off.
    Fallback,
    /// Minted by a clock that jumped.
    Clock,
    /// What an empty store was opened with, by somebody who did not know of an earlier one.
    Reopened,
    /// Given when the policy changed.
    Policy,
}

impl Extra {
    /// Every kind.
    pub const ALL: [Self; 6] =
        [Self::Booked, Self::LostWrites, Self::Fallback, Self::Clock, Self::Reopened, Self::Policy];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Booked => "allowance and loans",
            Self::LostWrites => "lost writes",
            Self::Fallback => "fallback",
            Self::Clock => "clock jumps",
            Self::Reopened => "reopened",
            Self::Policy => "policy changes",
        }
    }
}

/// How much of each kind there was, in tokens.
pub(crate) type Extras = [f64; Extra::ALL.len()];

/// Follows what passes of one application.
#[derive(Clone, Debug)]
pub(crate) struct Bound {
    rate: Rate,
    burst: Tokens,
    at: Nanos,
    /// Everything that may be on top.
    full: Level,
    /// What is on top and the ledger does not know of: used when there is nothing else, since the ledger goes on
    /// minting as if it was not there.
    hidden: i128,
    /// Only what is booked is on top: what is above is over-admission.
    strict: Level,
    worst: i128,
    extras: [Tokens; Extra::ALL.len()],
}

/// What is missing in a bucket: less than nothing if there is more in it than it holds by itself.
#[derive(Clone, Copy, Debug)]
struct Level(i128);

impl Level {
    fn refill(&mut self, by: i128) {
        if self.0 > 0 {
            self.0 = (self.0 - by).max(0);
        }
    }
}

impl Bound {
    pub(crate) fn new(rate: Rate, burst: Tokens) -> Self {
        // A new application starts with a second of its guarantee. The ledger counts in whole milliseconds, and may be
        // ahead by one.
        let step = i128::from(rate.millis()) * 1_000_000;
        let start = Level(units(burst.minus(rate.per_one_second())) - step);
        let (at, extras) = (Nanos::ZERO, Default::default());
        Self { rate, burst, at, full: start, hidden: 0, strict: start, worst: 0, extras }
    }

    /// Something is on top from now on.
    pub(crate) fn extend(&mut self, extra: Extra, amount: Tokens, now: Nanos) {
        // What is on top comes on top of what has been minted by now, not instead of it.
        self.mint(now);
        self.extras[extra as usize] = self.extras[extra as usize].plus(amount);
        if matches!(extra, Extra::Booked | Extra::Policy) {
            self.full.0 -= units(amount);
            self.strict.0 -= units(amount);
        } else {
            self.hidden += units(amount);
        }
    }

    /// Something passes. Returns by how much that is too much, whatever may be on top.
    pub(crate) fn pass(&mut self, cost: Tokens, now: Nanos) -> Option<Tokens> {
        self.mint(now);
        for level in [&mut self.full, &mut self.strict] {
            level.0 += units(cost);
        }
        let most = units(self.burst);
        self.worst = self.worst.max(self.strict.0 - most);
        let used = (self.full.0 - most).clamp(0, self.hidden);
        self.full.0 -= used;
        self.hidden -= used;
        (self.full.0 > most).then(|| tokens(self.full.0 - most))
    }

    fn mint(&mut self, now: Nanos) {
        let minted = i128::from(self.rate.millis()) * i128::from(now.since(self.at).get());
        self.at = now;
        for level in [&mut self.full, &mut self.strict] {
            level.refill(minted);
        }
    }

    /// The promise changes.
    pub(crate) fn change(&mut self, rate: Rate, burst: Tokens, now: Nanos) {
        self.pass(Tokens::ZERO, now);
        let more = units(burst) - units(self.burst);
        self.full.0 += more;
        self.strict.0 += more;
        (self.rate, self.burst) = (rate, burst);
    }

    pub(crate) const fn rate(&self) -> Rate {
        self.rate
    }

    pub(crate) const fn burst(&self) -> Tokens {
        self.burst
    }

    /// The most that passed beyond rate, burst and what is booked, over any time.
    pub(crate) fn worst(&self) -> Tokens {
        tokens(self.worst)
    }

    pub(crate) const fn extras(&self) -> &[Tokens; Extra::ALL.len()] {
        &self.extras
    }
}

fn units(amount: Tokens) -> i128 {
    i128::from(amount.micros()) * (TOKEN / 1_000_000)
}

fn tokens(units: i128) -> Tokens {
    Tokens::from_micros(u64::try_from(units / (TOKEN / 1_000_000)).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bound() -> Bound {
        Bound::new(Rate::per_second(1_000), Tokens::whole(2_000))
    }

    fn at(ms: u64) -> Nanos {
        Nanos::new(ms * 1_000_000)
    }

    #[test]
    fn a_second_of_the_guarantee_to_start_with_and_then_the_rate() {
        let mut bound = bound();
        assert_eq!(bound.pass(Tokens::whole(1_000), at(0)), None);
        assert_eq!(bound.pass(Tokens::whole(500), at(500)), None);
        assert_eq!(bound.pass(Tokens::whole(2), at(500)), Some(Tokens::whole(1)), "but for one millisecond");
        assert_eq!(bound.worst(), Tokens::whole(1));
    }

    #[test]
    fn unused_time_is_worth_no_more_than_the_burst() {
        let mut bound = bound();
        assert_eq!(bound.pass(Tokens::whole(2_000), at(60_000)), None);
        assert_eq!(bound.pass(Tokens::whole(1), at(60_000)), Some(Tokens::whole(1)));
    }

    #[test]
    fn what_is_on_top_may_pass_and_is_told_apart() {
        let mut bound = bound();
        bound.extend(Extra::Booked, Tokens::whole(100), at(0));
        bound.extend(Extra::Fallback, Tokens::whole(50), at(0));
        assert_eq!(bound.pass(Tokens::whole(1_001), at(0)), None);
        assert_eq!(bound.pass(Tokens::whole(1_000), at(1_000)), None);
        assert_eq!(bound.pass(Tokens::whole(150), at(1_000)), None);
        assert_eq!(bound.worst(), Tokens::whole(50), "what nobody booked");
        assert_eq!(bound.pass(Tokens::whole(1), at(1_000)), Some(Tokens::whole(1)));
    }

    #[test]
    fn what_is_on_top_of_a_bucket_that_has_filled_up_is_on_top() {
        let mut bound = bound();
        assert_eq!(bound.pass(Tokens::whole(1_000), at(0)), None);
        bound.extend(Extra::Booked, Tokens::whole(100), at(60_000));
        assert_eq!(bound.pass(Tokens::whole(2_100), at(60_000)), None);
        assert_eq!(bound.pass(Tokens::whole(1), at(60_000)), Some(Tokens::whole(1)));
    }

    #[test]
    fn another_burst_holds_more_or_less() {
        let mut bound = bound();
        bound.change(Rate::per_second(1_000), Tokens::whole(500), at(0));
        assert_eq!(bound.pass(Tokens::whole(1_001), at(0)), None, "what was there");
        assert_eq!(bound.pass(Tokens::whole(500), at(60_000)), None);
        assert!(bound.pass(Tokens::whole(1), at(60_000)).is_some());
    }
}
