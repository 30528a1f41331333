//! Many threads at once: never more than there is, and nothing lost.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;
use tollgate_limiter::{Algorithm, Bucket, Error, Limit, Limiter, ManualClock};

const THREADS: u64 = 8;

#[test]
fn threads_get_exactly_what_is_there() {
    for algorithm in Algorithm::ALL {
        let bucket = Bucket::with_clock(algorithm, Limit::per_second(1_000).unwrap(), ManualClock::default());
        let taken = AtomicU64::new(0);
        thread::scope(|scope| {
            for thread in 0..THREADS {
                let (bucket, taken) = (&bucket, &taken);
                scope.spawn(move || {
                    for i in 0..500 {
                        let n = 1 + (thread + i) % 3;
                        if bucket.try_acquire(n).unwrap().is_allowed() {
                            taken.fetch_add(n, Ordering::Relaxed);
                        }
                    }
                });
            }
        });
        let taken = taken.into_inner();
        assert_eq!(taken + bucket.remaining(), 1_000, "{algorithm}");
        assert_eq!(taken, 1_000, "{algorithm}: there was more demand than that");
    }
}

#[test]
fn threads_share_a_crowded_table_without_overdrawing() {
    let limiter = Limiter::builder().max_keys(8).build_with_clock(ManualClock::default());
    let limit = Limit::new(1, 50).unwrap();
    let taken: Vec<AtomicU64> = (0..200).map(|_| AtomicU64::new(0)).collect();
    thread::scope(|scope| {
        for thread in 0..THREADS {
            let (limiter, limit, taken) = (&limiter, &limit, &taken);
            scope.spawn(move || {
                for i in 0..20_000usize {
                    // Each thread walks the keys in another order; some keys are everybody's favourite.
                    let key = (i * (2 * usize::try_from(thread).unwrap() + 1))
                        % if i % 3 == 0 { 5 } else { taken.len() };
                    if limiter.allow(key.to_le_bytes(), limit).unwrap().is_allowed() {
                        taken[key].fetch_add(1, Ordering::Relaxed);
                    }
                }
            });
        }
    });
    for (key, taken) in taken.iter().enumerate() {
        assert!(taken.load(Ordering::Relaxed) <= 50, "key {key} took {taken:?}");
    }
    assert!(limiter.stats().crowded_out > 0);
}

#[test]
fn closing_wakes_blocked_threads() {
    let hourly = Limit::per(1, Duration::from_hours(1)).unwrap();
    let bucket = Arc::new(Bucket::new(Algorithm::TokenBucket, hourly));
    bucket.acquire_blocking(1).unwrap();
    let waiting: Vec<_> = (0..3)
        .map(|_| {
            let bucket = Arc::clone(&bucket);
            thread::spawn(move || bucket.acquire_blocking(1))
        })
        .collect();
    bucket.close();
    for thread in waiting {
        assert_eq!(thread.join().unwrap(), Err(Error::Closed));
    }
}

#[test]
fn blocked_threads_are_all_served() {
    let bucket = Arc::new(Bucket::new(Algorithm::TokenBucket, Limit::new(2_000, 1).unwrap()));
    let waiting: Vec<_> = (0..THREADS)
        .map(|_| {
            let bucket = Arc::clone(&bucket);
            thread::spawn(move || (0..5).try_for_each(|_| bucket.acquire_blocking(1)))
        })
        .collect();
    for thread in waiting {
        assert_eq!(thread.join().unwrap(), Ok(()));
    }
}
