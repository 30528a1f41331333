//! L3: tokens leased from the ledger and spent in memory.
//!
//! - [`Node`] is the one way in: [`Node::check`] decides in memory, [`Node::admit`] asks the ledger if it has to.
//! - [`Permit`] is the right to pass: dropped before it is kept or settled, it gives back what was paid.
//! - [`App`] is an application as the node sees it; whoever keeps one saves the look-up.
//! - [`answer`] is what a client is told about a decision, whatever door it came by.
//! - [`connection`] limits how many connections are open, across nodes.
//! - [`desk`] is what a node says to the ledger and makes of its answers, without I/O and without a clock.

pub mod answer;
mod app;
mod bell;
mod clock;
mod connect;
pub mod connection;
mod counters;
mod decide;
pub mod desk;
mod dry;
mod explain;
mod fence;
mod names;
mod node;
mod permit;
mod purse;
mod request;
mod reserve;
mod roster;
mod spans;
mod speak;
mod sync;
mod tally;
mod throttle;
mod trace;

pub use app::{App, Terms};
pub use bell::Bell;
pub use clock::wall;
pub use counters::Counts;
pub use decide::Decided;
pub use explain::{DecisionId, NotADecision, Record, Unexplained};
pub use node::{Miss, Node, NotYet, Setup};
pub use permit::{ByName, Payer, Permit};
pub use request::Request;
pub use reserve::{EndError, NotAReservation, ReservationId};
pub use roster::Roster;
pub use spans::{SPAN_BOUNDS, Spans};
pub use tally::Spending;
pub use throttle::Fare;
pub use trace::TraceParent;
