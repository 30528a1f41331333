//! How requests wake whoever speaks to the ledger.

use std::sync::atomic::{AtomicBool, Ordering};
use tokio::sync::Notify;

/// Rung by requests, heard by the one task that speaks to the ledger. Rings that nobody has heard yet are one.
#[derive(Debug, Default)]
pub struct Bell {
    is_rung: AtomicBool,
    notify: Notify,
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

    /// Whether it was rung and nobody has answered yet.
    pub fn is_rung(&self) -> bool {
        self.is_rung.load(Ordering::Acquire)
    }

    /// Waits for a ring.
    pub(crate) async fn rung(&self) {
        self.notify.notified().await;
    }
}
