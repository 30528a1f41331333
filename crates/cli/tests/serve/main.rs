//! The servers, as the binary starts them: real sockets, real signals, real Redis, real proxies.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may panic")]

mod balance;
mod check;
mod gateway;
mod outage;
mod process;
mod proxies;
mod support;
