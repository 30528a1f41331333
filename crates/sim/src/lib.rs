//! Tollgate in a world of its own: the shipped node and ledger under virtual time, with as many nodes, applications and
//! faults as a story asks for, and with rules that are checked while it happens.
//!
//! - [`Scenario`] is a story, read from a small text: who is there, what they do, what goes wrong, what is expected.
//! - [`Scenario::run`] plays it. A story and a seed decide everything: the same two give the same run, to the last bit.
//! - [`Scenario::run_many`] plays it with many seeds, [`Scenario::compare`] under other strategies.
//! - [`Staging`] says on which ledger, and which rule is broken on purpose, if one is.
//! - [`Outcome`] is what came of it: what was measured, and the rule that was broken, if one was.

mod batch;
mod chance;
mod check;
mod measure;
mod plan;
mod queue;
pub mod report;
mod rival;
mod run;
mod sabotage;
pub mod scenario;
mod trace;
mod world;

pub use check::{Extra, Rule, Violation};
pub use measure::{AppSummary, Moved, Summary, Tiers};
pub use run::{Failure, LedgerKind, Outcome, RunError, Staging};
pub use sabotage::Sabotage;
pub use scenario::Scenario;
