//! Keeps calls from waiting for a server that is known to be away.

use std::sync::Mutex;
use std::sync::PoisonError;
use std::time::Duration;
use tokio::time::Instant;

/// How long to leave a server alone that did not answer.
const PAUSE: Duration = Duration::from_millis(250);

#[derive(Debug, Default)]
pub(super) struct Breaker {
    /// Until when nobody asks, if the last call failed.
    closed_until: Mutex<Option<Instant>>,
}

impl Breaker {
    /// Whether this call may ask. After a pause one call may, and the others wait for what it finds.
    pub(super) fn admits(&self) -> bool {
        let mut until = self.closed_until.lock().unwrap_or_else(PoisonError::into_inner);
        match *until {
            None => true,
            Some(moment) if Instant::now() < moment => false,
            Some(_) => {
                *until = Some(Instant::now() + PAUSE);
                true
            }
        }
    }

    /// What became of a call.
    pub(super) fn heard(&self, is_there: bool) {
        let mut until = self.closed_until.lock().unwrap_or_else(PoisonError::into_inner);
        *until = (!is_there).then(|| Instant::now() + PAUSE);
    }
}
