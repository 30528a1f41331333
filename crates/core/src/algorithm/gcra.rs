//! The generic cell rate algorithm: the kernel of the three bucket algorithms.
//!
//! The word is the **theoretical arrival time**: when the bucket will be full again. Taking `n` tokens moves
//! it `n` intervals on, from now or from where it stands, whichever is later:
//!
//! `next = max(word, now) + n * interval`, allowed while `next <= now + burst * interval`; which is to say, while
//! the word is at most what a full bucket has beside the `n` ahead of now.
//!
//! A clock that steps back finds the word further ahead: it refills nothing and hands out nothing twice.

use super::limit::{nanos, ticks};
use super::{Limit, Word};
use crate::units::Nanos;

/// Takes `n` tokens if they are there: returns the word to store.
#[inline]
pub fn take(limit: &Limit, word: Word, now: Nanos, n: u64) -> Option<Word> {
    let ((cost, beside), now) = (limit.split(n)?, ticks(now));
    if word.get() > now.checked_add(beside)? {
        return None;
    }
    word.get().max(now).checked_add(cost).map(Word::new)
}

/// How long until `n` tokens are there: `None` if the limit never holds that many.
pub fn wait(limit: &Limit, word: Word, now: Nanos, n: u64) -> Option<Nanos> {
    let (_, beside) = limit.split(n)?;
    Some(nanos(word.get().saturating_sub(ticks(now).saturating_add(beside))))
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
    now.saturating_add(limit.depth()).saturating_sub(word.get().max(now))
}

pub(super) const fn word_at(moment: Nanos) -> Word {
    Word::new(ticks(moment))
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
        for n in [6, u64::MAX] {
            assert_eq!(take(&limit, Word::FRESH, Nanos::ZERO, n), None);
            assert_eq!(wait(&limit, Word::FRESH, Nanos::ZERO, n), None);
        }
    }

    #[test]
    fn a_burst_of_a_rate_that_does_not_divide_a_second_passes_one_by_one() {
        let limit = Limit::per_second(3).unwrap();
        let mut word = Word::FRESH;
        for _ in 0..3 {
            word = take(&limit, word, Nanos::ZERO, 1).unwrap();
        }
        assert_eq!(take(&limit, word, Nanos::ZERO, 1), None);
    }

    proptest! {
        /// Over any stretch of any history at most `rate * t + burst` tokens are taken.
        #[test]
        fn never_more_than_rate_times_time_plus_burst(limit in any_limit(), history in any_history()) {
            let mut word = Word::FRESH;
            let mut taken: Vec<(u64, u64)> = Vec::new();
            for (now, n) in history {
                if let Some(next) = take(&limit, word, now, n) {
                    word = next;
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
            let Some(wait) = wait(&limit, word, now, n) else { return Ok(()) };
            prop_assert_eq!(take(&limit, word, now, n).is_some(), wait == Nanos::ZERO);
            prop_assume!(now.plus(wait) < Limit::HORIZON);
            prop_assert!(take(&limit, word, now.plus(wait), n).is_some());
            let too_early = now.plus(wait).since(Nanos::new(1));
            prop_assert!(wait == Nanos::ZERO || take(&limit, word, too_early, n).is_none());
        }

        /// Also past the horizon, where the clock seems to step back.
        #[test]
        fn nothing_is_ever_given_back(limit in any_limit(), word in any::<u64>(), now in any::<u64>(), n in 1..50u64) {
            let (word, now) = (Word::new(word), Nanos::new(now));
            if let Some(next) = take(&limit, word, now, n) {
                prop_assert!(next > word);
            }
        }

        #[test]
        fn what_remains_can_be_taken_and_no_more(limit in any_limit(), word in any::<u64>(), now in any::<u64>()) {
            let (word, now) = (Word::new(word), Nanos::new(now % Limit::HORIZON.get()));
            let left = remaining(&limit, word, now);
            prop_assert!(left <= limit.burst());
            prop_assert!(left == 0 || take(&limit, word, now, left).is_some());
            prop_assert!(take(&limit, word, now, left + 1).is_none());
        }
    }
}
