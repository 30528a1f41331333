use crate::board::Boards;
use crate::book::{Audit, Book};
use crate::clock::{LedgerClock, WallClock};
use crate::connection::Slates;
use crate::ledger::{Answer, Ledger};
use crate::notice::{Hub, Notices};
use crate::protocol::{AppView, Changes, ClusterView, LedgerError, PutApp, Scheduled, Seed, Sync, SyncReply};
use crate::question::{Asked, Forum, Question};
#[cfg(feature = "snapshot")]
use crate::snapshot::Snapshot;
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use tollgate_core::borrow::Repayment;
use tollgate_core::id::{AppId, ClusterId};
use tollgate_core::quota::Capacity;
use tollgate_core::reservation::{Reservation, Settlement};
use tollgate_core::units::{Millis, Ratio, Tokens};

/// A ledger inside this process: a book for each cluster, behind one lock that is never held for longer than a
/// step of arithmetic.
#[derive(Debug, Default)]
pub struct MemoryLedger<C = WallClock> {
    books: Mutex<BTreeMap<ClusterId, Book>>,
    slates: Slates,
    boards: Boards,
    forum: Forum,
    clock: C,
    hub: Hub<ClusterId>,
}

impl MemoryLedger {
    /// An empty ledger on the machine's clock.
    pub fn new() -> Self {
        Self::default()
    }
}

impl<C: LedgerClock> MemoryLedger<C> {
    /// An empty ledger on another clock.
    pub fn with_clock(clock: C) -> Self {
        Self {
            books: Mutex::default(),
            slates: Slates::default(),
            boards: Boards::default(),
            forum: Forum::default(),
            clock,
            hub: Hub::default(),
        }
    }

    /// A ledger that goes on where a snapshot was taken.
    #[cfg(feature = "snapshot")]
    pub fn restore(snapshot: Snapshot, clock: C) -> Self {
        Self { books: Mutex::new(snapshot.books), ..Self::with_clock(clock) }
    }

    /// All that it knows, to be written to a file. The lock is held for the copy only.
    #[cfg(feature = "snapshot")]
    pub fn snapshot(&self) -> Snapshot {
        Snapshot::new(self.books().clone())
    }

    pub(crate) const fn slates(&self) -> &Slates {
        &self.slates
    }

    pub(crate) const fn boards(&self) -> &Boards {
        &self.boards
    }

    pub(crate) fn now(&self) -> Millis {
        self.clock.now()
    }

    fn books(&self) -> MutexGuard<'_, BTreeMap<ClusterId, Book>> {
        // A book is changed in steps that do not panic; one that did would have left it between two of them.
        self.books.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn with<T>(&self, cluster: &ClusterId, step: impl FnOnce(&mut Book, Millis) -> Answer<T>) -> Answer<T> {
        let mut books = self.books();
        // Read under the lock, so that time does not go back between two steps.
        let now = self.clock.now();
        let book = books.get_mut(cluster).ok_or(LedgerError::Unseeded)?;
        let before = book.version();
        let answer = step(book, now);
        if book.version() != before {
            self.hub.tell(cluster, book.version());
        }
        answer
    }
}

impl<C: LedgerClock> Ledger for MemoryLedger<C> {
    async fn seed(&self, cluster: &ClusterId, seed: &Seed) -> Answer<u64> {
        let mut books = self.books();
        if let Some(book) = books.get(cluster) {
            return Ok(book.version());
        }
        let book = Book::seed(seed.clone(), self.clock.now())?;
        let version = book.version();
        books.insert(cluster.clone(), book);
        self.hub.tell(cluster, version);
        Ok(version)
    }

    async fn sync(&self, cluster: &ClusterId, sync: &Sync) -> Answer<SyncReply> {
        self.with(cluster, |book, now| book.sync(sync, now))
    }

    async fn depart(&self, cluster: &ClusterId, sync: &Sync) -> Answer<SyncReply> {
        self.with(cluster, |book, now| book.depart(sync, now))
    }

    async fn acquire(&self, cluster: &ClusterId, app: &AppId, cost: Tokens) -> Answer<Tokens> {
        self.with(cluster, |book, now| book.acquire(app, cost, now))
    }

