//! A bucket for each key.

use super::clock::{Moment, SharedClock};
use super::quota::quota;
use super::walk::{Walk, key};
use crate::race::{Contender, Outcome, Pair, Question, Threads};
use governor::middleware::NoOpMiddleware;
use governor::state::keyed::DashMapStateStore;
use governor::{Quota, RateLimiter};
use std::hint::black_box;
use std::sync::Arc;
use tollgate_limiter::{Algorithm, Limit, Limiter};

type Governor = RateLimiter<String, DashMapStateStore<String>, SharedClock, NoOpMiddleware<Moment>>;

/// What our table is made for unless told otherwise.
const DEFAULT_MAX_KEYS: u32 = 65_536;

/// So many keys, asked for at random.
pub(super) fn keyed(name: &'static str, keys: u32, threads: Threads, outcome: Outcome) -> Question {
    Question::new(name, threads, outcome, move || {
        let (ours, theirs) = (Ours::new(keys, outcome)?, Theirs::new(outcome)?);
        for number in 0..keys {
            let key = key(number);
            black_box((ours.decide(&key), theirs.decide(&key)));
        }
        let walk = Arc::new(Walk::new(keys));
        Ok(Pair { ours: contender(Arc::clone(&walk), ours), theirs: contender(walk, theirs) })
    })
}

/// A side of the keyed questions.
#[expect(clippy::ptr_arg, reason = "governor takes its own key type by reference, and no other")]
pub(crate) trait Side: Send + Sync + 'static {
    fn decide(&self, key: &String) -> bool;
}

/// Our limiter and the limit it is asked about.
pub(super) struct Ours {
    pub(super) limiter: Limiter<SharedClock>,
    limit: Limit,
}

/// governor's limiter.
pub(crate) struct Theirs(Governor);

impl Ours {
    pub(super) fn new(keys: u32, outcome: Outcome) -> anyhow::Result<Self> {
        let max_keys = keys.max(DEFAULT_MAX_KEYS) as usize;
        let builder = Limiter::builder().algorithm(Algorithm::Gcra).max_keys(max_keys);
        Ok(Self { limiter: builder.build_with_clock(SharedClock::default()), limit: quota(outcome)?.0 })
    }
}

impl Theirs {
    pub(crate) fn new(outcome: Outcome) -> anyhow::Result<Self> {
        let quota: Quota = quota(outcome)?.1;
        Ok(Self(Governor::dashmap_with_clock(quota, SharedClock::default())))
    }
}

impl Side for Ours {
    #[inline]
    fn decide(&self, key: &String) -> bool {
        self.limiter.allow(key, &self.limit).is_ok_and(|answer| answer.is_allowed())
    }
}

impl Side for Theirs {
    #[inline]
    fn decide(&self, key: &String) -> bool {
        self.0.check_key(key).is_ok()
    }
}

pub(crate) fn contender(walk: Arc<Walk>, side: impl Side) -> Contender {
    Contender::new(move |lap| {
        let mut keys = walk.from(lap);
        // Hidden from the optimiser, or it would load the limit once for the whole lap.
        lap.count(|| keys.next().is_some_and(|key| black_box(&side).decide(key)))
    })
}
