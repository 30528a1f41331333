//! Rate limiting algorithms as pure transitions of one word.
//!
//! Every algorithm here keeps its whole state in one 64-bit word, and in every one of them that word is a
//! **moment**: zero is a bucket nobody has touched, a later moment means that more has been taken, and a
//! moment that has passed means that the bucket is as good as new. This buys three things at once: a
//! transition is a single compare-and-swap; fresh memory needs no initialising; and a table that runs out of
//! room can hand a newcomer the earliest word it has without ever forgetting what anybody took.
//!
//! A transition is handed the time. It reads no clock, takes no lock and allocates nothing.

pub mod fixed_window;
pub mod gcra;
pub mod leaky_bucket;
mod limit;
pub mod sliding_window;
pub mod token_bucket;

pub use limit::{Limit, LimitError};

use crate::units::Nanos;
use core::fmt;

/// The state of one bucket: see the [module](self) for what the number means.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Word(u64);

impl Word {
    /// A bucket that nobody has touched.
    pub const FRESH: Self = Self(0);

    /// The end of time: a bucket from which nothing can be taken any more.
    pub const END: Self = Self(u64::MAX);

    /// The word of that number.
    pub const fn new(word: u64) -> Self {
        Self(word)
    }

    /// The number of the word.
    pub const fn get(self) -> u64 {
        self.0
    }
}

/// Which algorithm decides.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Algorithm {
    /// Saves unused tokens up to the burst and lets them be spent at once.
    #[default]
    TokenBucket,
    /// Fills with requests and drains at the rate; tells each request how long to wait for its turn.
    LeakyBucket,
    /// The token bucket in the words of networks: a theoretical arrival time. Decides the same.
    Gcra,
    /// So many per aligned window. Cheap to reason about; lets twice the limit through around a boundary.
    FixedWindow,
    /// The fixed window with the last window's count fading out. No boundary effect.
    SlidingWindow,
}

impl Algorithm {
    /// All algorithms.
    pub const ALL: [Self; 5] =
        [Self::TokenBucket, Self::LeakyBucket, Self::Gcra, Self::FixedWindow, Self::SlidingWindow];

    /// The name, as in configuration.
    pub const fn name(self) -> &'static str {
        match self {
            Self::TokenBucket => "token_bucket",
            Self::LeakyBucket => "leaky_bucket",
            Self::Gcra => "gcra",
            Self::FixedWindow => "fixed_window",
            Self::SlidingWindow => "sliding_window",
        }
    }

    /// Takes `n` tokens if they are there: returns the word to store, or `None` if they are not.
    #[inline]
    pub fn take(self, limit: &Limit, word: Word, now: Nanos, n: u64) -> Option<Word> {
        if matches!(self, Self::TokenBucket | Self::LeakyBucket | Self::Gcra) {
            gcra::take(limit, word, now, n)
        } else {
            self.take_window(limit, word, now, n)
        }
    }

    /// Apart from the buckets, so that their few instructions can be inlined.
    #[inline(never)]
    fn take_window(self, limit: &Limit, word: Word, now: Nanos, n: u64) -> Option<Word> {
        if word == Word::END {
            None
        } else if self == Self::FixedWindow {
            fixed_window::take(limit, word, now, n)
        } else {
            sliding_window::take(limit, word, now, n)
        }
    }

    /// How long until `n` tokens are there if nobody takes any meanwhile: zero if they are, `None` if the limit
    /// never holds that many.
    pub fn wait(self, limit: &Limit, word: Word, now: Nanos, n: u64) -> Option<Nanos> {
        match self {
            Self::TokenBucket | Self::LeakyBucket | Self::Gcra => gcra::wait(limit, word, now, n),
            Self::FixedWindow => fixed_window::wait(limit, word, now, n),
            Self::SlidingWindow => sliding_window::wait(limit, word, now, n),
        }
    }

    /// How long to hold a request for `n` tokens back that was let through and left `word`, so that requests
    /// leave evenly. Zero for all but the leaky bucket.
    pub fn delay(self, limit: &Limit, word: Word, now: Nanos, n: u64) -> Nanos {
        match self {
            Self::LeakyBucket => leaky_bucket::delay(limit, word, now, n),
            Self::TokenBucket | Self::Gcra | Self::FixedWindow | Self::SlidingWindow => Nanos::ZERO,
        }
    }

    /// How many whole tokens could be taken now.
    pub fn remaining(self, limit: &Limit, word: Word, now: Nanos) -> u64 {
        match self {
            Self::TokenBucket | Self::LeakyBucket | Self::Gcra => gcra::remaining(limit, word, now),
            Self::FixedWindow => fixed_window::remaining(limit, word, now),
            Self::SlidingWindow => sliding_window::remaining(limit, word, now),
        }
    }

    /// How long until the bucket is as good as new.
    pub fn reset_after(self, limit: &Limit, word: Word, now: Nanos) -> Nanos {
        match self {
            Self::TokenBucket | Self::LeakyBucket | Self::Gcra => gcra::reset_after(word, now),
            Self::FixedWindow => fixed_window::reset_after(limit, word, now),
            Self::SlidingWindow => sliding_window::reset_after(limit, word, now),
        }
    }

    /// The word of that moment: a word before it tells of nothing that was taken later.
    pub const fn word_at(self, moment: Nanos) -> Word {
        match self {
            Self::TokenBucket | Self::LeakyBucket | Self::Gcra | Self::FixedWindow => gcra::word_at(moment),
            Self::SlidingWindow => sliding_window::word_at(moment),
        }
    }

    /// For how long after its moment a word still counts.
    pub const fn memory(self, limit: &Limit) -> Nanos {
        match self {
            // A bucket's word is the moment at which it is full again.
            Self::TokenBucket | Self::LeakyBucket | Self::Gcra => Nanos::ZERO,
            Self::FixedWindow => limit.period(),
            Self::SlidingWindow => limit.period().plus(limit.period()),
        }
    }

    /// The most that can be taken at once.
    pub const fn capacity(self, limit: &Limit) -> u64 {
        match self {
            Self::TokenBucket | Self::LeakyBucket | Self::Gcra => limit.burst(),
            Self::FixedWindow | Self::SlidingWindow => limit.amount(),
        }
    }
}

