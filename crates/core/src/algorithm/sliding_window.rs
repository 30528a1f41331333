//! The sliding window: the fixed window, with what was taken in the last one fading out as this one passes.
//!
//! `estimate = last * (share of the window still to come) + count`
//!
//! The upper 48 bits of the word are the start of the window plus the count, as in the fixed window but in
//! steps of 2,048 ns; the lower 16 bits are the last window's count, exact up to 65,535 and rounded up beyond.

use super::{Limit, Word};
use crate::units::Nanos;

const STEP_BITS: u32 = 11;
const LAST_BITS: u32 = 16;
const LAST_MAX: u64 = (1 << LAST_BITS) - 1;

/// Takes `n` tokens if the estimate leaves them: returns the word to store.
pub fn take(limit: &Limit, word: Word, now: Nanos, n: u64) -> Option<Word> {
    let window = Window::at(limit, word, now);
    if n > window.room() { None } else { Some(window.with(n)) }
}

/// How long until `n` tokens are there: `None` if no window has that many.
pub fn wait(limit: &Limit, word: Word, now: Nanos, n: u64) -> Option<Nanos> {
    let window = Window::at(limit, word, now);
    if n > window.limit {
        None
    } else if n <= window.room() {
        Some(Nanos::ZERO)
    } else {
        Some(from_steps(window.opens_for(n)).since(now))
    }
}

/// How many whole tokens the estimate leaves.
pub fn remaining(limit: &Limit, word: Word, now: Nanos) -> u64 {
    Window::at(limit, word, now).room()
}

/// How long until nothing that was taken counts any more.
pub fn reset_after(limit: &Limit, word: Word, now: Nanos) -> Nanos {
    let window = Window::at(limit, word, now);
    let windows = match (window.count, window.last) {
        (0, 0) => return Nanos::ZERO,
        (0, _) => 1,
        _ => 2,
    };
    from_steps(window.start + windows * window.length).since(now)
}

pub(super) const fn word_at(moment: Nanos) -> Word {
    Word::new(steps(moment) << LAST_BITS)
}

/// The window that is open now, in steps.
struct Window {
    limit: u64,
    length: u64,
    start: u64,
    /// Steps into the window.
    at: u64,
    count: u64,
    last: u64,
}

impl Window {
    fn at(limit: &Limit, word: Word, now: Nanos) -> Self {
        // Rounded up, so that the rate in force is never above the one asked for.
        let length = limit.period().get().div_ceil(1 << STEP_BITS).max(2);
        // A step stands for at most one token: more than one per 2,048 ns cannot be told apart.
        let limit = limit.amount().min(length - 1);
        let unit = (length - 1) / limit;
        let start_of = |moment: u64| moment - moment % length;
        let now = steps(now);
        let (moment, last) = (word.get() >> LAST_BITS, unpack(word.get() & LAST_MAX, limit));
        let (opened, current) = (start_of(moment), start_of(now));
        let count = ((moment - opened) / unit).min(limit);
        if opened >= current {
            // A clock that stepped back stays at the start of the window that was opened.
            let at = now.saturating_sub(opened);
            return Self { limit, length, start: opened, at, count, last };
        }
        let last = if opened + length == current { count } else { 0 };
        Self { limit, length, start: current, at: now - current, count: 0, last }
    }

    /// Whole tokens that still fit.
    fn room(&self) -> u64 {
        let fading = u128::from(self.last) * u128::from(self.length - self.at);
        let fading = u64::try_from(fading.div_ceil(u128::from(self.length))).unwrap_or(u64::MAX);
        self.limit.saturating_sub(self.count).saturating_sub(fading)
    }

    fn with(&self, n: u64) -> Word {
        let unit = (self.length - 1) / self.limit;
        let moment = self.start + (self.count + n) * unit;
        Word::new(moment << LAST_BITS | pack(self.last, self.limit))
    }

    /// When `n` will fit: in this window or, once the count of this one fades, in the next.
    fn opens_for(&self, n: u64) -> u64 {
        let faded = |taken: u64, spare: u64| {
            // The first step at which ceil(taken * (length - step) / length) <= spare.
            let still = u128::from(spare) * u128::from(self.length) / u128::from(taken.max(1));
            self.length - u64::try_from(still).unwrap_or(u64::MAX).min(self.length)
        };
        match (self.limit - self.count).checked_sub(n) {
            Some(spare) if spare > 0 || self.last == 0 => self.start + faded(self.last, spare),
            // Whatever is left of the last window's count stands in the way until this window ends.
            Some(_) => self.start + self.length,
            None => self.start + self.length + faded(self.count, self.limit - n),
        }
    }
}