    async fn reserve(
        &self,
        cluster: &ClusterId,
        app: &AppId,
        id: &str,
        estimate: Tokens,
        timeout: Millis,
    ) -> Answer<Reservation> {
        self.with(cluster, |book, now| book.reserve(id, app, estimate, timeout, now))
    }

    async fn complete(&self, cluster: &ClusterId, id: &str, actual: Tokens) -> Answer<Settlement> {
        self.with(cluster, |book, now| book.complete(id, actual, now))
    }

    async fn cancel(&self, cluster: &ClusterId, id: &str) -> Answer<Settlement> {
        self.with(cluster, |book, now| book.cancel(id, now))
    }

    async fn borrow(&self, cluster: &ClusterId, app: &AppId, amount: Tokens) -> Answer<Tokens> {
        self.with(cluster, |book, now| book.borrow(app, amount, now))
    }

    async fn repay(&self, cluster: &ClusterId, app: &AppId, amount: Tokens) -> Answer<Repayment> {
        self.with(cluster, |book, now| book.repay(app, amount, now))
    }

    async fn put_app(&self, cluster: &ClusterId, put: &PutApp) -> Answer<u64> {
        self.with(cluster, |book, now| book.put_app(put.clone(), now))
    }

    async fn delete_app(&self, cluster: &ClusterId, app: &AppId) -> Answer<u64> {
        self.with(cluster, |book, now| book.delete_app(app, now))
    }

    async fn put_cluster(&self, cluster: &ClusterId, capacity: &Capacity) -> Answer<u64> {
        self.with(cluster, |book, now| book.put_cluster(*capacity, now))
    }

    async fn declare_emergency(&self, cluster: &ClusterId, reason: &str, duration: Millis) -> Answer<u64> {
        self.with(cluster, |book, now| {
            book.declare_emergency(reason, duration, now);
            Ok(book.version())
        })
    }

    async fn end_emergency(&self, cluster: &ClusterId) -> Answer<u64> {
        self.with(cluster, |book, now| {
            book.end_emergency(now);
            Ok(book.version())
        })
    }

    async fn reset(&self, cluster: &ClusterId, app: &AppId) -> Answer<()> {
        self.with(cluster, |book, now| book.reset(app, now))
    }

    async fn reconcile(&self, cluster: &ClusterId) -> Answer<Vec<(AppId, Ratio)>> {
        self.with(cluster, |book, now| Ok(book.reconcile(now)))
    }

    async fn changes(&self, cluster: &ClusterId, since: u64, limit: u32) -> Answer<Changes> {
        self.with(cluster, |book, now| Ok(book.changes(since, limit, now)))
    }

    async fn apps(&self, cluster: &ClusterId, after: Option<&AppId>, limit: u32) -> Answer<Vec<AppView>> {
        self.with(cluster, |book, now| Ok(book.app_views(after, limit, now)))
    }

    async fn scheduled(&self, cluster: &ClusterId, skip: u32, limit: u32) -> Answer<Vec<Scheduled>> {
        self.with(cluster, |book, now| Ok(book.scheduled(skip, limit, now)))
    }

    async fn cluster(&self, cluster: &ClusterId) -> Answer<ClusterView> {
        self.with(cluster, |book, now| Ok(book.cluster_view(now)))
    }

    async fn audit(&self, cluster: &ClusterId) -> Answer<Audit> {
        self.with(cluster, |book, now| Ok(book.audit(now)))
    }

    async fn ask(&self, cluster: &ClusterId, question: &Question) -> Answer<Asked> {
        if !self.forum.ask(cluster, question, self.now()) {
            return Ok(Asked::Refused);
        }
        Ok(Asked::Told(Some(self.hub.ask(cluster, question))))
    }

    async fn answer(&self, cluster: &ClusterId, question: u128, text: &str) -> Answer<bool> {
        Ok(self.forum.answer(cluster, question, text, self.now()))
    }

    async fn answer_to(&self, cluster: &ClusterId, question: u128) -> Answer<Option<String>> {
        Ok(self.forum.answer_to(cluster, question, self.now()))
    }

    fn notices(&self, cluster: &ClusterId) -> Notices {
        self.hub.listen(cluster)
    }
}
