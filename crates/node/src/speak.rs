//! The task that carries what a desk has to say to the ledger, and brings back the answer.

use crate::connect::News;
use crate::desk::{Job, Outcome, Refused, Reply};
use crate::node::Inner;
use crate::permit::Permit;
use crate::sync::lock;
use std::pin::Pin;
use std::sync::Arc;
use tokio::sync::oneshot;
use tollgate_core::id::ClusterId;
use tollgate_ledger::protocol::MAX_PAGE;
use tollgate_ledger::{Ledger, LedgerError, Slots};

/// How a request that waits is told.
pub(crate) type Ticket = oneshot::Sender<Result<Permit, Refused>>;

/// A call on its way.
type Flight = Pin<Box<dyn Future<Output = Result<Reply, LedgerError>> + Send>>;

impl<L: Ledger + Slots + 'static> Inner<L> {
    /// Carries what a desk has to say to the ledger and back, until the desk is closed.
    pub(crate) async fn speak(self: Arc<Self>, cluster: ClusterId) {
        let Some(counter) = self.desks.get(&cluster) else { return };
        let mut notices = counter.notices.clone();
        let mut flight: Option<Flight> = None;
        let mut news = News::default();
        loop {
            let (outcomes, job, wake, is_closed) = {
                let now = self.clock.now();
                let mut desk = lock(&counter.desk);
                let outcomes = desk.tick(now);
                (outcomes, desk.next_job(now), desk.wake_at(now), desk.is_closed())
            };
            deliver(outcomes);
            if is_closed {
                return;
            }
            if let Some(job) = job {
                let this = Arc::clone(&self);
                let cluster = cluster.clone();
                flight = Some(Box::pin(async move { this.carry(&cluster, job).await }));
            }
            let landed = async {
                match &mut flight {
                    Some(flight) => flight.await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                biased;
                result = landed => {
                    flight = None;
                    let now = self.clock.now();
                    let is_news = result.as_ref().is_ok_and(|reply| news.note(reply));
                    let outcomes = match result {
                        Ok(reply) => lock(&counter.desk).answered(reply, now),
                        Err(error) => lock(&counter.desk).failed(&error, now),
                    };
                    deliver(outcomes);
                    if is_news {
                        news.spread(&self, &cluster, counter);
                    }
                }
                version = notices.next() => lock(&counter.desk).hint(version),
                () = counter.bell.rung() => {}
                () = tokio::time::sleep_until(self.clock.instant(wake)) => {}
            }
        }
    }

    async fn carry(&self, cluster: &ClusterId, job: Job) -> Result<Reply, LedgerError> {
        let call = async {
            match &job {
                Job::Sync(sync) => self.ledger.sync(cluster, sync).await.map(Reply::Sync),
                Job::Depart(sync) => self.ledger.depart(cluster, sync).await.map(|_| Reply::Departed),
                Job::Seed(seed) => self.ledger.seed(cluster, seed).await.map(|_| Reply::Seeded),
                Job::Changes(since) => {
                    self.ledger.changes(cluster, *since, MAX_PAGE).await.map(Reply::Changes)
                }
            }
        };
        tokio::time::timeout(self.call_timeout, call).await.unwrap_or(Err(LedgerError::Timeout))
    }
}

/// Tells those who waited. Whoever has left gives back what was paid for them.
pub(crate) fn deliver(outcomes: Vec<Outcome<Ticket>>) {
    for (ticket, outcome) in outcomes {
        drop(ticket.send(outcome));
    }
}
