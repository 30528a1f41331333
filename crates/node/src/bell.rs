//! How requests wake whoever speaks to the ledger.

use crate::sync::lock;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::sync::Notify;
use tollgate_core::id::AppId;

/// Rung by requests, heard by the one task that speaks to the ledger. Rings that nobody has heard yet are one.
#[derive(Debug, Default)]
pub struct Bell {
    is_rung: AtomicBool,
    notify: Notify,
    /// Applications whose purse runs low. Each is named once until it was looked after.
    low: Mutex<Vec<AppId>>,
}

impl Bell {
    /// Rings.
    pub fn ring(&self) {
        if !self.is_rung.swap(true, Ordering::AcqRel) {
            self.notify.notify_one();
        }
    }

    /// Whether it was rung since this was last asked.
    pub fn answer(&self) -> bool {
        self.is_rung.swap(false, Ordering::AcqRel)
    }

    /// Rings for an application whose purse runs low.
    #[cold]
    pub(crate) fn runs_low(&self, app: &AppId) {
        lock(&self.low).push(app.clone());
        self.ring();
    }

    /// Those whose purse ran low since this was last asked.
    pub(crate) fn low(&self) -> Vec<AppId> {
        std::mem::take(&mut lock(&self.low))
    }

    /// Whether it was rung and nobody has answered yet.
    pub fn is_rung(&self) -> bool {
        self.is_rung.load(Ordering::Acquire)
    }

    /// Waits for a ring.
    pub(crate) async fn rung(&self) {
        self.notify.notified().await;
    }
}
