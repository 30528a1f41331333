//! The same book kept by scripts, one for each operation, wherever an [`Engine`] runs them.
//!
//! The scripts do what [`Book`](crate::Book) does, step by step, and answer the same to the millionth of a token.
//! One cluster is one hash slot: all its keys start with `ratelimit:{cluster}`.

mod board;
mod connection;
mod engine;
mod ledger;
mod question;
#[cfg(feature = "mlua")]
mod stand_in;
mod text;
mod wire;

pub use engine::{Channels, Engine, EngineError, Value};
pub use ledger::ScriptLedger;
#[cfg(feature = "mlua")]
pub use stand_in::{MluaEngine, Store};
pub use text::{ALL, Script};
