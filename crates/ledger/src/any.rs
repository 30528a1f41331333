//! A ledger of either kind, for programs that choose by configuration.

use crate::board::{Board, Note};
use crate::book::Audit;
use crate::connection::{ConnectionEvent, Hold, HoldReply, NodeStats, Report, Slots};
use crate::ledger::{Answer, Ledger};
use crate::memory::MemoryLedger;
use crate::notice::Notices;
use crate::protocol::{AppView, Changes, ClusterView, PutApp, Scheduled, Seed, Sync, SyncReply};
use crate::question::{Asked, Question};
use crate::redis::RedisLedger;
use tollgate_core::borrow::Repayment;
use tollgate_core::id::{AppId, ClusterId};
use tollgate_core::quota::Capacity;
use tollgate_core::reservation::{Reservation, Settlement};
use tollgate_core::units::{Millis, Ratio, Tokens};

/// A ledger of either kind. What is built on it is built once.
#[derive(Debug)]
#[allow(clippy::large_enum_variant, reason = "there is one in a process")]
pub enum AnyLedger {
    /// In this process.
    Memory(MemoryLedger),
    /// On Redis or Redis Cluster.
    Redis(RedisLedger),
}

/// Asks whichever it is.
macro_rules! ask {
    ($self:ident, $ledger:ident => $call:expr) => {
        match $self {
            Self::Memory($ledger) => $call.await,
            Self::Redis($ledger) => $call.await,
        }
    };
}

impl Ledger for AnyLedger {
    async fn seed(&self, cluster: &ClusterId, seed: &Seed) -> Answer<u64> {
        ask!(self, ledger => ledger.seed(cluster, seed))
    }

    async fn sync(&self, cluster: &ClusterId, sync: &Sync) -> Answer<SyncReply> {
        ask!(self, ledger => ledger.sync(cluster, sync))
    }

    async fn depart(&self, cluster: &ClusterId, sync: &Sync) -> Answer<SyncReply> {
        ask!(self, ledger => ledger.depart(cluster, sync))
    }

    async fn acquire(&self, cluster: &ClusterId, app: &AppId, cost: Tokens) -> Answer<Tokens> {
        ask!(self, ledger => ledger.acquire(cluster, app, cost))
    }

    async fn reserve(
        &self,
        cluster: &ClusterId,
        app: &AppId,
        id: &str,
        estimate: Tokens,
        timeout: Millis,
    ) -> Answer<Reservation> {
        ask!(self, ledger => ledger.reserve(cluster, app, id, estimate, timeout))
    }

    async fn complete(&self, cluster: &ClusterId, id: &str, actual: Tokens) -> Answer<Settlement> {
        ask!(self, ledger => ledger.complete(cluster, id, actual))
    }

    async fn cancel(&self, cluster: &ClusterId, id: &str) -> Answer<Settlement> {
        ask!(self, ledger => ledger.cancel(cluster, id))
    }

    async fn borrow(&self, cluster: &ClusterId, app: &AppId, amount: Tokens) -> Answer<Tokens> {
        ask!(self, ledger => ledger.borrow(cluster, app, amount))
    }

    async fn repay(&self, cluster: &ClusterId, app: &AppId, amount: Tokens) -> Answer<Repayment> {
        ask!(self, ledger => ledger.repay(cluster, app, amount))
    }

    async fn put_app(&self, cluster: &ClusterId, put: &PutApp) -> Answer<u64> {
        ask!(self, ledger => ledger.put_app(cluster, put))
    }

    async fn delete_app(&self, cluster: &ClusterId, app: &AppId) -> Answer<u64> {
        ask!(self, ledger => ledger.delete_app(cluster, app))
    }

    async fn put_cluster(&self, cluster: &ClusterId, capacity: &Capacity) -> Answer<u64> {
        ask!(self, ledger => ledger.put_cluster(cluster, capacity))
    }

    async fn declare_emergency(&self, cluster: &ClusterId, reason: &str, duration: Millis) -> Answer<u64> {
        ask!(self, ledger => ledger.declare_emergency(cluster, reason, duration))
    }

    async fn end_emergency(&self, cluster: &ClusterId) -> Answer<u64> {
        ask!(self, ledger => ledger.end_emergency(cluster))
    }

    async fn reset(&self, cluster: &ClusterId, app: &AppId) -> Answer<()> {
        ask!(self, ledger => ledger.reset(cluster, app))
    }

    async fn reconcile(&self, cluster: &ClusterId) -> Answer<Vec<(AppId, Ratio)>> {
        ask!(self, ledger => ledger.reconcile(cluster))
    }

    async fn changes(&self, cluster: &ClusterId, since: u64, limit: u32) -> Answer<Changes> {
        ask!(self, ledger => ledger.changes(cluster, since, limit))
    }

    async fn apps(&self, cluster: &ClusterId, after: Option<&AppId>, limit: u32) -> Answer<Vec<AppView>> {
        ask!(self, ledger => ledger.apps(cluster, after, limit))
    }

    async fn scheduled(&self, cluster: &ClusterId, skip: u32, limit: u32) -> Answer<Vec<Scheduled>> {
        ask!(self, ledger => ledger.scheduled(cluster, skip, limit))
    }

    async fn cluster(&self, cluster: &ClusterId) -> Answer<ClusterView> {
        ask!(self, ledger => ledger.cluster(cluster))
    }

    async fn audit(&self, cluster: &ClusterId) -> Answer<Audit> {
        ask!(self, ledger => ledger.audit(cluster))
    }

    async fn ask(&self, cluster: &ClusterId, question: &Question) -> Answer<Asked> {
        ask!(self, ledger => ledger.ask(cluster, question))
    }

    async fn answer(&self, cluster: &ClusterId, question: u128, text: &str) -> Answer<bool> {
        ask!(self, ledger => ledger.answer(cluster, question, text))
    }

    async fn answer_to(&self, cluster: &ClusterId, question: u128) -> Answer<Option<String>> {
        ask!(self, ledger => ledger.answer_to(cluster, question))
    }

    fn notices(&self, cluster: &ClusterId) -> Notices {
        match self {
            Self::Memory(ledger) => ledger.notices(cluster),
            Self::Redis(ledger) => ledger.notices(cluster),
        }
    }
}

impl Slots for AnyLedger {
    async fn hold(&self, cluster: &ClusterId, hold: &Hold) -> Answer<HoldReply> {
        ask!(self, ledger => ledger.hold(cluster, hold))
    }

    async fn report_connections(&self, cluster: &ClusterId, report: &Report) -> Answer<()> {
        ask!(self, ledger => ledger.report_connections(cluster, report))
    }

    async fn connection_stats(&self, cluster: &ClusterId) -> Answer<Vec<NodeStats>> {
        ask!(self, ledger => ledger.connection_stats(cluster))
    }

    async fn connection_events(
        &self,
        cluster: &ClusterId,
        app: &AppId,
        limit: usize,
    ) -> Answer<Vec<ConnectionEvent>> {
        ask!(self, ledger => ledger.connection_events(cluster, app, limit))
    }
}

impl Board for AnyLedger {
    async fn pin(&self, cluster: &ClusterId, note: &Note) -> Answer<()> {
        ask!(self, ledger => ledger.pin(cluster, note))
    }

    async fn pinned(&self, cluster: &ClusterId) -> Answer<Vec<Note>> {
        ask!(self, ledger => ledger.pinned(cluster))
    }
}
