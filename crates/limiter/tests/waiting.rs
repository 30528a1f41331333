//! Waiting in async code, on tokio's paused clock: hours pass in no time.

#![allow(clippy::unwrap_used, reason = "a test may panic")]
#![cfg(feature = "tokio")]

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;
use tokio::time::Instant;
use tollgate_limiter::{Algorithm, Bucket, Clock, Error, Limit, Limiter, Nanos};

/// Tokio's own time.
#[derive(Clone)]
struct TokioClock(Instant);

impl TokioClock {
    fn start() -> Self {
        Self(Instant::now())
    }
}

impl Clock for TokioClock {
    fn now(&self) -> Nanos {
        self.0.elapsed().into()
    }
}

fn bucket(rate: u64, burst: u64) -> Arc<Bucket<TokioClock>> {
    let limit = Limit::new(rate, burst).unwrap();
    Arc::new(Bucket::with_clock(Algorithm::TokenBucket, limit, TokioClock::start()))
}

fn poll_once(future: impl Future) -> bool {
    let mut context = Context::from_waker(Waker::noop());
    matches!(pin!(future).poll(&mut context), Poll::Ready(_))
}

#[tokio::test(start_paused = true)]
async fn waits_exactly_as_long_as_it_takes() {
    let bucket = bucket(10, 1);
    let start = Instant::now();
    for _ in 0..11 {
        bucket.acquire(1).await.unwrap();
    }
    let waited = start.elapsed();
    // Tokio's timer counts milliseconds and rounds up.
    assert!(waited >= Duration::from_secs(1) && waited <= Duration::from_millis(1_020), "{waited:?}");
}

#[tokio::test(start_paused = true)]
async fn a_dropped_wait_takes_nothing_and_leaves_the_line() {
    let bucket = bucket(1, 5);
    bucket.acquire(5).await.unwrap();
    assert!(!poll_once(bucket.acquire(5)), "it has to wait, and is dropped");
    tokio::time::advance(Duration::from_secs(5)).await;
    assert_eq!(bucket.remaining(), 5);
    bucket.acquire(5).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_wait_dropped_in_the_middle_of_the_line_wakes_the_next() {
    let bucket = bucket(10, 1);
    bucket.acquire(1).await.unwrap();
    let first = tokio::spawn({
        let bucket = Arc::clone(&bucket);
        async move { bucket.acquire(1).await }
    });
    tokio::task::yield_now().await;
    let second = tokio::spawn({
        let bucket = Arc::clone(&bucket);
        async move { bucket.acquire(1).await }
    });
    tokio::task::yield_now().await;
    first.abort();
    assert_eq!(second.await.unwrap(), Ok(()));
}

#[tokio::test(start_paused = true)]
async fn first_come_first_served_even_if_the_first_wants_much() {
    let bucket = bucket(10, 10);
    bucket.acquire(10).await.unwrap();
    let order = Arc::new(std::sync::Mutex::new(Vec::new()));
    let mut tasks = Vec::new();
    for (place, n) in [10, 1, 1, 5, 1].into_iter().enumerate() {
        let (bucket, order) = (Arc::clone(&bucket), Arc::clone(&order));
        tasks.push(tokio::spawn(async move {
            bucket.acquire(n).await.unwrap();
            order.lock().unwrap().push(place);
        }));
        tokio::task::yield_now().await;
    }
    for task in tasks {
        task.await.unwrap();
    }
    assert_eq!(*order.lock().unwrap(), [0, 1, 2, 3, 4]);
}

#[tokio::test(start_paused = true)]
async fn a_timeout_that_cannot_be_met_fails_at_once() {
    let bucket = bucket(1, 1);
    bucket.acquire(1).await.unwrap();
    let start = Instant::now();
    assert_eq!(bucket.acquire_timeout(1, Duration::from_millis(999)).await, Err(Error::Timeout));
    assert_eq!(start.elapsed(), Duration::ZERO);
    assert_eq!(bucket.acquire_timeout(1, Duration::from_millis(1_001)).await, Ok(()));
}

#[tokio::test(start_paused = true)]
async fn a_timeout_passes_while_standing_in_line() {
    let bucket = bucket(1, 100);
    bucket.acquire(100).await.unwrap();
    let large = tokio::spawn({
        let bucket = Arc::clone(&bucket);
        async move { bucket.acquire(100).await }
    });
    tokio::task::yield_now().await;
    let start = Instant::now();
    assert_eq!(bucket.acquire_timeout(1, Duration::from_secs(2)).await, Err(Error::Timeout));
    assert!(start.elapsed() >= Duration::from_secs(2));
    assert_eq!(large.await.unwrap(), Ok(()), "the one in front is not disturbed");
}

#[tokio::test(start_paused = true)]
async fn closing_sends_everybody_home() {
    let limiter = Arc::new(Limiter::builder().build_with_clock(TokioClock::start()));
    let waiting: Vec<_> = (0..3)
        .map(|_| {
            let limiter = Arc::clone(&limiter);
            tokio::spawn(async move {
                let limit = Limit::per(1, Duration::from_hours(1)).unwrap();
                limiter.wait("k", &limit).await.and(limiter.wait("k", &limit).await)
            })
        })
        .collect();
    tokio::task::yield_now().await;
    limiter.close();
    for task in waiting {
        assert_eq!(task.await.unwrap(), Err(Error::Closed));
    }
}

#[tokio::test(start_paused = true)]
async fn keys_do_not_wait_for_each_other() {
    let limiter = Arc::new(Limiter::builder().build_with_clock(TokioClock::start()));
    let slow = Limit::per(1, Duration::from_hours(1)).unwrap();
    limiter.wait("slow", &slow).await.unwrap();
    let waiting = tokio::spawn({
        let limiter = Arc::clone(&limiter);
        async move { limiter.wait("slow", &slow).await }
    });
    tokio::task::yield_now().await;
    let start = Instant::now();
    limiter.wait("fast", &Limit::per_second(1).unwrap()).await.unwrap();
    assert_eq!(start.elapsed(), Duration::ZERO);
    assert_eq!(
        limiter.wait_timeout("slow", &slow, 2, Duration::MAX).await.unwrap_err(),
        Error::ExceedsCapacity { asked: 2, capacity: 1 }
    );
    waiting.abort();
}
