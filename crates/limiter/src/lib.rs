//! Rate limiting in process.
//!
//! - [`Bucket`]: one limit for everybody who shares it.
//! - [`Limiter`]: a bucket for each key, in memory that is set aside once and never grows.
//!
//! Taking tokens is lock-free, one compare-and-swap, and allocates nothing. There is no background thread:
//! buckets are brought up to date when they are looked at. Times are nanoseconds on a monotonic clock.
//!
//! ```
//! use tollgate_limiter::{Limit, Limiter};
//!
//! let limiter = Limiter::default();
//! let limit = Limit::new(100, 200)?; // 100 a second, 200 at once
//! let answer = limiter.allow("customer-17", &limit)?;
//! if answer.is_allowed() {
//!     // serve it; answer.remaining() tokens are left
//! } else {
//!     // 429, come back after answer.retry_after()
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Which algorithm
//!
//! | you want | take |
//! |---|---|
//! | an average rate, with room for bursts | [`Algorithm::TokenBucket`] |
//! | requests to leave at an even pace | [`Algorithm::LeakyBucket`], and hold each back by [`Answer::delay`] |
//! | the same as a token bucket, in the words of networks | [`Algorithm::Gcra`] |
//! | "1,000 per calendar hour", as in a contract | [`Algorithm::FixedWindow`] |
//! | the same without the double burst around the full hour | [`Algorithm::SlidingWindow`] |
//!
//! If in doubt, the token bucket. A window forgets at its boundary: a client may use the end of one and the
//! start of the next, twice the limit within a moment. The sliding window smooths that out by letting the last
//! window's count fade. The buckets have no boundaries.
//!
//! ## Token bucket
//! ```
//! # use tollgate_limiter::{Algorithm, Bucket, Limit, ManualClock};
//! # use std::time::Duration;
//! # let clock = ManualClock::default();
//! let bucket = Bucket::with_clock(Algorithm::TokenBucket, Limit::new(5, 10)?, clock.clone());
//! assert!(bucket.try_acquire(10)?.is_allowed());  // a burst of all that was saved
//! assert!(!bucket.try_acquire(1)?.is_allowed());
//! clock.advance(Duration::from_secs(1));
//! assert_eq!(bucket.remaining(), 5);              // five a second drip back in
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! ## Leaky bucket
//! ```
//! # use tollgate_limiter::{Algorithm, Bucket, Limit, ManualClock};
//! # use std::time::Duration;
//! let bucket = Bucket::with_clock(Algorithm::LeakyBucket, Limit::new(4, 3)?, ManualClock::default());
//! let delays = [(); 3].map(|()| bucket.try_acquire(1).map(|answer| answer.delay().as_millis()));
//! assert_eq!(delays, [Ok(0), Ok(250), Ok(500)]);  // one leaves every quarter of a second
//! assert!(!bucket.try_acquire(1)?.is_allowed());  // the fourth does not fit
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! ## GCRA
//! ```
//! # use tollgate_limiter::{Algorithm, Bucket, Limit, ManualClock};
//! # use std::time::Duration;
//! let cells = Bucket::with_clock(Algorithm::Gcra, Limit::new(5, 1)?, ManualClock::default());
//! assert!(cells.try_acquire(1)?.is_allowed());
//! assert_eq!(cells.try_acquire(1)?.retry_after(), Some(Duration::from_millis(200)));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! ## Fixed window
//! ```
//! # use tollgate_limiter::{Algorithm, Bucket, Limit, ManualClock};
//! # use std::time::Duration;
//! # let clock = ManualClock::default();
//! let hourly = Limit::per(1_000, Duration::from_hours(1))?;
//! let window = Bucket::with_clock(Algorithm::FixedWindow, hourly, clock.clone());
//! clock.advance(Duration::from_mins(59));
//! assert!(window.try_acquire(1_000)?.is_allowed());
//! clock.advance(Duration::from_mins(1));
//! assert!(window.try_acquire(1_000)?.is_allowed()); // a new window, a minute later
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! ## Sliding window
//! ```
//! # use tollgate_limiter::{Algorithm, Bucket, Limit, ManualClock};
//! # use std::time::Duration;
//! # let clock = ManualClock::default();
//! let hourly = Limit::per(1_000, Duration::from_hours(1))?;
//! let window = Bucket::with_clock(Algorithm::SlidingWindow, hourly, clock.clone());
//! clock.advance(Duration::from_mins(59));
//! assert!(window.try_acquire(1_000)?.is_allowed());
//! clock.advance(Duration::from_mins(1));
//! assert!(!window.try_acquire(1)?.is_allowed());    // the last window still counts
//! clock.advance(Duration::from_mins(30));
//! assert!((499..=501).contains(&window.remaining())); // half of it does
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Waiting
//!
//! [`Bucket::acquire`] and [`Limiter::wait`] wait in async code (feature `tokio`, on by default);
//! [`Bucket::acquire_blocking`] and [`Limiter::wait_blocking`] block the thread. Those who wait for the same
//! key are served in the order in which they came. Nothing is taken before it is there, so a wait that is
//! dropped or times out has taken nothing.
//!
//! # Features
//!
//! | feature | what it brings |
//! |---|---|
//! | `quanta` (default) | reads the processor's time stamp counter |
//! | `tokio` (default) | waiting in async code |
//! | `tower` | `middleware`: a layer for axum, hyper and tonic, servers and clients |
//! | `tonic` | the same, where a server of gRPC wants to know the name of a service behind the layer |
//! | `redis` | `redis`: one limit for many processes, on Redis or Redis Cluster |
//!
//! Without any of them, the crate depends on one other, its own arithmetic; with the default ones on 8, with `tower` alone on
//! 6, and with `redis` alone on about a hundred, nearly all of them those of the client of Redis and of its TLS.

mod answer;
mod bucket;
mod cell;
mod clock;
mod error;
mod limiter;
#[cfg(feature = "tower")]
pub mod middleware;
#[cfg(feature = "redis")]
pub mod redis;
mod sync;
mod table;
mod throttle;
mod waiting;

pub use answer::Answer;
pub use bucket::Bucket;
pub use clock::{Clock, ManualClock, MonotonicClock};
pub use error::Error;
pub use limiter::{Builder, Limiter};
pub use table::Stats;
pub use throttle::{Outcome, Throttle};
pub use tollgate_core::algorithm::{Algorithm, Limit, LimitError};
pub use tollgate_core::units::Nanos;
