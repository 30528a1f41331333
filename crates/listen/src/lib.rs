//! The sockets that doors listen on, and how a new process gets them from the one that it follows.
//!
//! A listening socket that is closed takes with it whoever is knocking: the kernel resets connections that it has begun to
//! set up. So a process that is replaced does not close its sockets and let the next one open its own; it [hands them
//! over](offer), and they stay open all the while.

#[cfg(not(target_os = "linux"))]
mod elsewhere;
#[cfg(target_os = "linux")]
mod handover;
mod listeners;

#[cfg(not(target_os = "linux"))]
pub use elsewhere::{Predecessor, offer};
#[cfg(target_os = "linux")]
pub use handover::{Predecessor, offer};
pub use listeners::Listeners;
