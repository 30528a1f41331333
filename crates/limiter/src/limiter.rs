use crate::answer::Answer;
use crate::clock::{Clock, MonotonicClock};
use crate::error::Error;
use crate::table::{Stats, Table, Tag};
use crate::waiting::{Refusal, Room, Wait};
use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tollgate_core::algorithm::{Algorithm, Limit, Word};
use tollgate_core::units::Nanos;

/// A limiter for many keys: one bucket per key and limit.
///
/// Memory is set aside once, for [`max_keys`](Builder::max_keys) keys, and never grows; when more keys than that
/// are in use at the same time, newcomers start with what the least used key had left, so a flood of keys can
/// never buy anybody extra tokens. Keys themselves are not kept, only their seeded 64-bit hash.
///
/// ```
/// use tollgate_limiter::{Limit, Limiter};
///
/// let limiter = Limiter::default();
/// let limit = Limit::new(10, 2)?;
/// assert!(limiter.allow("203.0.113.7", &limit)?.is_allowed());
/// assert!(limiter.allow("203.0.113.7", &limit)?.is_allowed());
/// let refused = limiter.allow("203.0.113.7", &limit)?;
/// assert!(!refused.is_allowed());
/// assert!(refused.retry_after().unwrap().as_millis() <= 100);
/// assert!(limiter.allow("203.0.113.8", &limit)?.is_allowed(), "another key, another bucket");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Limiter<C = MonotonicClock> {
    algorithm: Algorithm,
    table: Table,
    hasher: RandomState,
    clock: C,
    room: Room,
    idle_timeout: Nanos,
    cleanup_interval: Nanos,
    /// When to sweep next.
    next_cleanup: AtomicU64,
    /// The longest that any word may have to be remembered, in nanoseconds.
    memory: AtomicU64,
}

/// How a [`Limiter`] is set up.
///
/// ```
/// use std::time::Duration;
/// use tollgate_limiter::{Algorithm, Limiter};
///
/// let limiter = Limiter::builder()
///     .algorithm(Algorithm::SlidingWindow)
///     .max_keys(1_000_000)
///     .idle_timeout(Duration::from_mins(10))
///     .build();
/// # let _ = limiter;
/// ```
#[derive(Clone, Debug)]
pub struct Builder {
    algorithm: Algorithm,
    max_keys: usize,
    idle_timeout: Duration,
    cleanup_interval: Duration,
}

impl Default for Builder {
    fn default() -> Self {
        Self {
            algorithm: Algorithm::TokenBucket,
            max_keys: 65_536,
            idle_timeout: Duration::from_mins(5),
            cleanup_interval: Duration::from_secs(1),
        }
    }
}

impl Builder {
    /// Which algorithm decides; the token bucket unless told otherwise.
    #[must_use]
    pub const fn algorithm(mut self, algorithm: Algorithm) -> Self {
        self.algorithm = algorithm;
        self
    }

    /// How many keys to set memory aside for, at 48 bytes each; 65,536 unless told otherwise.
    #[must_use]
    pub const fn max_keys(mut self, max_keys: usize) -> Self {
        self.max_keys = max_keys;
        self
    }

    /// After how long unused a key is forgotten, once it is as good as new; 5 minutes unless told otherwise.
    #[must_use]
    pub const fn idle_timeout(mut self, idle_timeout: Duration) -> Self {
        self.idle_timeout = idle_timeout;
        self
    }

    /// How often a part of the table is looked through for idle keys, by whoever brings a new key; every second
    /// unless told otherwise.
    #[must_use]
    pub const fn cleanup_interval(mut self, cleanup_interval: Duration) -> Self {
        self.cleanup_interval = cleanup_interval;
        self
    }

    /// The limiter, on the machine's clock.
    pub fn build(self) -> Limiter {
        self.build_with_clock(MonotonicClock::default())
    }

    /// The limiter, on another clock.
    pub fn build_with_clock<C: Clock>(self, clock: C) -> Limiter<C> {
        Limiter {
            algorithm: self.algorithm,
            table: Table::new(self.max_keys),
            hasher: RandomState::new(),
            clock,
            room: Room::default(),
            idle_timeout: self.idle_timeout.into(),
            cleanup_interval: self.cleanup_interval.into(),
            next_cleanup: AtomicU64::new(0),
            memory: AtomicU64::new(0),
        }
    }
}

impl Default for Limiter {
    fn default() -> Self {
        Self::builder().build()
    }
}

impl Limiter {
    /// A limiter to be set up.
    pub fn builder() -> Builder {
        Builder::default()
    }
}

