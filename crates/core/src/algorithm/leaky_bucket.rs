//! The leaky bucket: requests pour in, and drain at the rate.
//!
//! As a **meter** it refuses what would overflow; it decides as [`gcra`](super::gcra) does, with the burst as
//! the bucket's size. As a **shaper** it also says how long each request has to wait for what is in the bucket
//! before it to drain: hold it back that long and requests leave evenly, one per interval.

use super::limit::{nanos, ticks};
use super::{Limit, Word};
use crate::units::{Nanos, Tokens};

pub use super::gcra::{take, wait};

/// How long the `n` that were just poured in, leaving `word`, wait for what was in the bucket before them.
pub fn delay(limit: &Limit, word: Word, now: Nanos, n: u64) -> Nanos {
    let before = word.get().saturating_sub(n.saturating_mul(limit.interval()));
    nanos(before.saturating_sub(ticks(now)))
}

/// The water in the bucket: what was poured in and has not drained yet.
pub fn water(limit: &Limit, word: Word, now: Nanos) -> Tokens {
    let micros = u128::from(word.get().saturating_sub(ticks(now))) * u128::from(Tokens::MICROS_PER_TOKEN);
    Tokens::from_micros(u64::try_from(micros / u128::from(limit.interval())).unwrap_or(u64::MAX))
}

/// The word of a bucket that holds `water` at `now`, at most what fits in.
pub fn with_water(limit: &Limit, water: u64, now: Nanos) -> Word {
    Word::new(ticks(now).saturating_add(water.min(limit.burst()) * limit.interval()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Eight in the bucket at the start; a second later two have drained; one more fits, seven are in.
    #[test]
    fn the_worked_example() {
        let limit = Limit::new(2, 10).unwrap();
        let word = with_water(&limit, 8, Nanos::ZERO);
        assert_eq!(water(&limit, word, Nanos::ZERO), Tokens::whole(8));

        let later = Nanos::from_secs(1);
        assert_eq!(water(&limit, word, later), Tokens::whole(6));
        let taken = take(&limit, word, later, 1).unwrap();
        assert_eq!(water(&limit, taken, later), Tokens::whole(7));
    }

    #[test]
    fn shapes_a_burst_into_an_even_flow() {
        let limit = Limit::new(4, 3).unwrap();
        let mut word = Word::FRESH;
        for turn in 0..3 {
            word = take(&limit, word, Nanos::from_secs(1), 1).unwrap();
            assert_eq!(delay(&limit, word, Nanos::from_secs(1), 1), Nanos::new(turn * 250_000_000));
        }
        assert_eq!(take(&limit, word, Nanos::from_secs(1), 1), None);
        assert_eq!(wait(&limit, word, Nanos::from_secs(1), 1), Some(Nanos::new(250_000_000)));
    }

    #[test]
    fn drains_to_nothing() {
        let limit = Limit::new(2, 10).unwrap();
        let word = with_water(&limit, 99, Nanos::ZERO);
        assert_eq!(water(&limit, word, Nanos::ZERO), Tokens::whole(10));
        assert_eq!(water(&limit, word, Nanos::from_secs(5)), Tokens::ZERO);
        assert_eq!(water(&limit, word, Limit::HORIZON), Tokens::ZERO);
    }
}
