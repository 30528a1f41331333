//! A limiter that every client of Redis can use, in whatever language: `CL.THROTTLE`, with the arguments and the answer that the
//! module redis-cell made known.
//!
//! [`start`] opens the door. What can be said through it is in [`Session`], what a line looks like in [`frame`].

mod command;
mod due;
pub mod frame;
#[cfg(test)]
mod fuzz;
mod reply;
mod server;
mod session;
mod throttle;

pub use reply::{Protocol, Reply};
pub use server::{Counts, Handle, start};
pub use session::Session;
