use crate::answer::Answer;
use crate::cell::Cell;
use crate::clock::{Clock, MonotonicClock};
use crate::error::Error;
use crate::waiting::{Refusal, Room, Wait};
use std::time::Duration;
use tollgate_core::algorithm::{Algorithm, Limit, Word};

/// One bucket: one limit for everybody who shares it.
///
/// Taking tokens is one compare-and-swap; nothing is locked, allocated or run in the background.
///
/// ```
/// use tollgate_limiter::{Algorithm, Bucket, Limit};
///
/// let bucket = Bucket::new(Algorithm::TokenBucket, Limit::new(100, 20)?);
/// let answer = bucket.try_acquire(15)?;
/// assert!(answer.is_allowed());
/// assert_eq!(answer.remaining(), 5);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Bucket<C = MonotonicClock> {
    cell: Padded<Cell>,
    algorithm: Algorithm,
    limit: Limit,
    clock: C,
    room: Room,
}

/// Two cache lines to itself: neighbouring buckets used by different threads would slow each other down.
#[repr(align(128))]
#[derive(Debug)]
struct Padded<T>(T);

/// A bucket has one line, so any key will do.
const ONLY_LINE: u64 = 0;

impl Bucket {
    /// A full bucket on the machine's clock.
    pub fn new(algorithm: Algorithm, limit: Limit) -> Self {
        Self::with_clock(algorithm, limit, MonotonicClock::default())
    }
}

impl<C: Clock> Bucket<C> {
    /// A full bucket on another clock.
    pub fn with_clock(algorithm: Algorithm, limit: Limit, clock: C) -> Self {
        Self { cell: Padded(Cell::new(Word::FRESH)), algorithm, limit, clock, room: Room::default() }
    }

    /// Takes `n` tokens if they are there.
    #[expect(clippy::inline_always, reason = "what the caller does not ask of the answer is not worked out")]
    #[inline(always)]
    pub fn try_acquire(&self, n: u64) -> Result<Answer<'_>, Error> {
        if n == 0 {
            return Err(Error::ZeroTokens);
        }
        let answer = self.take(n);
        // A closed bucket refuses everything, so only a refusal has to ask whether it is.
        if !answer.is_allowed() && self.room.is_closed() {
            return Err(Error::Closed);
        }
        Ok(answer)
    }

    /// Waits for `n` tokens.
    #[cfg(feature = "tokio")]
    pub async fn acquire(&self, n: u64) -> Result<(), Error> {
        self.wait(n, None).run().await
    }

    /// Waits for `n` tokens, but not longer than `timeout`: fails at once when it is clear that they will not
    /// be there by then.
    #[cfg(feature = "tokio")]
    pub async fn acquire_timeout(&self, n: u64, timeout: Duration) -> Result<(), Error> {
        self.wait(n, Some(timeout)).run().await
    }

    /// Waits for `n` tokens, blocking the thread.
    pub fn acquire_blocking(&self, n: u64) -> Result<(), Error> {
        self.wait(n, None).block()
    }

    /// Waits for `n` tokens, blocking the thread, but not longer than `timeout`: fails at once when it is clear
    /// that they will not be there by then.
    pub fn acquire_blocking_timeout(&self, n: u64, timeout: Duration) -> Result<(), Error> {
        self.wait(n, Some(timeout)).block()
    }

    /// How many tokens are there.
    pub fn remaining(&self) -> u64 {
        self.algorithm.remaining(&self.limit, self.cell.0.word(), self.clock.now())
    }

    /// The limit.
    pub const fn limit(&self) -> &Limit {
        &self.limit
    }

    /// Ends all waits and refuses all calls from now on.
    pub fn close(&self) {
        self.room.close();
        self.cell.0.close();
    }

    #[inline]
    fn take(&self, n: u64) -> Answer<'_> {
        let (algorithm, limit, now) = (self.algorithm, &self.limit, self.clock.now());
        let (word, allowed) = self.cell.0.update(|word| algorithm.take(limit, word, now, n));
        Answer { algorithm, limit, now, n, word, allowed }
    }

    fn wait(&self, n: u64, timeout: Option<Duration>) -> Wait<'_, C, impl Fn() -> Result<(), Refusal>> {
        let attempt = move || self.try_acquire(n).map_err(Refusal::Forever)?.or_wait();
        let deadline = timeout.map(|timeout| self.clock.now().plus(timeout.into()));
        Wait { room: &self.room, key: ONLY_LINE, clock: &self.clock, attempt, deadline }
    }
}
