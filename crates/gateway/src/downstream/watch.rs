use crate::framing::Fault;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Waker;
use std::time::{Duration, Instant};

/// What is going on on a connection, as seen from its two ends: the bytes and the requests.
///
/// All of it belongs to one thread. It is shared by atomics only because hyper wants what can be upgraded to be
/// able to move.
#[derive(Debug)]
pub(crate) struct Watch {
    /// Where its milliseconds start; zero is never, so one is added.
    epoch: Instant,
    /// How many requests have begun.
    begun: AtomicU64,
    /// Requests under way.
    open: AtomicU32,
    /// Since when there are none.
    resting: AtomicU64,
    /// Since when a head is half here.
    partial: AtomicU64,
    /// Since when the client takes nothing.
    stalled: AtomicU64,
    /// Since when it takes nothing of which answer, where several are on their way at a time: of these it may leave one where it is
    /// and take the others.
    untaken: Mutex<BTreeMap<u64, u64>>,
    /// Since when it is being closed.
    closing: AtomicU64,
    /// Which head is at fault, if any.
    fault_at: AtomicU64,
    fault: Mutex<Option<Fault>>,
    upgrade: AtomicU8,
    waker: Mutex<Option<Waker>>,
    /// Something began that may be overdue earlier than what was known before.
    is_urgent: AtomicBool,
}

/// A request under way on a connection.
#[derive(Debug)]
pub(crate) struct Turn {
    watch: Arc<Watch>,
    number: u64,
    /// Why it is not let in, if it is not.
    pub(crate) fault: Option<Fault>,
}

/// What came of a request to upgrade.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Upgrade {
    /// Nobody knows yet.
    Undecided,
    /// The connection is a tunnel now.
    Agreed,
    /// It goes on as it was.
    Declined,
}

/// How long it may take, whatever is going on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Patience {
    pub(crate) header: Duration,
    pub(crate) idle: Duration,
    pub(crate) write: Duration,
    pub(crate) linger: Duration,
}

/// What a look at the clock says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Check {
    /// All is well until then, at least.
    Until(Instant),
    /// No request came.
    Idle,
    /// A head did not come to its end.
    SlowHead,
    /// The client takes nothing, or does not go.
    Stuck,
}

const NOBODY: u64 = u64::MAX;

impl Watch {
    pub(crate) fn new() -> Self {
        Self {
            epoch: Instant::now(),
            begun: AtomicU64::new(0),
            open: AtomicU32::new(0),
            resting: AtomicU64::new(1),
            partial: AtomicU64::new(0),
            stalled: AtomicU64::new(0),
            untaken: Mutex::default(),
            closing: AtomicU64::new(0),
            fault_at: AtomicU64::new(NOBODY),
            fault: Mutex::new(None),
            upgrade: AtomicU8::new(0),
            waker: Mutex::new(None),
            is_urgent: AtomicBool::new(false),
        }
    }

    /// A head is on its way.
    pub(crate) fn head_started(&self) {
        if self.partial.load(Ordering::Relaxed) == 0 {
            self.partial.store(self.now(), Ordering::Relaxed);
            self.is_urgent.store(true, Ordering::Relaxed);
        }
    }

    /// A head is all here.
    pub(crate) fn head_complete(&self) {
        self.partial.store(0, Ordering::Relaxed);
    }

    /// A request begins.
    pub(crate) fn begin(self: &Arc<Self>) -> Turn {
        self.open.fetch_add(1, Ordering::Relaxed);
        let number = self.begun.fetch_add(1, Ordering::Relaxed);
        Turn { watch: Arc::clone(self), number, fault: self.fault_of(number) }
    }

    /// Whether the client takes what is sent.
    pub(crate) fn wrote(&self, taken: bool) {
        if taken {
            if self.stalled.load(Ordering::Relaxed) != 0 {
                self.stalled.store(0, Ordering::Relaxed);
            }
        } else if self.stalled.load(Ordering::Relaxed) == 0 {
            self.stalled.store(self.now(), Ordering::Relaxed);
            self.is_urgent.store(true, Ordering::Relaxed);
        }
    }

