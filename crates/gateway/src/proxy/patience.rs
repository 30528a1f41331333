use std::future::Future;
use std::pin::Pin;
use std::task::Context;
use std::time::{Duration, Instant};
use tokio::time::Sleep;

/// An alarm that is set by the first wait, and set anew only when it goes off: waits that are over in time cost next to
/// nothing.
#[derive(Default)]
pub(crate) struct Alarm(Option<Pin<Box<Sleep>>>);

impl Alarm {
    /// Whether it is that late. Whoever polls is woken when it is.
    pub(crate) fn is_past(&mut self, deadline: Instant, cx: &mut Context<'_>) -> bool {
        let deadline = deadline.into();
        let sleep = self.0.get_or_insert_with(|| Box::pin(tokio::time::sleep_until(deadline)));
        if sleep.deadline() > deadline {
            sleep.as_mut().reset(deadline);
        }
        while sleep.as_mut().poll(cx).is_ready() {
            // It may have been set for an earlier wait.
            if tokio::time::Instant::now() >= deadline {
                return true;
            }
            sleep.as_mut().reset(deadline);
        }
        false
    }
}

/// A wait that must not last too long.
pub(super) struct Patience {
    limit: Duration,
    waiting_since: Option<Instant>,
    alarm: Alarm,
}

impl Patience {
    pub(super) const fn new(limit: Duration) -> Self {
        Self { limit, waiting_since: None, alarm: Alarm(None) }
    }

    /// The longest wait.
    pub(super) const fn limit(&self) -> Duration {
        self.limit
    }

    /// Nothing came: whether it has been waited for too long. Whoever polls is woken when it has.
    pub(super) fn is_over(&mut self, cx: &mut Context<'_>) -> bool {
        let since = *self.waiting_since.get_or_insert_with(Instant::now);
        self.alarm.is_past(since + self.limit, cx)
    }

    /// Something came: since when it was waited for, if it was.
    pub(super) const fn end(&mut self) -> Option<Instant> {
        self.waiting_since.take()
    }
}
