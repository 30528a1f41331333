use crate::book::Audit;
use crate::notice::Notices;
use crate::protocol::{AppView, Changes, ClusterView, LedgerError, PutApp, Scheduled, Seed, Sync, SyncReply};
use crate::question::{Asked, Question};
use std::future::Future;
use tollgate_core::borrow::Repayment;
use tollgate_core::id::{AppId, ClusterId};
use tollgate_core::quota::Capacity;
use tollgate_core::reservation::{Reservation, Settlement};
use tollgate_core::units::{Millis, Ratio, Tokens};

/// What a ledger answers.
pub type Answer<T> = Result<T, LedgerError>;

/// Keeps L1 and L2 of any number of clusters. Each call is one atomic step on one cluster, at the ledger's own
/// time.
pub trait Ledger: Send + std::marker::Sync {
    /// Fills a cluster that the ledger does not know; returns the version of what is there now. A cluster that is
    /// known stays as it is.
    fn seed(&self, cluster: &ClusterId, seed: &Seed) -> impl Future<Output = Answer<u64>> + Send;

    /// Answers a node: see [`Sync`].
    fn sync(&self, cluster: &ClusterId, sync: &Sync) -> impl Future<Output = Answer<SyncReply>> + Send;

    /// A node says goodbye with its last call. What it has not given back is written off. Said again, as when the
    /// answer got lost, it is stale.
    fn depart(&self, cluster: &ClusterId, sync: &Sync) -> impl Future<Output = Answer<SyncReply>> + Send;

    /// Spends all of `cost` or nothing; returns the rights that are left.
    fn acquire(
        &self,
        cluster: &ClusterId,
        app: &AppId,
        cost: Tokens,
    ) -> impl Future<Output = Answer<Tokens>> + Send;

    /// Takes `estimate` now, for work whose cost is known only when it is done. The caller makes the id up,
    /// unguessable; the same id again gets the same answer again.
    fn reserve(
        &self,
        cluster: &ClusterId,
        app: &AppId,
        id: &str,
        estimate: Tokens,
        timeout: Millis,
    ) -> impl Future<Output = Answer<Reservation>> + Send;

    /// The work is done and cost `actual`.
    fn complete(
        &self,
        cluster: &ClusterId,
        id: &str,
        actual: Tokens,
    ) -> impl Future<Output = Answer<Settlement>> + Send;

    /// The work was given up.
    fn cancel(&self, cluster: &ClusterId, id: &str) -> impl Future<Output = Answer<Settlement>> + Send;

    /// Borrows `amount` into the bucket; returns the debt it makes.
    fn borrow(
        &self,
        cluster: &ClusterId,
        app: &AppId,
        amount: Tokens,
    ) -> impl Future<Output = Answer<Tokens>> + Send;

    /// Pays back from the bucket, as far as there is debt and there are rights.
    fn repay(
        &self,
        cluster: &ClusterId,
        app: &AppId,
        amount: Tokens,
    ) -> impl Future<Output = Answer<Repayment>> + Send;

    /// Sets an application, now or at a given time; returns the version of the cluster that has it.
    fn put_app(&self, cluster: &ClusterId, put: &PutApp) -> impl Future<Output = Answer<u64>> + Send;

    /// Removes an application; its leases are void.
    fn delete_app(&self, cluster: &ClusterId, app: &AppId) -> impl Future<Output = Answer<u64>> + Send;

    /// Changes what the cluster can stand.
    fn put_cluster(
        &self,
        cluster: &ClusterId,
        capacity: &Capacity,
    ) -> impl Future<Output = Answer<u64>> + Send;

    /// Declares an emergency, or gives it a new end; returns the version of the cluster that has it.
    fn declare_emergency(
        &self,
        cluster: &ClusterId,
        reason: &str,
        duration: Millis,
    ) -> impl Future<Output = Answer<u64>> + Send;

    /// Ends the emergency, if there is one; returns the version of the cluster.
    fn end_emergency(&self, cluster: &ClusterId) -> impl Future<Output = Answer<u64>> + Send;

    /// Starts an application's bucket over, debt and burst allowance included. Leases stay out.
    fn reset(&self, cluster: &ClusterId, app: &AppId) -> impl Future<Output = Answer<()>> + Send;

    /// Compares what is out with what the leases add up to and corrects what drifted too far; returns the drift of
    /// each application that was corrected.
    fn reconcile(&self, cluster: &ClusterId) -> impl Future<Output = Answer<Vec<(AppId, Ratio)>>> + Send;

    /// The policies that changed after version `since`, the oldest change first, at most `limit` of them and at most
    /// [`MAX_PAGE`](crate::protocol::MAX_PAGE): see [`Changes`]. A change that is scheduled appears when it takes effect.
    fn changes(
        &self,
        cluster: &ClusterId,
        since: u64,
        limit: u32,
    ) -> impl Future<Output = Answer<Changes>> + Send;

    /// The applications after `after` in the order of their ids, from the first on if `None`; at most `limit` of them
    /// and at most [`MAX_PAGE`](crate::protocol::MAX_PAGE). The last page is the one that is empty.
    fn apps(
        &self,
        cluster: &ClusterId,
        after: Option<&AppId>,
        limit: u32,
    ) -> impl Future<Output = Answer<Vec<AppView>>> + Send;

    /// The changes that are scheduled, the earliest first, without the first `skip`; at most `limit` of them and at most
    /// [`MAX_PAGE`](crate::protocol::MAX_PAGE). Those of applications that are not there yet are told nowhere else.
    fn scheduled(
        &self,
        cluster: &ClusterId,
        skip: u32,
        limit: u32,
    ) -> impl Future<Output = Answer<Vec<Scheduled>>> + Send;

    /// The cluster itself as of now.
    fn cluster(&self, cluster: &ClusterId) -> impl Future<Output = Answer<ClusterView>> + Send;

    /// The balance as of now.
    fn audit(&self, cluster: &ClusterId) -> impl Future<Output = Answer<Audit>> + Send;

    /// Puts a question to the nodes of the cluster, those that listen to its [`Notices`].
    fn ask(&self, cluster: &ClusterId, question: &Question) -> impl Future<Output = Answer<Asked>> + Send;

    /// Leaves an answer for whoever asked. Returns whether it was taken: it is not if it is too long, or after
    /// [a while](crate::question::QUESTION_TTL).
    fn answer(
        &self,
        cluster: &ClusterId,
        question: u128,
        text: &str,
    ) -> impl Future<Output = Answer<bool>> + Send;

    /// What was answered last to a question that is open, by anybody who can write to the ledger.
    fn answer_to(
        &self,
        cluster: &ClusterId,
        question: u128,
    ) -> impl Future<Output = Answer<Option<String>>> + Send;

    /// Hints that the cluster has changed, from now on: see [`Notices`]. It neither waits nor fails. A ledger that
    /// cannot tell has none.
    fn notices(&self, cluster: &ClusterId) -> Notices {
        let _ = cluster;
        Notices::silent()
    }
}
