//! The gateway as its clients and servers see it: over real sockets.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may panic")]

mod support;

mod access_log;
mod cancel;
mod drain;
mod expect;
mod framing;
mod grpc;
mod http1;
mod http2;
mod identity;
mod odd_servers;
mod reload;
mod slow;
mod tls;
mod upstreams;
mod websocket;
