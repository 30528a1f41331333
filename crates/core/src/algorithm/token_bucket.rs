//! The token bucket: tokens drip in at the rate, are saved up to the burst, and requests take them.
//!
//! Decisions are those of [`gcra`], whose word says when the bucket will be full; here it is read
//! as the number of tokens in the bucket.

use super::{Limit, Word, gcra, limit};
use crate::units::{Nanos, Tokens};

pub use super::gcra::{take, wait};

/// The tokens in the bucket.
pub fn level(limit: &Limit, word: Word, now: Nanos) -> Tokens {
    let micros = u128::from(gcra::room(limit, word, now)) * u128::from(Tokens::MICROS_PER_TOKEN);
    Tokens::from_micros(u64::try_from(micros / u128::from(limit.interval())).unwrap_or(u64::MAX))
}

/// The word of a bucket that holds `tokens` at `now`; a full bucket if that is more than the burst.
pub fn with_level(limit: &Limit, tokens: u64, now: Nanos) -> Word {
    let missing = limit.burst().saturating_sub(tokens);
    Word::new(limit::ticks(now).saturating_add(missing * limit.interval()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithm::test::any_limit;
    use proptest::prelude::*;

    /// Three tokens at the start; a second later five more have dripped in; one is taken, seven are left.
    #[test]
    fn the_worked_example() {
        let limit = Limit::new(5, 10).unwrap();
        let word = with_level(&limit, 3, Nanos::ZERO);
        assert_eq!(level(&limit, word, Nanos::ZERO), Tokens::whole(3));

        let later = Nanos::from_secs(1);
        assert_eq!(level(&limit, word, later), Tokens::whole(8));
        let taken = take(&limit, word, later, 1).unwrap();
        assert_eq!(level(&limit, taken, later), Tokens::whole(7));
    }

    #[test]
    fn drips_fractions_and_stops_at_the_burst() {
        let limit = Limit::new(5, 10).unwrap();
        let word = with_level(&limit, 0, Nanos::ZERO);
        assert_eq!(level(&limit, word, Nanos::new(100_000_000)), Tokens::from_micros(500_000));
        assert_eq!(level(&limit, word, Nanos::from_secs(3_600)), Tokens::whole(10));
        assert_eq!(level(&limit, word, Limit::HORIZON), Tokens::whole(10));
    }

    #[test]
    fn a_clock_that_steps_back_refills_nothing() {
        let limit = Limit::new(5, 10).unwrap();
        let word = with_level(&limit, 4, Nanos::from_secs(100));
        assert_eq!(take(&limit, word, Nanos::from_secs(90), 1), None);
        assert_eq!(wait(&limit, word, Nanos::from_secs(90), 1), Some(Nanos::new(9_400_000_000)));
        assert_eq!(level(&limit, word, Nanos::from_secs(90)), Tokens::ZERO);
        assert_eq!(level(&limit, word, Nanos::from_secs(101)), Tokens::whole(9));
    }

    proptest! {
        #[test]
        fn p03_refill_is_the_formula(rate in 1..100_000u64, burst in 1..100_000u64, level_at in 0..100_000u64, ms in 0..10_000u64) {
            // Rates whose interval is a whole number of ticks, so that the formula holds to the digit.
            let rate = 1 << (rate % 14);
            let limit = Limit::new(rate, burst).unwrap();
            let start = Nanos::from_secs(7);
            let word = with_level(&limit, level_at, start);
            let now = start.plus(Nanos::new(ms * 1_000_000));
            let formula = (level_at.min(burst) * 1_000_000 + ms * rate * 1_000).min(burst * 1_000_000);
            prop_assert_eq!(level(&limit, word, now), Tokens::from_micros(formula));
        }

        #[test]
        fn p04_never_above_the_burst(limit in any_limit(), word in any::<u64>(), now in any::<u64>()) {
            prop_assert!(level(&limit, Word::new(word), Nanos::new(now)) <= Tokens::whole(limit.burst()));
        }
    }
}
