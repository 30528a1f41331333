use super::room::Room;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::{Notify, watch};

/// Where those who need a slot and the keeper who asks for them meet. A round is one time that the keeper asks.
#[derive(Debug)]
pub(super) struct Rounds {
    needed: Notify,
    /// Rooms with connections that wait, each once.
    queue: Mutex<Vec<Arc<Room>>>,
    started: AtomicU64,
    finished: watch::Sender<Finished>,
}

/// A round that is over.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Finished {
    pub(super) number: u64,
    /// Whether the ledger answered.
    pub(super) is_answered: bool,
}

/// A connection that waits for a slot, for as long as this lives.
pub(super) struct Waiting<'a>(&'a Room);

impl Default for Rounds {
    fn default() -> Self {
        Self {
            needed: Notify::new(),
            queue: Mutex::default(),
            started: AtomicU64::new(0),
            finished: watch::Sender::default(),
        }
    }
}

impl Rounds {
    /// Calls the keeper; returns the number of the first round that is sure to ask for this room.
    pub(super) fn ask(&self, room: &Arc<Room>) -> u64 {
        if !room.is_queued.swap(true, Ordering::SeqCst) {
            self.lock().push(Arc::clone(room));
        }
        // A round that has begun by now may have missed it.
        let next = self.started.load(Ordering::SeqCst) + 1;
        self.needed.notify_one();
        next
    }

    pub(super) fn subscribe(&self) -> watch::Receiver<Finished> {
        self.finished.subscribe()
    }

    /// Returns when somebody needs a slot.
    pub(super) async fn needed(&self) {
        self.needed.notified().await;
    }

    /// Begins a round; returns its number.
    pub(super) fn start(&self) -> u64 {
        self.started.fetch_add(1, Ordering::SeqCst) + 1
    }

    /// Those who stand in line. They are not in it any more then.
    pub(super) fn queued(&self) -> Vec<Arc<Room>> {
        let rooms = std::mem::take(&mut *self.lock());
        for room in &rooms {
            room.is_queued.store(false, Ordering::SeqCst);
        }
        rooms
    }

    pub(super) fn finish(&self, number: u64, is_answered: bool) {
        self.finished.send_replace(Finished { number, is_answered });
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Arc<Room>>> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<'a> Waiting<'a> {
    /// Joins those who wait. Must come before [`Rounds::ask`].
    pub(super) fn new(room: &'a Room) -> Self {
        room.waiting.fetch_add(1, Ordering::SeqCst);
        Self(room)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.waiting.fetch_sub(1, Ordering::SeqCst);
    }
}