    /// The connection is being closed.
    pub(crate) fn closing(&self) {
        if self.closing.load(Ordering::Relaxed) == 0 {
            self.closing.store(self.now(), Ordering::Relaxed);
            self.is_urgent.store(true, Ordering::Relaxed);
        }
    }

    /// Head number `head` is not let in.
    pub(crate) fn blame(&self, head: u64, fault: Fault) {
        *self.fault.lock().unwrap_or_else(PoisonError::into_inner) = Some(fault);
        self.fault_at.store(head, Ordering::Relaxed);
    }

    /// The next head does not come.
    pub(crate) fn blame_next(&self, fault: Fault) {
        self.blame(self.begun.load(Ordering::Relaxed), fault);
    }

    /// Why head number `head` is not let in, if it is not.
    pub(crate) fn fault_of(&self, head: u64) -> Option<Fault> {
        if self.fault_at.load(Ordering::Relaxed) != head {
            return None;
        }
        *self.fault.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Asks whether an upgrade was agreed on; the answer, once there is one, is given only once. Whoever asks is
    /// woken when there is one.
    pub(crate) fn take_upgrade(&self, waker: &Waker) -> Upgrade {
        match self.upgrade.swap(0, Ordering::Relaxed) {
            1 => Upgrade::Agreed,
            2 => Upgrade::Declined,
            _ => {
                *self.waker.lock().unwrap_or_else(PoisonError::into_inner) = Some(waker.clone());
                Upgrade::Undecided
            }
        }
    }

    /// Answers that.
    pub(crate) fn decide_upgrade(&self, agreed: bool) {
        self.upgrade.store(if agreed { 1 } else { 2 }, Ordering::Relaxed);
        if let Some(waker) = self.waker.lock().unwrap_or_else(PoisonError::into_inner).take() {
            waker.wake();
        }
    }

    /// Whether it is time to look at the clock sooner than planned; tells it once.
    pub(crate) fn take_urgent(&self) -> bool {
        self.is_urgent.load(Ordering::Relaxed) && self.is_urgent.swap(false, Ordering::Relaxed)
    }

    /// Looks at the clock.
    pub(crate) fn check(&self, patience: &Patience) -> Check {
        let read = |moment: &AtomicU64| moment.load(Ordering::Relaxed);
        let is_resting = self.open.load(Ordering::Relaxed) == 0;
        let deadlines = [
            (read(&self.closing), patience.linger, Check::Stuck),
            (read(&self.stalled), patience.write, Check::Stuck),
            (self.untaken().values().min().copied().unwrap_or(0), patience.write, Check::Stuck),
            (if is_resting { read(&self.partial) } else { 0 }, patience.header, Check::SlowHead),
            (if is_resting { read(&self.resting) } else { 0 }, patience.idle, Check::Idle),
        ];
        let now = Instant::now();
        // A connection that comes to rest is noticed by the next look: late, but within twice its time.
        let mut next = now + patience.idle;
        for (since, limit, overdue) in deadlines {
            if since == 0 {
                continue;
            }
            let deadline = self.epoch + Duration::from_millis(since) + limit;
            if deadline <= now {
                return overdue;
            }
            next = next.min(deadline);
        }
        Check::Until(next.max(now + Duration::from_millis(1)))
    }

    fn untaken(&self) -> MutexGuard<'_, BTreeMap<u64, u64>> {
        self.untaken.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn now(&self) -> u64 {
        u64::try_from(self.epoch.elapsed().as_millis()).unwrap_or(u64::MAX).saturating_add(1)
    }
}

impl Turn {
    /// There is something to take for the client.
    pub(crate) fn offered(&self) {
        let mut untaken = self.watch.untaken();
        if untaken.is_empty() {
            self.watch.is_urgent.store(true, Ordering::Relaxed);
        }
        untaken.insert(self.number, self.watch.now());
    }

    /// The client has room for more.
    pub(crate) fn taken(&self) {
        self.watch.untaken().remove(&self.number);
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        self.taken();
        if self.watch.open.fetch_sub(1, Ordering::Relaxed) == 1 {
            self.watch.resting.store(self.watch.now(), Ordering::Relaxed);
        }
    }
}