impl<C: Clock> Limiter<C> {
    /// Takes one token of `key` if it is there.
    #[inline]
    pub fn allow<'a>(&self, key: impl AsRef<[u8]>, limit: &'a Limit) -> Result<Answer<'a>, Error> {
        self.allow_n(key, limit, 1)
    }

    /// Takes `n` tokens of `key` if they are there.
    #[inline]
    pub fn allow_n<'a>(&self, key: impl AsRef<[u8]>, limit: &'a Limit, n: u64) -> Result<Answer<'a>, Error> {
        self.take(self.tag(key.as_ref(), limit)?, limit, n)
    }

    /// What `key` has left, without taking anything: allowed unless more was taken than there is.
    pub fn peek<'a>(&self, key: impl AsRef<[u8]>, limit: &'a Limit) -> Result<Answer<'a>, Error> {
        let tag = self.tag(key.as_ref(), limit)?;
        if self.room.is_closed() {
            return Err(Error::Closed);
        }
        let (algorithm, now) = (self.algorithm, self.clock.now());
        let word = self.table.word(tag);
        Ok(Answer { algorithm, limit, now, n: 0, word, allowed: true })
    }

    /// Waits for one token of `key`.
    #[cfg(feature = "tokio")]
    pub async fn wait(&self, key: impl AsRef<[u8]>, limit: &Limit) -> Result<(), Error> {
        self.line_up(key.as_ref(), limit, 1, None)?.run().await
    }

    /// Waits for `n` tokens of `key`, but not longer than `timeout`: fails at once when it is clear that they
    /// will not be there by then.
    #[cfg(feature = "tokio")]
    pub async fn wait_timeout(
        &self,
        key: impl AsRef<[u8]>,
        limit: &Limit,
        n: u64,
        timeout: Duration,
    ) -> Result<(), Error> {
        self.line_up(key.as_ref(), limit, n, Some(timeout))?.run().await
    }

    /// Waits for one token of `key`, blocking the thread.
    pub fn wait_blocking(&self, key: impl AsRef<[u8]>, limit: &Limit) -> Result<(), Error> {
        self.line_up(key.as_ref(), limit, 1, None)?.block()
    }

    /// Waits for `n` tokens of `key`, blocking the thread, but not longer than `timeout`: fails at once when it
    /// is clear that they will not be there by then.
    pub fn wait_blocking_timeout(
        &self,
        key: impl AsRef<[u8]>,
        limit: &Limit,
        n: u64,
        timeout: Duration,
    ) -> Result<(), Error> {
        self.line_up(key.as_ref(), limit, n, Some(timeout))?.block()
    }

    /// Ends all waits and refuses all calls from now on.
    pub fn close(&self) {
        self.room.close();
    }

    /// Forgets all idle keys now, instead of a part of them with each new key. Returns how many.
    pub fn sweep(&self) -> u64 {
        self.table.sweep(self.idle(self.clock.now()), self.table.sets())
    }

    /// How full the table is.
    pub fn stats(&self) -> Stats {
        self.table.stats()
    }

    fn line_up<'a>(
        &'a self,
        key: &[u8],
        limit: &'a Limit,
        n: u64,
        timeout: Option<Duration>,
    ) -> Result<Wait<'a, C, impl Fn() -> Result<(), Refusal>>, Error> {
        let tag = self.tag(key, limit)?;
        let attempt = move || self.take(tag, limit, n).map_err(Refusal::Forever)?.or_wait();
        let deadline = timeout.map(|timeout| self.clock.now().plus(timeout.into()));
        Ok(Wait { room: &self.room, key: tag.get(), clock: &self.clock, attempt, deadline })
    }

    #[inline]
    fn take<'a>(&self, tag: Tag, limit: &'a Limit, n: u64) -> Result<Answer<'a>, Error> {
        if n == 0 {
            return Err(Error::ZeroTokens);
        }
        if self.room.is_closed() {
            return Err(Error::Closed);
        }
        let (algorithm, now) = (self.algorithm, self.clock.now());
        let newcomer = || self.make_room(limit, now);
        let (word, allowed) = self.table.update(tag, newcomer, |word| algorithm.take(limit, word, now, n));
        Ok(Answer { algorithm, limit, now, n, word, allowed })
    }

    #[inline]
    fn tag(&self, key: &[u8], limit: &Limit) -> Result<Tag, Error> {
        if key.is_empty() {
            return Err(Error::EmptyKey);
        }
        let mut hasher = self.hasher.build_hasher();
        hasher.write(key);
        hasher.write_u64(limit.fingerprint());
        Ok(Tag::new(hasher.finish()))
    }

    /// A new key: remembers how long its words count, and looks through a part of the table if it is time.
    /// Returns the word before which a key is as good as new.
    #[cold]
    fn make_room(&self, limit: &Limit, now: Nanos) -> Word {
        self.memory.fetch_max(self.algorithm.memory(limit).get(), Ordering::Relaxed);
        let next = self.next_cleanup.load(Ordering::Relaxed);
        if now.get() >= next {
            let after = now.plus(self.cleanup_interval).get();
            // Whoever moves the time on does the work.
            if self.next_cleanup.compare_exchange(next, after, Ordering::Relaxed, Ordering::Relaxed).is_ok() {
                self.table.sweep(self.idle(now), Table::swept_at_once());
            }
        }
        self.algorithm.word_at(now.since(Nanos::new(self.memory.load(Ordering::Relaxed))))
    }

    /// The word before which a key is idle: it was not used for that long, and nothing of it counts any more.
    fn idle(&self, now: Nanos) -> Word {
        let memory = Nanos::new(self.memory.load(Ordering::Relaxed));
        self.algorithm.word_at(now.since(self.idle_timeout.max(memory)))
    }
}
