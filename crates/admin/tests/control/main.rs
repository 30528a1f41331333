//! The control plane as its users meet it: over HTTP, on real databases, beside a real Prometheus.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests say what they expect")]

mod cors;
mod fuzz;
mod hangup;
mod lists;
mod loans;
mod nodes;
mod policies;
mod postgres;
mod prometheus;
mod roles;
mod sqlite;
mod suite;
mod support;
mod telemetry;
mod webhook;
mod websocket;
