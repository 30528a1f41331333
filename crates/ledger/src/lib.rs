//! The single truth about tokens: L1, its L2s and the leases that are out.
//!
//! - [`Ledger`] is what every ledger can do, each call one atomic step at the ledger's own time.
//! - [`MemoryLedger`] keeps it in this process, and can be written to a file.
//! - [`script::ScriptLedger`] keeps it in a store that runs scripts, such as Redis.
//! - [`Book`] is one cluster as plain state, handed the time by its caller: the rules themselves.
//! - [`Notices`] are hints that something has changed, which no one may depend on.
//! - [`Slots`] is what every ledger can do about connections, on slots that are leased as tokens are.
//! - [`Board`] is where nodes leave notes about themselves for the operators of the others.
//! - [`question`] is what nodes ask each other by way of the ledger.
//! - [`protocol`] is what nodes and operators say to a ledger, and what it answers.

#[cfg(feature = "redis")]
mod any;
pub mod board;
pub mod book;
mod clock;
pub mod connection;
mod ledger;
mod memory;
mod notice;
pub mod protocol;
pub mod question;
#[cfg(feature = "redis")]
mod redis;
pub mod script;
#[cfg(feature = "snapshot")]
mod snapshot;

#[cfg(feature = "redis")]
pub use any::AnyLedger;
pub use board::Board;
pub use book::Book;
pub use clock::{LedgerClock, WallClock};
pub use connection::Slots;
pub use ledger::{Answer, Ledger};
pub use memory::MemoryLedger;
pub use notice::Notices;
pub use protocol::LedgerError;
#[cfg(feature = "redis")]
pub use redis::{AddressError, CertificateError, Certificates, RedisEngine, RedisLedger};
#[cfg(feature = "snapshot")]
pub use snapshot::{Snapshot, SnapshotError};
