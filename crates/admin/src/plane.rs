//! The node and its ledger as the control plane sees them, whatever ledger it is.

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;
use tollgate_core::borrow::Repayment;
use tollgate_core::id::{AppId, ClusterId};
use tollgate_core::quota::Capacity;
use tollgate_core::units::{Millis, Nanos, Ratio, Tokens};
use tollgate_ledger::board::Note;
use tollgate_ledger::book::Audit;
use tollgate_ledger::connection::{ConnectionEvent, NodeStats};
use tollgate_ledger::protocol::{AppView, Changes, ClusterView, LedgerError, MAX_PAGE, PutApp, Scheduled};
use tollgate_ledger::{Answer, Board, Ledger, Slots};
use tollgate_node::connection::Connections;
use tollgate_node::desk::Standing;
use tollgate_node::{App, DecisionId, Node, Record, Spans, Unexplained};

/// How long an operator waits for the ledger.
const PATIENCE: Duration = Duration::from_secs(3);

/// What a ledger will answer.
pub(crate) type Asked<'a, T> = Pin<Box<dyn Future<Output = Answer<T>> + Send + 'a>>;

/// What a node, or another one, will say about a decision.
pub(crate) type Explained<'a> = Pin<Box<dyn Future<Output = Result<Record, Unexplained>> + Send + 'a>>;

/// A node and its ledger.
pub(crate) trait Plane: Send + Sync {
    fn standing(&self) -> BTreeMap<ClusterId, Standing>;
    fn apps(&self) -> Vec<Arc<App>>;
    fn latest(&self, most: usize) -> Vec<Record>;
    /// A decision, from whichever node has it.
    fn explain(&self, id: DecisionId) -> Explained<'_>;
    fn strangers_refused(&self) -> u64;
    fn waited(&self) -> Spans;
    fn connections(&self, cluster: &str) -> Option<&Connections>;
    /// The time by which connections are dated.
    fn now(&self) -> Nanos;

    fn put_app<'a>(&'a self, cluster: &'a ClusterId, put: &'a PutApp) -> Asked<'a, u64>;
    fn delete_app<'a>(&'a self, cluster: &'a ClusterId, app: &'a AppId) -> Asked<'a, u64>;
    fn put_cluster<'a>(&'a self, cluster: &'a ClusterId, capacity: &'a Capacity) -> Asked<'a, u64>;
    fn declare_emergency<'a>(
        &'a self,
        cluster: &'a ClusterId,
        reason: &'a str,
        duration: Millis,
    ) -> Asked<'a, u64>;
    fn end_emergency<'a>(&'a self, cluster: &'a ClusterId) -> Asked<'a, u64>;
    fn reset<'a>(&'a self, cluster: &'a ClusterId, app: &'a AppId) -> Asked<'a, ()>;
    fn borrow<'a>(&'a self, cluster: &'a ClusterId, app: &'a AppId, amount: Tokens) -> Asked<'a, Tokens>;
    fn repay<'a>(&'a self, cluster: &'a ClusterId, app: &'a AppId, amount: Tokens) -> Asked<'a, Repayment>;
    fn reconcile<'a>(&'a self, cluster: &'a ClusterId) -> Asked<'a, Vec<(AppId, Ratio)>>;
    fn changes<'a>(&'a self, cluster: &'a ClusterId, since: u64) -> Asked<'a, Changes>;
    fn app_views<'a>(
        &'a self,
        cluster: &'a ClusterId,
        after: Option<&'a AppId>,
        limit: u32,
    ) -> Asked<'a, Vec<AppView>>;
    fn scheduled<'a>(&'a self, cluster: &'a ClusterId, skip: u32, limit: u32) -> Asked<'a, Vec<Scheduled>>;
    fn cluster<'a>(&'a self, cluster: &'a ClusterId) -> Asked<'a, ClusterView>;
    fn audit<'a>(&'a self, cluster: &'a ClusterId) -> Asked<'a, Audit>;
    fn pin<'a>(&'a self, cluster: &'a ClusterId, note: &'a Note) -> Asked<'a, ()>;
    fn pinned<'a>(&'a self, cluster: &'a ClusterId) -> Asked<'a, Vec<Note>>;
    fn connection_stats<'a>(&'a self, cluster: &'a ClusterId) -> Asked<'a, Vec<NodeStats>>;
    fn connection_events<'a>(
        &'a self,
        cluster: &'a ClusterId,
        app: &'a AppId,
        limit: usize,
    ) -> Asked<'a, Vec<ConnectionEvent>>;
}

