//! Envoy's rate limit service (`envoy.service.ratelimit.v3`), answered by a node.
//!
//! A call has descriptors, lists of keys and values. Each becomes a request of an application, by the entry that is
//! configured to name it or by a rule. A call passes if all of its requests do, and is charged only then.
//!
//! [`start`] opens the door: the service itself, gRPC health and reflection.

pub mod api;
mod claim;
mod counts;
mod place;
mod reply;
mod server;
mod service;
mod threads;
mod verdicts;

pub use counts::Counts;
pub use server::{Handle, start};
pub use service::Service;
