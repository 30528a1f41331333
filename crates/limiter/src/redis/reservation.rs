//! Tokens that were taken in advance, until their time has come.

use super::limiter::Shared;
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Handle;

/// Gives the tokens back if it is dropped before its time.
pub(super) struct Reservation {
    shared: Arc<Shared>,
    key: String,
    n: u64,
    is_over: bool,
}

impl Reservation {
    pub(super) const fn new(shared: Arc<Shared>, key: String, n: u64) -> Self {
        Self { shared, key, n, is_over: false }
    }

    /// Waits until the tokens are there.
    pub(super) async fn wait(mut self, wait: Duration) {
        tokio::time::sleep(wait).await;
        self.is_over = true;
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        if self.is_over {
            return;
        }
        // Nobody can wait here. What cannot be given back comes up again by itself.
        let Ok(runtime) = Handle::try_current() else { return };
        let (shared, key, n) = (Arc::clone(&self.shared), std::mem::take(&mut self.key), self.n);
        runtime.spawn(async move {
            let call = shared.scripts.give_back(&key, n);
            let _ = shared.link.run(&call).await;
        });
    }
}
