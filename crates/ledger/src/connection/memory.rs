use super::{ConnectionEvent, Hold, HoldReply, Log, NodeStats, Report, SlotBook, Slots};
use crate::clock::LedgerClock;
use crate::ledger::Answer;
use crate::memory::MemoryLedger;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use tollgate_core::id::{AppId, ClusterId};

/// What there is about the connections of each cluster. It is no part of a snapshot: connections end with their process,
/// and nodes that outlive it tell what they hold.
#[derive(Debug, Default)]
pub(crate) struct Slates(Mutex<BTreeMap<ClusterId, Slate>>);

#[derive(Debug, Default)]
struct Slate {
    slots: SlotBook,
    log: Log,
}

impl Slates {
    fn with<T>(&self, cluster: &ClusterId, step: impl FnOnce(&mut Slate) -> T) -> T {
        // Changed in steps that do not panic; one that did would have left it between two of them.
        let mut slates = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        step(slates.entry(cluster.clone()).or_default())
    }
}

impl<C: LedgerClock> Slots for MemoryLedger<C> {
    async fn hold(&self, cluster: &ClusterId, hold: &Hold) -> Answer<HoldReply> {
        self.slates().with(cluster, |slate| slate.slots.hold(hold, self.now()))
    }

    async fn report_connections(&self, cluster: &ClusterId, report: &Report) -> Answer<()> {
        self.slates().with(cluster, |slate| slate.log.report(report, self.now()))
    }

    async fn connection_stats(&self, cluster: &ClusterId) -> Answer<Vec<NodeStats>> {
        Ok(self.slates().with(cluster, |slate| slate.log.stats(self.now())))
    }

    async fn connection_events(
        &self,
        cluster: &ClusterId,
        app: &AppId,
        limit: usize,
    ) -> Answer<Vec<ConnectionEvent>> {
        Ok(self.slates().with(cluster, |slate| slate.log.events(app, limit, self.now())))
    }
}
