//! What is told to everybody who watches, as it happens.

use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
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

/// For how long it is remembered what this node told by itself, in milliseconds.
const REMEMBERED_MS: i64 = 10_000;

/// Hands events on to whoever watches.
#[derive(Debug)]
pub(crate) struct Hub {
    sender: broadcast::Sender<Arc<Event>>,
    /// How many want to hear of refusals.
    tails: Arc<AtomicUsize>,
    /// What this node told as it did it, and when: it is not news when it is seen in the ledger.
    told: Mutex<BTreeMap<String, i64>>,
}

/// Somebody wants to hear of refusals.
#[derive(Debug)]
pub(crate) struct Tail(Arc<AtomicUsize>);

impl Drop for Tail {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Default for Hub {
    fn default() -> Self {
        Self { sender: broadcast::channel(BACKLOG).0, tails: Arc::default(), told: Mutex::default() }
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

    /// Refusals are told while there is such a thing.
    pub(crate) fn tail(&self) -> Tail {
        self.tails.fetch_add(1, Ordering::Relaxed);
        Tail(Arc::clone(&self.tails))
    }

    pub(crate) fn has_tails(&self) -> bool {
        self.tails.load(Ordering::Relaxed) > 0
    }

    /// Remembers that this node told something as it did it.
    pub(crate) fn remember(&self, what: String, now: i64) {
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        told.retain(|_, at| now - *at < REMEMBERED_MS);
        told.insert(what, now);
    }

    /// Whether that was told already, which is asked once.
    pub(crate) fn was_told(&self, what: &str, now: i64) -> bool {
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        told.remove(what).is_some_and(|at| now - at < REMEMBERED_MS)
    }

    pub(crate) fn has_watchers(&self) -> bool {
        self.sender.receiver_count() > 0
    }
}
