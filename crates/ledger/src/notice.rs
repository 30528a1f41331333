//! Hints that something has changed, so that nodes need not wait for their next call to hear of it.

use std::collections::BTreeMap;
use std::fmt;
use std::future;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::watch;

/// Hints that a cluster has changed. They may be late, come twice, be merged into one or be lost, so nothing may
/// depend on them: the version in every answer to a node is what counts.
///
/// Clones listen on their own to the same source, which ends with the last of them.
#[derive(Clone)]
pub struct Notices {
    latest: watch::Receiver<u64>,
    /// What feeds it, if that has to be kept alive or stopped.
    _source: Option<Arc<dyn Send + Sync>>,
}

impl Notices {
    /// Hints that never come.
    pub fn silent() -> Self {
        Self { latest: watch::channel(0).1, _source: None }
    }

    /// Hints from a source that ends when nobody listens any more.
    #[cfg(feature = "redis")]
    pub(crate) fn from_source(latest: watch::Receiver<u64>, source: impl Send + Sync + 'static) -> Self {
        Self { latest, _source: Some(Arc::new(source)) }
    }

    /// Waits for the next hint; returns the latest version that was heard of. It may be lower than the one before:
    /// a ledger that lost its memory counts anew. If there will be no more hints, this waits for ever.
    ///
    /// Dropping the future loses no hint.
    pub async fn next(&mut self) -> u64 {
        if self.latest.changed().await.is_err() {
            return future::pending().await;
        }
        *self.latest.borrow_and_update()
    }
}

impl fmt::Debug for Notices {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Notices").field("latest", &*self.latest.borrow()).finish_non_exhaustive()
    }
}

/// Passes hints on within this process.
#[derive(Debug)]
pub(crate) struct Hub<K> {
    channels: Mutex<BTreeMap<K, watch::Sender<u64>>>,
}

impl<K: Ord + Clone> Hub<K> {
    pub(crate) fn listen(&self, key: &K) -> Notices {
        let mut channels = self.channels.lock().unwrap_or_else(PoisonError::into_inner);
        // Those that nobody listens to any more would pile up.
        channels.retain(|_, channel| channel.receiver_count() > 0);
        let channel = channels.entry(key.clone()).or_insert_with(|| watch::channel(0).0);
        Notices { latest: channel.subscribe(), _source: None }
    }

    pub(crate) fn tell(&self, key: &K, version: u64) {
        let channels = self.channels.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(channel) = channels.get(key) {
            channel.send_replace(version);
        }
    }
}

impl<K> Default for Hub<K> {
    fn default() -> Self {
        Self { channels: Mutex::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};

    /// The hint that is there, if there is one.
    fn heard(notices: &mut Notices) -> Option<u64> {
        match pin!(notices.next()).poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(version) => Some(version),
            Poll::Pending => None,
        }
    }

    #[test]
    fn hints_are_merged_and_nobody_hears_of_another_cluster() {
        let hub = Hub::default();
        let (mut a, mut b) = (hub.listen(&"a"), hub.listen(&"b"));
        let mut late = a.clone();
        for version in 2..1_000 {
            hub.tell(&"a", version);
        }
        assert_eq!((heard(&mut a), heard(&mut a)), (Some(999), None));
        assert_eq!((heard(&mut late), heard(&mut b)), (Some(999), None));
    }

    #[test]
    fn a_version_that_comes_again_is_a_hint_again() {
        let hub = Hub::default();
        let mut notices = hub.listen(&());
        for version in [3, 3, 1] {
            hub.tell(&(), version);
            assert_eq!(heard(&mut notices), Some(version));
        }
    }

    #[test]
    fn without_a_source_nothing_is_heard_and_nothing_spins() {
        assert_eq!(heard(&mut Notices::silent()), None);
        let hub = Hub::default();
        let mut notices = hub.listen(&());
        drop(hub);
        assert_eq!(heard(&mut notices), None);
    }

    #[test]
    fn who_stopped_listening_is_forgotten() {
        let hub = Hub::default();
        for key in 0..100 {
            drop(hub.listen(&key));
        }
        let _kept = hub.listen(&100);
        assert_eq!(hub.channels.lock().unwrap().len(), 1);
    }
}
