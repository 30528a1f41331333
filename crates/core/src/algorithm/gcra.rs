//! The generic cell rate algorithm: the kernel of the three bucket algorithms.
//!
//! The word is the **theoretical arrival time**: when the bucket will be full again. Taking `n` tokens moves
//! it `n` intervals on, from now or from where it stands, whichever is later:
//!
//! `next = max(word, now) + n * interval`, allowed while `next <= now + burst * interval`.
//!
//! A clock that steps back finds the word further ahead: it refills nothing and hands out nothing twice.

use super::limit::{nanos, ticks};
use super::{Limit, Refused, Taken, Word};
use crate::units::Nanos;

/// Takes `n` tokens if they are there.
#[inline]
pub fn take(limit: &Limit, word: Word, now: Nanos, n: u64) -> Result<Taken, Refused> {
    let Some(cost) = n.checked_mul(limit.interval()).filter(|&cost| cost <= limit.depth()) else {
        return Err(Refused::Never);
    };
    let now = ticks(now);
    let next = word.get().max(now).saturating_add(cost);
    let latest = now + limit.depth();
    if next > latest {
        return Err(Refused::Wait(nanos(next - latest)));
    }
    Ok(Taken { next: Word::new(next), delay: Nanos::ZERO })
}

/// How many whole tokens could be taken now.
pub fn remaining(limit: &Limit, word: Word, now: Nanos) -> u64 {
    room(limit, word, now) / limit.interval()
}

/// How long until the bucket is full.
pub fn reset_after(word: Word, now: Nanos) -> Nanos {
    nanos(word.get().saturating_sub(ticks(now)))
}

/// What is left, in ticks.
pub(super) fn room(limit: &Limit, word: Word, now: Nanos) -> u64 {
    let now = ticks(now);
    (now + limit.depth()).saturating_sub(word.get().max(now))
}

pub(super) const fn moment(word: Word) -> Nanos {
    nanos(word.get())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithm::test::{any_history, any_limit};
    use proptest::prelude::*;
    use std::vec::Vec;

    #[test]
    fn more_than_the_burst_never_passes() {
        let limit = Limit::new(10, 5).unwrap();
        assert_eq!(take(&limit, Word::FRESH, Nanos::ZERO, 6), Err(Refused::Never));
        assert_eq!(take(&limit, Word::FRESH, Nanos::ZERO, u64::MAX), Err(Refused::Never));
    }

    #[test]
    fn a_burst_of_a_rate_that_does_not_divide_a_second_passes_one_by_one() {
        let limit = Limit::per_second(3).unwrap();
        let mut word = Word::FRESH;
        for _ in 0..3 {
            word = take(&limit, word, Nanos::ZERO, 1).unwrap().next;
        }
        assert!(take(&limit, word, Nanos::ZERO, 1).is_err());
    }

    proptest! {
        /// Over any stretch of any history at most `rate * t + burst` tokens are taken.
        #[test]
        fn never_more_than_rate_times_time_plus_burst(limit in any_limit(), history in any_history()) {
            let mut word = Word::FRESH;
            let mut taken: Vec<(u64, u64)> = Vec::new();
            for (now, n) in history {
                if let Ok(step) = take(&limit, word, now, n) {
                    word = step.next;
                    taken.push((now.get(), n));
                }
            }
            for from in 0..taken.len() {
                let mut sum = 0u128;
                for &(at, n) in &taken[from..] {
                    sum += u128::from(n);
                    let minted = u128::from(at - taken[from].0) * u128::from(limit.amount());
                    let bound = minted + u128::from(limit.burst()) * u128::from(limit.period().get());
                    prop_assert!(sum * u128::from(limit.period().get()) <= bound);
                }
            }
        }

        /// Waiting exactly as long as told is enough, and a nanosecond less is not.
        #[test]
        fn the_wait_is_true(limit in any_limit(), word in any::<u64>(), now in 0..u64::MAX / 2, n in 1..50u64) {
            let (word, now) = (Word::new(word >> 2), Nanos::new(now.min(Limit::HORIZON.get() / 2)));
            if let Err(Refused::Wait(wait)) = take(&limit, word, now, n) {
                prop_assume!(now.plus(wait) < Limit::HORIZON);
                prop_assert!(take(&limit, word, now.plus(wait), n).is_ok());
                prop_assert!(take(&limit, word, now.plus(wait).since(Nanos::new(1)), n).is_err());
            }
        }

        #[test]
        fn what_remains_can_be_taken_and_no_more(limit in any_limit(), word in any::<u64>(), now in any::<u64>()) {
            let (word, now) = (Word::new(word >> 2), Nanos::new(now));
            let left = remaining(&limit, word, now);
            prop_assert!(left <= limit.burst());
            prop_assert!(left == 0 || take(&limit, word, now, left).is_ok());
            prop_assert!(take(&limit, word, now, left + 1).is_err());
        }
    }
}
