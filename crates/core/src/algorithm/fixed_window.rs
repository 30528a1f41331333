//! The fixed window: so many per window, and windows lie end to end from the clock's origin.
//!
//! The word is the start of the window plus the count, each counted token standing for a moment inside the
//! window. A word before the window that `now` is in counts nothing.

use super::limit::{nanos, ticks};
use super::{Limit, Word};
use crate::units::Nanos;

/// Takes `n` tokens if the window has them: returns the word to store.
pub fn take(limit: &Limit, word: Word, now: Nanos, n: u64) -> Option<Word> {
    let window = Window::at(limit, word, now);
    let count = window.count.checked_add(n).filter(|&count| count <= limit.amount())?;
    Some(Word::new(window.start + count * unit(limit)))
}

/// How long until `n` tokens are there: `None` if no window has that many.
pub fn wait(limit: &Limit, word: Word, now: Nanos, n: u64) -> Option<Nanos> {
    let window = Window::at(limit, word, now);
    if n > limit.amount() {
        None
    } else if window.count + n <= limit.amount() {
        Some(Nanos::ZERO)
    } else {
        Some(window.left(now))
    }
}

/// How many tokens the window has left.
pub fn remaining(limit: &Limit, word: Word, now: Nanos) -> u64 {
    limit.amount() - Window::at(limit, word, now).count
}

/// How long until the window ends, or zero if nothing was taken in it.
pub fn reset_after(limit: &Limit, word: Word, now: Nanos) -> Nanos {
    let window = Window::at(limit, word, now);
    if window.count == 0 { Nanos::ZERO } else { window.left(now) }
}

/// The window that is open now, in ticks.
struct Window {
    start: u64,
    length: u64,
    count: u64,
}

impl Window {
    /// A word of a later window, seen by a clock that stepped back, keeps that window open.
    fn at(limit: &Limit, word: Word, now: Nanos) -> Self {
        let length = ticks(limit.period());
        let start_of = |moment: u64| moment - moment % length;
        let (opened, current) = (start_of(word.get()), start_of(ticks(now)));
        if opened < current {
            return Self { start: current, length, count: 0 };
        }
        let count = ((word.get() - opened) / unit(limit)).min(limit.amount());
        Self { start: opened, length, count }
    }

    fn left(&self, now: Nanos) -> Nanos {
        nanos(self.start.saturating_add(self.length).saturating_sub(ticks(now)))
    }
}

/// Ticks that a counted token stands for. The last one still lies inside its window.
fn unit(limit: &Limit) -> u64 {
    (ticks(limit.period()) - 1) / limit.amount()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithm::test::{any_history, any_limit};
    use core::time::Duration;
    use proptest::prelude::*;

    #[test]
    fn a_window_starts_anew_at_its_boundary() {
        let limit = Limit::per(3, Duration::from_mins(1)).unwrap();
        let at = |s| Nanos::from_secs(s);
        let word = take(&limit, Word::FRESH, at(59), 3).unwrap();
        assert_eq!(take(&limit, word, at(59), 1), None);
        assert_eq!(wait(&limit, word, at(59), 1), Some(at(1)));
        assert_eq!(remaining(&limit, word, at(59)), 0);
        assert_eq!(remaining(&limit, word, at(60)), 3);
        let word = take(&limit, word, at(60), 3).unwrap();
        assert_eq!(wait(&limit, word, at(60), 1), Some(at(60)));
        assert_eq!(wait(&limit, word, at(59), 1), Some(at(61)), "the clock stepped back");
        assert_eq!(wait(&limit, word, at(60), 4), None);
    }

    proptest! {
        #[test]
        fn never_more_than_the_limit_in_a_window(limit in any_limit(), history in any_history()) {
            let mut word = Word::FRESH;
            let mut counts = std::collections::BTreeMap::<u64, u64>::new();
            for (now, n) in history {
                let before = remaining(&limit, word, now);
                let wait = wait(&limit, word, now, n);
                prop_assert_eq!(wait.is_none(), n > limit.amount());
                if let Some(taken) = take(&limit, word, now, n) {
                    prop_assert!(n <= before && wait == Some(Nanos::ZERO));
                    word = taken;
                    prop_assert_eq!(remaining(&limit, word, now), before - n);
                    *counts.entry(now.get() / limit.period().get()).or_default() += n;
                } else if let Some(wait) = wait {
                    prop_assert!(n > before);
                    prop_assert!(take(&limit, word, now.plus(wait), n).is_some());
                }
            }
            prop_assert!(counts.values().all(|&count| count <= limit.amount()));
        }

        #[test]
        fn any_word_at_any_time_is_within_bounds(limit in any_limit(), word in any::<u64>(), now in any::<u64>(), n in any::<u64>()) {
            let (word, now) = (Word::new(word), Nanos::new(now));
            prop_assert!(remaining(&limit, word, now) <= limit.amount());
            let _ = (take(&limit, word, now, n), wait(&limit, word, now, n), reset_after(&limit, word, now));
        }
    }
}
