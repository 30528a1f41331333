//! Hints that something has changed or is asked, so that nodes need not wait for their next call to hear of it.

use crate::question::{MAX_OPEN, Question};
use std::collections::BTreeMap;
use std::fmt;
use std::future;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{broadcast, watch};

/// Hints that a cluster has changed. They may be late, come twice, be merged into one or be lost, so nothing may
/// depend on them: the version in every answer to a node is what counts.
///
/// What the nodes of the cluster ask each other is heard by the same way: see [`question`](crate::question).
///
/// Clones listen on their own to the same source, which ends with the last of them.
pub struct Notices {
    latest: watch::Receiver<u64>,
    questions: broadcast::Receiver<Question>,
    /// What feeds it or counts it, and has to hear of its end.
    source: Arc<dyn Send + Sync>,
}

impl Notices {
    /// Hints that never come.
    pub fn silent() -> Self {
        Loudspeaker::new().listen()
    }

    /// Hints from a source that ends when nobody listens any more.
    #[cfg(feature = "redis")]
    pub(crate) fn kept_by(self, source: impl Send + Sync + 'static) -> Self {
        Self { source: Arc::new(source), ..self }
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

    /// Waits for the next question of any node of the cluster, this one included. Of many that nobody fetches, the oldest are
    /// lost. If there will be no more, this waits for ever.
    ///
    /// Dropping the future loses no question.
    pub async fn next_question(&mut self) -> Question {
        loop {
            match self.questions.recv().await {
                Ok(question) => return question,
                Err(RecvError::Lagged(_)) => {}
                Err(RecvError::Closed) => return future::pending().await,
            }
        }
    }
}

impl Clone for Notices {
    fn clone(&self) -> Self {
        let (latest, questions) = (self.latest.clone(), self.questions.resubscribe());
        Self { latest, questions, source: Arc::clone(&self.source) }
    }
}

impl fmt::Debug for Notices {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Notices").field("latest", &*self.latest.borrow()).finish_non_exhaustive()
    }
}

/// Tells those who listen.
#[derive(Debug)]
pub(crate) struct Loudspeaker {
    latest: watch::Sender<u64>,
    questions: broadcast::Sender<Question>,
    /// Shared by those who listen, so that they can be counted; clones count as one.
    seats: Arc<()>,
}

impl Loudspeaker {
    pub(crate) fn new() -> Self {
        Self {
            latest: watch::Sender::new(0),
            questions: broadcast::Sender::new(MAX_OPEN),
            seats: Arc::default(),
        }
    }

    pub(crate) fn listen(&self) -> Notices {
        Notices {
            latest: self.latest.subscribe(),
            questions: self.questions.subscribe(),
            source: Arc::new(Arc::clone(&self.seats)),
        }
    }

    pub(crate) fn tell(&self, version: u64) {
        self.latest.send_replace(version);
    }

    pub(crate) fn ask(&self, question: Question) {
        // It is no error that nobody listens.
        let _ = self.questions.send(question);
    }

    /// How many listen in this process.
    fn count(&self) -> u64 {
        Arc::strong_count(&self.seats).saturating_sub(1) as u64
    }
}

/// Passes hints on within this process.
#[derive(Debug)]
pub(crate) struct Hub<K> {
    channels: Mutex<BTreeMap<K, Loudspeaker>>,
}

impl<K: Ord + Clone> Hub<K> {
    pub(crate) fn listen(&self, key: &K) -> Notices {
        let mut channels = self.channels.lock().unwrap_or_else(PoisonError::into_inner);
        // Those that nobody listens to any more would pile up.
        channels.retain(|_, channel| channel.count() > 0);
        channels.entry(key.clone()).or_insert_with(Loudspeaker::new).listen()
    }

    pub(crate) fn tell(&self, key: &K, version: u64) {
        self.with(key, |channel| channel.tell(version));
    }

    /// Returns how many were told.
    pub(crate) fn ask(&self, key: &K, question: &Question) -> u64 {
        let ask = |channel: &Loudspeaker| {
            channel.ask(question.clone());
            channel.count()
        };
        self.with(key, ask).unwrap_or(0)
    }

    fn with<T>(&self, key: &K, step: impl FnOnce(&Loudspeaker) -> T) -> Option<T> {
        let channels = self.channels.lock().unwrap_or_else(PoisonError::into_inner);
        channels.get(key).map(step)
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
    fn questions_are_heard_one_by_one_and_of_too_many_the_latest() {
        let hub = Hub::default();
        let mut notices = hub.listen(&());
        let question = |name| Question { name, text: "?".into() };
        let next = |notices: &mut Notices| match pin!(notices.next_question())
            .poll(&mut Context::from_waker(Waker::noop()))
        {
            Poll::Ready(question) => Some(question.name),
            Poll::Pending => None,
        };
        hub.ask(&(), &question(1));
        hub.ask(&(), &question(2));
        let (mut late, another) = (notices.clone(), hub.listen(&()));
        assert_eq!([(); 3].map(|()| next(&mut notices)), [Some(1), Some(2), None]);
        assert_eq!(next(&mut late), None);
        for name in 0..10_000 {
            hub.ask(&(), &question(name));
        }
        assert_eq!(hub.ask(&(), &question(10_000)), 2, "clones count as one");
        drop(another);
        assert_eq!(hub.ask(&(), &question(10_001)), 1);
        let first = next(&mut notices).unwrap();
        assert!(first >= 10_000 - 2 * MAX_OPEN as u128, "{first}");
        assert_eq!(next(&mut Notices::silent()), None);
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
