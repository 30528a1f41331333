//! What is told to everybody who watches, as it happens.

use serde::Serialize;
use serde_json::Value;
use std::sync::Arc;
use tokio::sync::broadcast;
use utoipa::ToSchema;

/// How many events a watcher may fall behind before it is dropped.
const BACKLOG: usize = 256;

/// Something that happened.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct Event {
    /// What kind of thing.
    #[serde(rename = "type")]
    pub(crate) kind: EventKind,
    /// What exactly; its shape follows from the kind.
    pub(crate) data: Value,
    /// When, in milliseconds since 1970.
    pub(crate) timestamp: i64,
}

/// The kinds of events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum EventKind {
    /// How things stand, once a second.
    Metrics,
    /// An alert was raised, acknowledged or resolved.
    Alert,
    /// A policy has changed.
    ConfigChange,
    /// An emergency has begun or ended.
    Emergency,
    /// Requests were refused.
    Refusals,
}

/// Hands events on to whoever watches.
#[derive(Clone, Debug)]
pub(crate) struct Hub {
    sender: broadcast::Sender<Arc<Event>>,
}

impl Default for Hub {
    fn default() -> Self {
        Self { sender: broadcast::channel(BACKLOG).0 }
    }
}

impl Hub {
    pub(crate) fn tell(&self, kind: EventKind, data: Value, timestamp: i64) {
        // Without anybody who watches there is nobody to tell.
        let _ = self.sender.send(Arc::new(Event { kind, data, timestamp }));
    }

    pub(crate) fn watch(&self) -> broadcast::Receiver<Arc<Event>> {
        self.sender.subscribe()
    }

    pub(crate) fn has_watchers(&self) -> bool {
        self.sender.receiver_count() > 0
    }
}
