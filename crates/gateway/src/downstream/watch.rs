use crate::framing::Fault;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// What is going on on an HTTP/2 connection, as seen from its two ends: the bytes and the requests.
///
/// All of it belongs to one thread.
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
    /// Since when the client takes nothing.
    stalled: AtomicU64,
    /// Since when it takes nothing of which answer, where several are on their way at a time: of these it may leave one where it is
    /// and take the others.
    untaken: Mutex<BTreeMap<u64, u64>>,
    /// Since when it is being closed.
    closing: AtomicU64,
    /// Something began that may be overdue earlier than what was known before.
    is_urgent: AtomicBool,
}

/// A request under way.
#[derive(Debug)]
pub(crate) struct Turn {
    /// None if it is alone on its connection.
    watch: Option<Arc<Watch>>,
    number: u64,
    /// Why it is not let in, if it is not.
    pub(crate) fault: Option<Fault>,
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
    /// The client takes nothing, or does not go.
    Stuck,
}

impl Watch {
    pub(crate) fn new() -> Self {
        Self {
            epoch: Instant::now(),
            begun: AtomicU64::new(0),
            open: AtomicU32::new(0),
            resting: AtomicU64::new(1),
            stalled: AtomicU64::new(0),
            untaken: Mutex::default(),
            closing: AtomicU64::new(0),
            is_urgent: AtomicBool::new(false),
        }
    }

    /// A request begins.
    pub(crate) fn begin(self: &Arc<Self>) -> Turn {
        self.open.fetch_add(1, Ordering::Relaxed);
        let number = self.begun.fetch_add(1, Ordering::Relaxed);
        Turn { watch: Some(Arc::clone(self)), number, fault: None }
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
    /// A request that is alone on its connection, and why it is not let in, if it is not.
    pub(crate) fn alone(fault: Option<Fault>) -> Self {
        Self { watch: None, number: 0, fault }
    }

    /// There is something to take for the client.
    pub(crate) fn offered(&self) {
        let Some(watch) = &self.watch else { return };
        let mut untaken = watch.untaken();
        if untaken.is_empty() {
            watch.is_urgent.store(true, Ordering::Relaxed);
        }
        untaken.insert(self.number, watch.now());
    }

    /// The client has room for more.
    pub(crate) fn taken(&self) {
        if let Some(watch) = &self.watch {
            watch.untaken().remove(&self.number);
        }
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        self.taken();
        if let Some(watch) = &self.watch
            && watch.open.fetch_sub(1, Ordering::Relaxed) == 1
        {
            watch.resting.store(watch.now(), Ordering::Relaxed);
        }
    }
}
