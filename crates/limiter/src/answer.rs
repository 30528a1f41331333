use crate::error::Error;
use crate::waiting::Refusal;
use std::time::Duration;
use tollgate_core::algorithm::{Algorithm, Limit, Word};
use tollgate_core::units::Nanos;

/// Whether the tokens were there, and what follows from it. Everything but the yes or no is worked out only
/// when it is asked for.
#[derive(Clone, Copy, Debug)]
#[must_use = "a refusal has to be acted on"]
pub struct Answer<'a> {
    pub(crate) algorithm: Algorithm,
    pub(crate) limit: &'a Limit,
    pub(crate) now: Nanos,
    pub(crate) n: u64,
    /// The bucket's word after the decision.
    pub(crate) word: Word,
    pub(crate) allowed: bool,
}

impl Answer<'_> {
    /// Whether the tokens were there; they are taken then.
    #[inline]
    pub const fn is_allowed(&self) -> bool {
        self.allowed
    }

    /// How long to hold the request back so that requests leave evenly. Zero for all but the leaky bucket.
    pub fn delay(&self) -> Duration {
        if self.allowed {
            self.algorithm.delay(self.limit, self.word, self.now, self.n).into()
        } else {
            Duration::ZERO
        }
    }

    /// When asking again will succeed if nobody else takes anything: zero if it just did, `None` if more was
    /// asked for than the limit ever holds.
    pub fn retry_after(&self) -> Option<Duration> {
        if self.allowed {
            return Some(Duration::ZERO);
        }
        self.algorithm.wait(self.limit, self.word, self.now, self.n).map(Duration::from)
    }

    /// How many tokens are left.
    pub fn remaining(&self) -> u64 {
        self.algorithm.remaining(self.limit, self.word, self.now)
    }

    /// How long until all tokens are there again.
    pub fn reset_after(&self) -> Duration {
        self.algorithm.reset_after(self.limit, self.word, self.now).into()
    }

    /// How many tokens there are at most.
    pub fn capacity(&self) -> u64 {
        self.algorithm.capacity(self.limit)
    }

    /// The limit that was applied.
    pub const fn limit(&self) -> &Limit {
        self.limit
    }

    /// What the answer means for somebody who waits.
    pub(crate) fn or_wait(&self) -> Result<(), Refusal> {
        match self.retry_after() {
            _ if self.allowed => Ok(()),
            Some(wait) => Err(Refusal::For(wait.into())),
            None => {
                Err(Refusal::Forever(Error::ExceedsCapacity { asked: self.n, capacity: self.capacity() }))
            }
        }
    }
}
