//! The shipped scripts, on a stand-in for Redis in this process.

use super::store::Order;
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, Waker};
use tollgate_core::id::ClusterId;
use tollgate_core::units::Millis;
use tollgate_ledger::protocol::MAX_PAGE;
use tollgate_ledger::script::{EngineError, MluaEngine, ScriptLedger, Store};
use tollgate_ledger::{Answer, Ledger, LedgerError};
use tollgate_node::desk::{Job, Reply};

/// A ledger kept by scripts.
pub(crate) struct Lua {
    ledger: ScriptLedger<MluaEngine>,
    clock: Arc<AtomicU64>,
    copy: Store,
}

impl Lua {
    pub(crate) fn new() -> Result<Self, EngineError> {
        let clock = Arc::new(AtomicU64::new(0));
        let hand = Arc::clone(&clock);
        let engine = MluaEngine::new(move || Millis::new(hand.load(Ordering::Relaxed)))?;
        Ok(Self { ledger: ScriptLedger::new(engine), clock, copy: Store::default() })
    }

    pub(crate) fn set_time(&self, time: Millis) {
        self.clock.store(time.get(), Ordering::Relaxed);
    }

    pub(crate) fn call(&self, cluster: &ClusterId, job: &Job) -> Answer<Reply> {
        match job {
            Job::Seed(seed) => at_once(self.ledger.seed(cluster, seed)).map(|_| Reply::Seeded),
            Job::Sync(sync) => at_once(self.ledger.sync(cluster, sync)).map(Reply::Sync),
            Job::Depart(sync) => at_once(self.ledger.depart(cluster, sync)).map(|_| Reply::Departed),
            Job::Changes(since) => {
                at_once(self.ledger.changes(cluster, *since, MAX_PAGE)).map(Reply::Changes)
            }
        }
    }

    pub(crate) fn order(&self, cluster: &ClusterId, order: &Order) {
        let _ = match order {
            Order::Put(put) => at_once(self.ledger.put_app(cluster, put)),
            Order::Declare(duration) => {
                at_once(self.ledger.declare_emergency(cluster, "simulated", *duration))
            }
            Order::End => at_once(self.ledger.end_emergency(cluster)),
        };
    }

    pub(crate) fn copy(&mut self) {
        self.copy = self.ledger.engine().store();
    }

    pub(crate) fn fail_over(&self) {
        self.ledger.engine().restore(self.copy.clone());
    }

    pub(crate) fn wipe(&self) {
        self.ledger.engine().restore(Store::default());
    }

    /// Whether the books balance; `None` if there are none. Looking changes nothing.
    pub(crate) fn balances(&self, cluster: &ClusterId) -> Option<bool> {
        let before = self.ledger.engine().store();
        let audit = at_once(self.ledger.audit(cluster));
        self.ledger.engine().restore(before);
        match audit {
            Err(LedgerError::Unseeded) => None,
            audit => Some(audit.is_ok_and(|audit| audit.balances())),
        }
    }
}

/// What a call that never waits comes to.
fn at_once<T>(call: impl Future<Output = Answer<T>>) -> Answer<T> {
    match pin!(call).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(answer) => answer,
        Poll::Pending => Err(LedgerError::Protocol("the interpreter waits".into())),
    }
}
