//! One limit for many processes, on Redis or Redis Cluster (feature `redis`).
//!
//! ```no_run
//! use std::time::Duration;
//! use tollgate_limiter::Limit;
//! use tollgate_limiter::redis::RedisLimiter;
//!
//! # async fn run() -> Result<(), Box<dyn std::error::Error>> {
//! let limiter = RedisLimiter::builder()
//!     .timeout(Duration::from_millis(50))
//!     .fallback(0.5) // half of the limit in each process while Redis is away
//!     .connect("redis://127.0.0.1:6379")?;
//! let limit = Limit::new(100, 200)?;
//! if limiter.allow("customer-17", &limit).await?.allowed {
//!     // serve it
//! }
//! # Ok(())
//! # }
//! ```
//!
//! A decision is one script on one key, at the server's own time. Keys end by themselves. While Redis is away a call does
//! not wait for it: one call in a while looks whether it is back, all others are decided by the fallback or fail at once.

mod breaker;
mod builder;
mod error;
mod limiter;
mod link;
mod reservation;
mod script;

pub use builder::{Builder, Window};
pub use error::Error;
pub use limiter::{Ask, RedisLimiter};
