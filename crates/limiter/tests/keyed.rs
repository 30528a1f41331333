//! The keyed limiter: its contract, its table, and what a flood of keys can and cannot do.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use proptest::prelude::*;
use std::time::Duration;
use tollgate_limiter::{Algorithm, Builder, Error, Limit, LimitError, Limiter, ManualClock};

fn limiter(setup: impl FnOnce(Builder) -> Builder) -> (Limiter<ManualClock>, ManualClock) {
    let clock = ManualClock::default();
    // Not at the clock's origin, where every bucket is new anyway.
    clock.advance(Duration::from_hours(1));
    (setup(Limiter::builder()).build_with_clock(clock.clone()), clock)
}

fn takes(limiter: &Limiter<ManualClock>, key: &str, limit: &Limit) -> bool {
    limiter.allow(key, limit).unwrap().is_allowed()
}

#[test]
fn what_makes_no_sense_is_an_error() {
    let (limiter, _) = limiter(|builder| builder);
    let limit = Limit::per_second(1).unwrap();
    assert_eq!(limiter.allow("", &limit).unwrap_err(), Error::EmptyKey);
    assert_eq!(limiter.allow_n("k", &limit, 0).unwrap_err(), Error::ZeroTokens);
    assert_eq!(Error::from(Limit::new(0, 1).unwrap_err()), Error::Limit(LimitError::ZeroRate));
    assert_eq!(Limit::new(1, 0).unwrap_err(), LimitError::ZeroBurst);
    limiter.close();
    assert_eq!(limiter.allow("k", &limit).unwrap_err(), Error::Closed);
}

#[test]
fn keys_have_buckets_of_their_own_and_so_have_limits() {
    let (limiter, _) = limiter(|builder| builder);
    let (one, two) = (Limit::new(1, 1).unwrap(), Limit::new(1, 2).unwrap());
    assert!(takes(&limiter, "a", &one));
    assert!(!takes(&limiter, "a", &one));
    assert!(takes(&limiter, "b", &one));
    assert!(takes(&limiter, "a", &two), "the same key under another limit");
    assert_eq!(limiter.stats().keys, 3);
}

#[test]
fn every_algorithm_limits_and_recovers() {
    for algorithm in Algorithm::ALL {
        let (limiter, clock) = limiter(|builder| builder.algorithm(algorithm));
        let limit = Limit::per_second(10).unwrap();
        let answer = limiter.allow_n("k", &limit, 10).unwrap();
        assert!(answer.is_allowed(), "{algorithm}");
        assert_eq!(answer.remaining(), 0, "{algorithm}");
        let refused = limiter.allow("k", &limit).unwrap();
        assert!(!refused.is_allowed(), "{algorithm}");
        clock.advance(refused.retry_after().unwrap());
        assert!(takes(&limiter, "k", &limit), "{algorithm} after the wait it named");
        clock.advance(limiter.allow_n("k", &limit, 11).unwrap().reset_after());
        assert!(limiter.allow_n("k", &limit, 10).unwrap().is_allowed(), "{algorithm} after its reset");
        assert_eq!(limiter.allow_n("k", &limit, 11).unwrap().retry_after(), None, "{algorithm}");
    }
}

#[test]
fn a_million_keys_do_not_grow_the_table() {
    let (limiter, _) = limiter(|builder| builder.max_keys(10_000));
    let limit = Limit::new(1, 5).unwrap();
    let before = limiter.stats().bytes;
    for i in 0..1_000_000u32 {
        let _ = limiter.allow(i.to_le_bytes(), &limit).unwrap();
    }
    let stats = limiter.stats();
    assert_eq!(stats.bytes, before);
    assert!(stats.keys <= 30_000, "{stats:?}");
    assert!(stats.crowded_out > 900_000, "{stats:?}");
    assert_eq!(before, 10_000 * 48);
}

#[test]
fn a_flood_of_keys_buys_nobody_a_token() {
    let (limiter, _) = limiter(|builder| builder.max_keys(100));
    let limit = Limit::new(1, 5).unwrap();
    assert!(limiter.allow_n("abuser", &limit, 5).unwrap().is_allowed());
    for i in 0..100_000u32 {
        let _ = limiter.allow(i.to_le_bytes(), &limit).unwrap();
        if i % 1_000 == 0 {
            assert!(!takes(&limiter, "abuser", &limit), "after {i} other keys");
        }
    }
}

