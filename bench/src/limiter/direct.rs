//! One bucket for everybody.

use super::clock::{FreeClock, Moment, SharedClock};
use super::quota::quota;
use crate::race::{Contender, Outcome, Pair, Question, Threads};
use governor::RateLimiter;
use governor::clock::Clock as GovernorClock;
use governor::middleware::NoOpMiddleware;
use governor::state::{InMemoryState, NotKeyed};
use std::hint::black_box;
use tollgate_limiter::{Algorithm, Bucket, Clock};

type Governor<C, M> = RateLimiter<NotKeyed, InMemoryState, C, NoOpMiddleware<M>>;

/// Two cache lines to itself, on both sides.
#[repr(align(128))]
struct Padded<T>(T);

/// All threads on one bucket.
pub(super) fn shared(name: &'static str, threads: Threads, outcome: Outcome) -> Question {
    Question::new(name, threads, outcome, move || same_clock::<SharedClock>(1, outcome))
}

/// Two threads that have nothing to do with each other.
pub(super) fn one_each(name: &'static str) -> Question {
    Question::new(name, Threads::Two, Outcome::Allowed, || same_clock::<SharedClock>(2, Outcome::Allowed))
}

/// The decision alone: most of the time of a bucket on a real clock is the clock's.
pub(super) fn without_clock(name: &'static str) -> Question {
    Question::new(name, Threads::One, Outcome::Allowed, || same_clock::<FreeClock>(1, Outcome::Allowed))
}

/// What one gets without choosing a clock.
pub(super) fn as_shipped(name: &'static str) -> Question {
    Question::new(name, Threads::One, Outcome::Allowed, || {
        let (limit, quota) = quota(Outcome::Allowed)?;
        let ours = ours(vec![Padded(Bucket::new(Algorithm::Gcra, limit))]);
        Ok(Pair { ours, theirs: theirs(vec![Padded(RateLimiter::direct(quota))]) })
    })
}

/// Both sides on clocks of one kind.
fn same_clock<C>(buckets: usize, outcome: Outcome) -> anyhow::Result<Pair>
where
    C: Clock + GovernorClock<Instant = Moment> + Default + 'static,
{
    let (limit, quota) = quota(outcome)?;
    let our = || Padded(Bucket::with_clock(Algorithm::Gcra, limit, C::default()));
    let their = || Padded(Governor::<C, Moment>::direct_with_clock(quota, C::default()));
    Ok(Pair {
        ours: ours((0..buckets).map(|_| our()).collect()),
        theirs: theirs((0..buckets).map(|_| their()).collect()),
    })
}

fn ours<C: Clock + 'static>(buckets: Vec<Padded<Bucket<C>>>) -> Contender {
    let decide = |bucket: &Bucket<C>| bucket.try_acquire(1).is_ok_and(|answer| answer.is_allowed());
    contender(buckets, decide)
}

/// governor on so many buckets, each for a thread.
pub(crate) fn governor(buckets: usize, outcome: Outcome) -> anyhow::Result<Contender> {
    let quota = quota(outcome)?.1;
    let their = || Padded(Governor::<_, Moment>::direct_with_clock(quota, SharedClock::default()));
    Ok(theirs((0..buckets).map(|_| their()).collect()))
}

fn theirs<C>(buckets: Vec<Padded<Governor<C, C::Instant>>>) -> Contender
where
    C: GovernorClock + Send + Sync + 'static,
    C::Instant: Send + Sync,
{
    contender(buckets, |bucket| bucket.check().is_ok())
}

/// A side that decides like that; the first token is gone from the start.
fn contender<B: Send + Sync + 'static>(
    buckets: Vec<Padded<B>>,
    decide: impl Fn(&B) -> bool + Send + Sync + 'static,
) -> Contender {
    for bucket in &buckets {
        black_box(decide(&bucket.0));
    }
    Contender::new(move |lap| {
        let bucket = &buckets[lap.thread % buckets.len()].0;
        // Hidden from the optimiser, or it would load the limit once for the whole lap.
        lap.count(|| decide(black_box(bucket)))
    })
}
