//! Middleware for axum, hyper and tonic, on both sides of a connection (feature `tower`).
//!
//! [`RateLimitLayer`] asks a [`Throttle`] before each request goes on, under a key and by a rule that closures find:
//!
//! ```
//! use std::sync::Arc;
//! use tollgate_limiter::middleware::RateLimitLayer;
//! use tollgate_limiter::{Limit, Limiter};
//!
//! let limit = Limit::new(100, 200)?;
//! let layer = RateLimitLayer::new(Arc::new(Limiter::default()), move |_: &http::request::Parts| Some(limit))
//!     .key(|parts| parts.headers.get("x-api-key")?.to_str().ok().map(str::to_owned))
//!     .headers(true);
//! # let _ = layer;
//! # Ok::<(), tollgate_limiter::LimitError>(())
//! ```
//!
//! - A request without a key or without a rule passes, as does one that the throttle has no answer to. Both are
//!   [counted](Counts).
//! - The key is the address of the client unless told otherwise: see [`ClientAddress`].
//! - A refusal is `429 Too Many Requests` with `Retry-After`; to a call of gRPC it is `RESOURCE_EXHAUSTED`.
//! - A stream, such as a call of gRPC that goes on or a WebSocket, is looked at once, when it opens.

mod client;
mod counts;
mod layer;
mod refusal;
mod service;

pub use client::ClientAddress;
pub use counts::Counts;
pub use layer::RateLimitLayer;
pub use service::RateLimit;

pub use crate::throttle::{Outcome, Throttle};