#[test]
fn the_keys_it_was_made_for_fit() {
    let (limiter, _) = limiter(|builder| builder.max_keys(100_000));
    let limit = Limit::new(1, 1).unwrap();
    let allowed = (0..100_000u32).filter(|i| limiter.allow(i.to_le_bytes(), &limit).unwrap().is_allowed());
    // Every one is new; some may share a set that happens to be full. One on average, eleven or more in one run of five thousand, each
    // further one less than half as often; with two slots for each key it would be a hundred.
    let refused = 100_000 - allowed.count();
    assert!(refused <= 30, "{refused} found their set full");
}

#[test]
fn idle_keys_are_forgotten_and_used_ones_are_not() {
    let (limiter, clock) = limiter(|builder| builder.idle_timeout(Duration::from_mins(1)));
    let (slow, fast) = (Limit::per(1, Duration::from_mins(10)).unwrap(), Limit::per_second(1).unwrap());
    assert!(takes(&limiter, "slow", &slow));
    assert!(takes(&limiter, "fast", &fast));
    clock.advance(Duration::from_secs(59));
    assert_eq!(limiter.sweep(), 0);
    clock.advance(Duration::from_secs(30));
    assert_eq!(limiter.sweep(), 1, "only the one that is as good as new");
    assert!(!takes(&limiter, "slow", &slow));
    assert_eq!(limiter.stats().keys, 1);
}

#[test]
fn windows_are_remembered_for_as_long_as_they_count() {
    for algorithm in [Algorithm::FixedWindow, Algorithm::SlidingWindow] {
        let (limiter, clock) =
            limiter(|builder| builder.algorithm(algorithm).idle_timeout(Duration::from_secs(1)));
        let hourly = Limit::per(1, Duration::from_hours(1)).unwrap();
        assert!(takes(&limiter, "k", &hourly));
        clock.advance(Duration::from_mins(59));
        assert_eq!(limiter.sweep(), 0, "{algorithm}");
        assert!(!takes(&limiter, "k", &hourly), "{algorithm}");
        clock.advance(Duration::from_hours(3));
        assert_eq!(limiter.sweep(), 1, "{algorithm}");
    }
}

#[test]
fn new_keys_sweep_the_table_as_they_come() {
    let (limiter, clock) = limiter(|builder| builder.max_keys(1_000).idle_timeout(Duration::from_secs(10)));
    let limit = Limit::per_second(100).unwrap();
    for round in 0..50u32 {
        for i in 0..100u32 {
            let _ = limiter.allow((round * 1_000 + i).to_le_bytes(), &limit).unwrap();
        }
        clock.advance(Duration::from_secs(20));
    }
    assert!(limiter.stats().keys <= 200, "{:?}", limiter.stats());
}

#[test]
fn blocking_waits_take_turns_with_the_clock() {
    let (limiter, clock) = limiter(|builder| builder);
    let limit = Limit::new(10, 1).unwrap();
    for _ in 0..11 {
        limiter.wait_blocking("k", &limit).unwrap();
    }
    // The manual clock moves on by exactly what was waited: ten intervals.
    assert_eq!(limiter.wait_blocking_timeout("k", &limit, 1, Duration::from_millis(99)), Err(Error::Timeout));
    clock.advance(Duration::from_millis(1));
    assert_eq!(limiter.wait_blocking_timeout("k", &limit, 1, Duration::from_millis(99)), Ok(()));
    let asked = Error::ExceedsCapacity { asked: 2, capacity: 1 };
    assert_eq!(limiter.wait_blocking_timeout("k", &limit, 2, Duration::MAX), Err(asked));
    assert_eq!(limiter.wait_blocking("", &limit), Err(Error::EmptyKey));
}

proptest! {
    /// On any history of many keys in a small table, no key ever gets more than a bucket of its own would give.
    #[test]
    fn never_more_than_a_bucket_of_its_own(
        steps in prop::collection::vec((0..80u32, 1..6u64, 0..3u64), 1..800),
    ) {
        for algorithm in [Algorithm::TokenBucket, Algorithm::FixedWindow] {
            let (limiter, clock) = limiter(|builder| builder.algorithm(algorithm).max_keys(7));
            let limit = Limit::new(10, 8).unwrap();
            let (alone, alone_clock) = self::limiter(|builder| builder.algorithm(algorithm));
            for &(key, n, ms) in &steps {
                if limiter.allow_n(key.to_le_bytes(), &limit, n).unwrap().is_allowed() {
                    // Whatever the crowded table lets through must fit into the bucket of its own, too.
                    prop_assert!(alone.allow_n(key.to_le_bytes(), &limit, n).unwrap().is_allowed(), "{}", algorithm);
                }
                clock.advance(Duration::from_millis(ms));
                alone_clock.advance(Duration::from_millis(ms));
            }
        }
    }
}
