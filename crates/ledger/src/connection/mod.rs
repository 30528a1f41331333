//! Connections across nodes: slots on lease, statistics and events.
//!
//! A slot is the right to one open connection. A node opens connections only on slots that it holds, and the ledger
//! hands out no more than the limits allow, so a limit holds across nodes while opening a connection asks nobody.

mod book;
mod log;
mod memory;
mod protocol;

pub(crate) use book::SlotBook;
pub(crate) use log::Log;
pub(crate) use memory::Slates;
pub use protocol::{
    ConnectionEvent, Counts, EventKind, Held, Hold, HoldEntry, HoldReply, NewEvent, NodeStats, Report,
};

use crate::ledger::Answer;
use crate::protocol::LedgerError;
use std::future::Future;
use std::sync::Arc;
use tollgate_core::id::{AppId, ClusterId};
use tollgate_core::units::Millis;

/// How long a node keeps its slots without a word from it. Its connections may well live on: see [`Slots::hold`].
pub const SLOT_TTL: Millis = Millis::from_secs(30);

/// How long the ledger hands out nothing after it found that it lost its memory. Nodes that hold something speak at least
/// every two seconds, so all of them have told by then.
pub const LEARNING: Millis = Millis::from_secs(3);

/// The most entries of a call, and the most applications and events of a report.
pub const MAX_ENTRIES: usize = 1_000;

/// How long a node's statistics are shown without new ones: three reports missed.
pub const STATS_TTL: Millis = Millis::from_secs(30);

/// How many events are kept for each application.
pub const MAX_EVENTS: usize = 1_000;

/// How long events are kept.
pub const EVENTS_TTL: Millis = Millis::from_secs(7 * 24 * 3_600);

/// The most nodes that statistics are told of.
const MAX_NODES: usize = 1_000;

/// How much of what others left behind a call clears away on the side.
const CHORES: usize = 64;

/// Keeps the slots of any number of clusters, and what nodes tell about their connections. Each call is one atomic
/// step on one cluster, at the ledger's own time.
pub trait Slots: Send + Sync {
    /// A node tells what it holds and gets what it needs, as far as the limits allow.
    ///
    /// What a node says it holds is a fact, since there are connections on it: it is booked even above the limit, and
    /// nobody gets a new slot until there is room again. A node that was silent for [`SLOT_TTL`] loses its slots.
    ///
    /// The same (incarnation, seq) gets the stored answer, an older seq is stale, an older incarnation is fenced off.
    fn hold(&self, cluster: &ClusterId, hold: &Hold) -> impl Future<Output = Answer<HoldReply>> + Send;

    /// A node tells how it is doing and what happened. Sent again after a lost answer, its events are there twice.
    fn report_connections(
        &self,
        cluster: &ClusterId,
        report: &Report,
    ) -> impl Future<Output = Answer<()>> + Send;

    /// What the nodes last told, for those that did within [`STATS_TTL`], by name.
    fn connection_stats(&self, cluster: &ClusterId) -> impl Future<Output = Answer<Vec<NodeStats>>> + Send;

    /// The last events of an application, the newest first, at most [`MAX_EVENTS`].
    fn connection_events(
        &self,
        cluster: &ClusterId,
        app: &AppId,
        limit: usize,
    ) -> impl Future<Output = Answer<Vec<ConnectionEvent>>> + Send;
}

impl<L: Slots + ?Sized> Slots for Arc<L> {
    fn hold(&self, cluster: &ClusterId, hold: &Hold) -> impl Future<Output = Answer<HoldReply>> + Send {
        (**self).hold(cluster, hold)
    }

    fn report_connections(
        &self,
        cluster: &ClusterId,
        report: &Report,
    ) -> impl Future<Output = Answer<()>> + Send {
        (**self).report_connections(cluster, report)
    }

    fn connection_stats(&self, cluster: &ClusterId) -> impl Future<Output = Answer<Vec<NodeStats>>> + Send {
        (**self).connection_stats(cluster)
    }

    fn connection_events(
        &self,
        cluster: &ClusterId,
        app: &AppId,
        limit: usize,
    ) -> impl Future<Output = Answer<Vec<ConnectionEvent>>> + Send {
        (**self).connection_events(cluster, app, limit)
    }
}

/// A ledger can do no more in one step.
pub(crate) fn check_size(what: &str, count: usize) -> Answer<()> {
    if count > MAX_ENTRIES {
        return Err(LedgerError::Protocol(format!("{count} {what} in one call, at most {MAX_ENTRIES}")));
    }
    Ok(())
}
