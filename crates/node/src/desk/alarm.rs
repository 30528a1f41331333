//! What a node knows of an emergency, also when nobody tells it any more.

use tollgate_core::emergency::{self, Emergency};
use tollgate_core::priority::Priority;
use tollgate_core::units::{Nanos, Ratio};
use tollgate_ledger::protocol::SyncReply;

/// The emergency that the ledger last told of, if any: when it ends, by the node's own clock. Only the ledger can say that it ended
/// before that, or that it goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Alarm {
    until: Option<Nanos>,
}

impl Alarm {
    /// Nobody told of one.
    pub(super) const NONE: Self = Self { until: None };

    /// One that lasts until then.
    #[cfg(test)]
    pub(super) const fn lasting(until: Nanos) -> Self {
        Self { until: Some(until) }
    }

    /// What a reply tells. Its end counts from when the reply arrived: never too early.
    pub(super) fn told(reply: &SyncReply, now: Nanos) -> Self {
        match reply.emergency {
            Emergency::On { until, .. } => Self { until: Some(now.plus(until.since(reply.now).into())) },
            Emergency::Off { .. } => Self::NONE,
        }
    }

    /// Whether the ledger last told of one, be it over or not.
    pub(super) const fn is_told(self) -> bool {
        self.until.is_some()
    }

    /// How long it still lasts, as far as is known.
    pub(super) fn left(self, now: Nanos) -> Nanos {
        self.until.map_or(Nanos::ZERO, |until| until.since(now))
    }

    /// Whether there is one.
    pub(super) fn is_on(self, now: Nanos) -> bool {
        self.left(now) > Nanos::ZERO
    }

    /// The share that an application of that priority keeps.
    pub(super) fn kept(self, priority: Priority, now: Nanos) -> Ratio {
        if self.is_on(now) { emergency::ratio(priority) } else { Ratio::ONE }
    }
}