impl fmt::Display for Algorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

#[cfg(test)]
mod test {
    use super::*;
    use core::time::Duration;
    use proptest::prelude::*;
    use std::vec::Vec;

    /// Limits from one an hour to nearly one a microsecond.
    pub(super) fn any_limit() -> impl Strategy<Value = Limit> {
        (1..=400u64, 1..=3_600_000u64, 1..=1_000u64).prop_map(|(amount, millis, burst)| {
            Limit::per(amount, Duration::from_millis(millis)).unwrap().with_burst(burst).unwrap()
        })
    }

    /// Requests in the order of time, from bursts within a nanosecond to an hour apart.
    pub(super) fn any_history() -> impl Strategy<Value = Vec<(Nanos, u64)>> {
        let gap = prop_oneof![0..2u64, 0..1_000_000u64, 0..5_000_000_000u64, 0..3_600_000_000_000u64];
        prop::collection::vec((gap, 1..40u64), 1..60).prop_map(|steps| {
            let mut now = 0;
            steps
                .into_iter()
                .map(|(gap, n)| {
                    now += gap;
                    (Nanos::new(now), n)
                })
                .collect()
        })
    }

    proptest! {
        /// A word older than its memory is as good as new: what lets idle keys be forgotten.
        #[test]
        fn a_word_past_its_memory_is_as_good_as_new(limit in any_limit(), at in 0..10_000_000_000_000u64, n in 1..40u64) {
            for algorithm in Algorithm::ALL {
                let Some(taken) = algorithm.take(&limit, Word::FRESH, Nanos::new(at), n) else { continue };
                let mut now = Nanos::new(at);
                while taken >= algorithm.word_at(now.since(algorithm.memory(&limit))) {
                    now = now.plus(limit.period()).plus(Nanos::new(1 << 11));
                }
                prop_assert_eq!(algorithm.remaining(&limit, taken, now), algorithm.capacity(&limit), "{}", algorithm);
            }
        }

        /// A later word never leaves more: what lets a full table hand its earliest word to a newcomer.
        #[test]
        fn a_later_word_never_leaves_more(
            limit in any_limit(), now in 0..10_000_000_000_000u64, a in 0..20_000_000_000_000u64, b in 0..20_000_000_000_000u64,
        ) {
            let (earlier, later) = (Word::new(a.min(b) << 5), Word::new(a.max(b) << 5));
            for algorithm in [Algorithm::TokenBucket, Algorithm::LeakyBucket, Algorithm::Gcra] {
                let left = |word| algorithm.remaining(&limit, word, Nanos::new(now));
                prop_assert!(left(later) <= left(earlier), "{algorithm}");
            }
        }

        #[test]
        fn nothing_can_be_taken_at_the_end_of_time(limit in any_limit(), now in any::<u64>()) {
            for algorithm in Algorithm::ALL {
                prop_assert_eq!(algorithm.take(&limit, Word::END, Nanos::new(now), 1), None);
            }
        }

        #[test]
        fn a_fresh_word_is_full_until_the_horizon(limit in any_limit(), now in 0..Limit::HORIZON.get()) {
            for algorithm in Algorithm::ALL {
                prop_assert_eq!(algorithm.remaining(&limit, Word::FRESH, Nanos::new(now)), algorithm.capacity(&limit));
                prop_assert_eq!(algorithm.reset_after(&limit, Word::FRESH, Nanos::new(now)), Nanos::ZERO);
            }
        }

        #[test]
        fn years_of_idle_leave_a_bucket_as_new(limit in any_limit(), days in 800..6_000u64) {
            let idle = Nanos::from_secs(days * 86_400);
            for algorithm in Algorithm::ALL {
                let taken = algorithm.take(&limit, Word::FRESH, Nanos::from_secs(1), 1).unwrap();
                prop_assert_eq!(algorithm.remaining(&limit, taken, idle), algorithm.capacity(&limit), "{}", algorithm);
            }
        }
    }
}
