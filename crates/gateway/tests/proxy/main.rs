//! The gateway as its clients and servers see it: over real sockets.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may panic")]

mod support;

mod http1;
