//! The servers, as the binary starts them: real sockets, real signals, real Redis, real proxies.
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stderr, reason = "a test may panic, and say why")]

mod abuse;
mod admin;
mod balance;
mod check;
mod dashboard;
mod gateway;
mod outage;
mod process;
mod protocols;
mod proxies;
mod support;
mod traces;