/// As many bits as a word has room for: past the horizon the clock seems to step back, which hands out nothing.
const fn steps(time: Nanos) -> u64 {
    (time.get() >> STEP_BITS) & (u64::MAX >> LAST_BITS)
}

const fn from_steps(steps: u64) -> Nanos {
    Nanos::new(steps << STEP_BITS)
}

fn pack(last: u64, limit: u64) -> u64 {
    if limit <= LAST_MAX { last } else { scale(last, LAST_MAX, limit) }
}

fn unpack(packed: u64, limit: u64) -> u64 {
    if limit <= LAST_MAX { packed.min(limit) } else { scale(packed, limit, LAST_MAX) }
}

/// `value * to / from`, rounded up.
fn scale(value: u64, to: u64, from: u64) -> u64 {
    u64::try_from((u128::from(value) * u128::from(to)).div_ceil(u128::from(from))).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithm::test::{any_history, any_limit};
    use core::time::Duration;
    use proptest::prelude::*;

    #[test]
    fn the_last_window_fades_out() {
        let limit = Limit::per(100, Duration::from_nanos(1_000 << STEP_BITS)).unwrap();
        let at = |step: u64| Nanos::new(step << STEP_BITS);
        let word = take(&limit, Word::FRESH, at(500), 80).unwrap();
        assert_eq!(remaining(&limit, word, at(999)), 20);
        assert_eq!(remaining(&limit, word, at(1_000)), 20, "all of the last window still counts");
        assert_eq!(remaining(&limit, word, at(1_500)), 60, "half of it");
        assert_eq!(remaining(&limit, word, at(2_000)), 100, "none of it");
        assert_eq!(take(&limit, word, at(1_000), 60), None);
        assert_eq!(wait(&limit, word, at(1_000), 60), Some(at(500)));
        assert_eq!(wait(&limit, word, at(1_000), 101), None);
    }

    #[test]
    fn no_double_burst_around_a_boundary() {
        let limit = Limit::per(10, Duration::from_secs(1)).unwrap();
        let word = take(&limit, Word::FRESH, Nanos::new(999_000_000), 10).unwrap();
        assert!(take(&limit, word, Nanos::new(1_001_000_000), 1).is_none());
    }

    #[test]
    fn a_clock_that_steps_back_forgets_nothing() {
        let limit = Limit::per(10, Duration::from_secs(1)).unwrap();
        let word = take(&limit, Word::FRESH, Nanos::from_secs(5), 10).unwrap();
        assert!(take(&limit, word, Nanos::from_secs(3), 1).is_none());
        assert_eq!(remaining(&limit, word, Nanos::from_secs(3)), 0);
    }

    #[test]
    fn large_counts_of_the_last_window_round_up() {
        for last in [0, 1, 77_777, 100_000] {
            let kept = unpack(pack(last, 100_000), 100_000);
            assert!(kept >= last && kept <= last + 2, "{last} became {kept}");
        }
    }

    proptest! {
        /// Within any aligned window at most the limit; within any two, at most twice.
        #[test]
        fn never_more_than_the_limit_in_a_window(limit in any_limit(), history in any_history()) {
            let mut word = Word::FRESH;
            let window = limit.period().get().div_ceil(1 << STEP_BITS).max(2);
            let mut counts = std::collections::BTreeMap::<u64, u64>::new();
            for (now, n) in history {
                let before = remaining(&limit, word, now);
                let wait = wait(&limit, word, now, n);
                prop_assert_eq!(wait.is_none(), n > limit.amount().min(window - 1));
                if let Some(taken) = take(&limit, word, now, n) {
                    prop_assert!(n <= before && wait == Some(Nanos::ZERO));
                    word = taken;
                    prop_assert_eq!(remaining(&limit, word, now), before - n);
                    *counts.entry(steps(now) / window).or_default() += n;
                } else if let Some(wait) = wait {
                    prop_assert!(n > before);
                    prop_assert!(take(&limit, word, now.plus(wait), n).is_some(), "waited {} for {}", wait, n);
                }
            }
            prop_assert!(counts.values().all(|&count| count <= limit.amount()));
        }

        #[test]
        fn any_word_at_any_time_is_within_bounds(limit in any_limit(), word in any::<u64>(), now in any::<u64>(), n in any::<u64>()) {
            let (word, now) = (Word::new(word >> 2), Nanos::new(now));
            prop_assert!(remaining(&limit, word, now) <= limit.amount());
            let _ = (take(&limit, word, now, n), wait(&limit, word, now, n), reset_after(&limit, word, now));
        }
    }
}