/// An answer that does not keep anybody waiting for long.
fn bounded<'a, T: 'a>(answer: impl Future<Output = Answer<T>> + Send + 'a) -> Asked<'a, T> {
    Box::pin(async move { tokio::time::timeout(PATIENCE, answer).await.unwrap_or(Err(LedgerError::Timeout)) })
}

impl<L: Ledger + Slots + Board + 'static> Plane for Node<L> {
    fn standing(&self) -> BTreeMap<ClusterId, Standing> {
        Self::standing(self)
    }

    fn apps(&self) -> Vec<Arc<App>> {
        Self::apps(self)
    }

    fn latest(&self, most: usize) -> Vec<Record> {
        Self::latest(self, most)
    }

    fn explain(&self, id: DecisionId) -> Explained<'_> {
        Box::pin(self.explain_anywhere(id))
    }

    fn strangers_refused(&self) -> u64 {
        Self::strangers_refused(self)
    }

    fn waited(&self) -> Spans {
        Self::waited(self)
    }

    fn connections(&self, cluster: &str) -> Option<&Connections> {
        Self::connections(self, cluster)
    }

    fn now(&self) -> Nanos {
        Self::now(self)
    }

    fn put_app<'a>(&'a self, cluster: &'a ClusterId, put: &'a PutApp) -> Asked<'a, u64> {
        bounded(self.ledger().put_app(cluster, put))
    }

    fn delete_app<'a>(&'a self, cluster: &'a ClusterId, app: &'a AppId) -> Asked<'a, u64> {
        bounded(self.ledger().delete_app(cluster, app))
    }

    fn put_cluster<'a>(&'a self, cluster: &'a ClusterId, capacity: &'a Capacity) -> Asked<'a, u64> {
        bounded(self.ledger().put_cluster(cluster, capacity))
    }

    fn declare_emergency<'a>(
        &'a self,
        cluster: &'a ClusterId,
        reason: &'a str,
        duration: Millis,
    ) -> Asked<'a, u64> {
        bounded(self.ledger().declare_emergency(cluster, reason, duration))
    }

    fn end_emergency<'a>(&'a self, cluster: &'a ClusterId) -> Asked<'a, u64> {
        bounded(self.ledger().end_emergency(cluster))
    }

    fn reset<'a>(&'a self, cluster: &'a ClusterId, app: &'a AppId) -> Asked<'a, ()> {
        bounded(self.ledger().reset(cluster, app))
    }

    fn borrow<'a>(&'a self, cluster: &'a ClusterId, app: &'a AppId, amount: Tokens) -> Asked<'a, Tokens> {
        bounded(self.ledger().borrow(cluster, app, amount))
    }

    fn repay<'a>(&'a self, cluster: &'a ClusterId, app: &'a AppId, amount: Tokens) -> Asked<'a, Repayment> {
        bounded(self.ledger().repay(cluster, app, amount))
    }

    fn reconcile<'a>(&'a self, cluster: &'a ClusterId) -> Asked<'a, Vec<(AppId, Ratio)>> {
        bounded(self.ledger().reconcile(cluster))
    }

    fn changes<'a>(&'a self, cluster: &'a ClusterId, since: u64) -> Asked<'a, Changes> {
        bounded(self.ledger().changes(cluster, since, MAX_PAGE))
    }

    fn app_views<'a>(
        &'a self,
        cluster: &'a ClusterId,
        after: Option<&'a AppId>,
        limit: u32,
    ) -> Asked<'a, Vec<AppView>> {
        bounded(self.ledger().apps(cluster, after, limit))
    }

    fn scheduled<'a>(&'a self, cluster: &'a ClusterId, skip: u32, limit: u32) -> Asked<'a, Vec<Scheduled>> {
        bounded(self.ledger().scheduled(cluster, skip, limit))
    }

    fn cluster<'a>(&'a self, cluster: &'a ClusterId) -> Asked<'a, ClusterView> {
        bounded(self.ledger().cluster(cluster))
    }

    fn audit<'a>(&'a self, cluster: &'a ClusterId) -> Asked<'a, Audit> {
        bounded(self.ledger().audit(cluster))
    }

    fn pin<'a>(&'a self, cluster: &'a ClusterId, note: &'a Note) -> Asked<'a, ()> {
        bounded(self.ledger().pin(cluster, note))
    }

    fn pinned<'a>(&'a self, cluster: &'a ClusterId) -> Asked<'a, Vec<Note>> {
        bounded(self.ledger().pinned(cluster))
    }

    fn connection_stats<'a>(&'a self, cluster: &'a ClusterId) -> Asked<'a, Vec<NodeStats>> {
        bounded(self.ledger().connection_stats(cluster))
    }

    fn connection_events<'a>(
        &'a self,
        cluster: &'a ClusterId,
        app: &'a AppId,
        limit: usize,
    ) -> Asked<'a, Vec<ConnectionEvent>> {
        bounded(self.ledger().connection_events(cluster, app, limit))
    }
}

/// All applications of a cluster, page by page.
pub(crate) async fn all_apps(plane: &dyn Plane, cluster: &ClusterId) -> Answer<Vec<AppView>> {
    let mut all: Vec<AppView> = Vec::new();
    loop {
        let after = all.last().map(|view| view.policy.policy.app.clone());
        let page = plane.app_views(cluster, after.as_ref(), MAX_PAGE).await?;
        if page.is_empty() {
            return Ok(all);
        }
        all.extend(page);
    }
}
