use std::future::Future;
use std::pin::Pin;
use std::task::Context;
use std::time::{Duration, Instant};
use tokio::time::Sleep;

/// A wait that must not last too long. Its alarm is set by the first wait, and set anew only when it goes off: waits that
/// are over in time cost no more than a look at the clock.
pub(super) struct Patience {
    limit: Duration,
    waiting_since: Option<Instant>,
    alarm: Option<Pin<Box<Sleep>>>,
}

impl Patience {
    pub(super) const fn new(limit: Duration) -> Self {
        Self { limit, waiting_since: None, alarm: None }
    }

    /// The longest wait.
    pub(super) const fn limit(&self) -> Duration {
        self.limit
    }

    /// Nothing came: whether it has been waited for too long. Whoever polls is woken when it has.
    pub(super) fn is_over(&mut self, cx: &mut Context<'_>) -> bool {
        let since = *self.waiting_since.get_or_insert_with(Instant::now);
        let deadline = (since + self.limit).into();
        let alarm = self.alarm.get_or_insert_with(|| Box::pin(tokio::time::sleep_until(deadline)));
        while alarm.as_mut().poll(cx).is_ready() {
            // It may have been set for an earlier wait.
            if tokio::time::Instant::now() >= deadline {
                return true;
            }
            alarm.as_mut().reset(deadline);
        }
        false
    }

    /// Something came: since when it was waited for, if it was.
    pub(super) const fn end(&mut self) -> Option<Instant> {
        self.waiting_since.take()
    }
}
