//! Connections of this node: each on a slot of its application, tracked from opening to release.
//!
//! - [`Connections`] opens them. On a slot that is held that takes no I/O; without one it asks the ledger, together with
//!   all others that need to.
//! - [`Guard`] is an open connection. It is released once, when dropped at the latest.
//! - [`Keeper`] is the task that keeps the slots in step with their use, finds leaked connections and reports.
//! - [`Contact`] is how well the ledger can be reached.
//!
//! Opening on a held slot costs one look-up of the application, one compare-and-swap on its counter, one on the cluster's,
//! two additions, one allocation (the tracked entry) and one lock of one of sixteen shards; releasing costs about the same
//! without the look-up. No lock is shared beyond a shard. A heartbeat is one store.

mod ask;
mod clock;
mod connections;
mod contact;
mod event;
mod gauge;
mod guard;
mod keeper;
mod page;
mod refused;
mod room;
mod rounds;
mod shared;
mod sweep;
mod table;
mod tally;
mod track;

pub use crate::clock::RuntimeClock;
pub use clock::NodeClock;
pub use connections::{Connections, Settings};
pub use contact::{Contact, Line};
pub use guard::Guard;
pub use keeper::{Identity, Keeper, Round};
pub use page::{ConnectionInfo, Page};
pub use refused::{Denied, Refused};
pub use sweep::Swept;
pub use track::{ConnectionId, Status};
