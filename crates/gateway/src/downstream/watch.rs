use crate::framing::Fault;
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::{Duration, Instant};

/// What is going on on an HTTP/2 connection, as seen from its two ends: the bytes and the requests.
#[derive(Debug)]
pub(crate) struct Watch {
    /// Where its milliseconds start; zero is never, so one is added.
    epoch: Instant,
    /// How many requests have begun.
    begun: Cell<u64>,
    /// Requests under way.
    open: Cell<u32>,
    /// Since when there are none.
    resting: Cell<u64>,
    /// Since when the client takes nothing.
    stalled: Cell<u64>,
    /// Since when it takes nothing of which answer, where several are on their way at a time: of these it may leave one where it is
    /// and take the others.
    untaken: RefCell<BTreeMap<u64, u64>>,
    /// Since when it is being closed.
    closing: Cell<u64>,
    /// Something began that may be overdue earlier than what was known before.
    is_urgent: Cell<bool>,
}

/// A request under way.
#[derive(Debug)]
pub(crate) struct Turn {
    /// None if it is alone on its connection.
    watch: Option<Rc<Watch>>,
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
            begun: Cell::new(0),
            open: Cell::new(0),
            resting: Cell::new(1),
            stalled: Cell::new(0),
            untaken: RefCell::default(),
            closing: Cell::new(0),
            is_urgent: Cell::new(false),
        }
    }

    /// A request begins.
    pub(crate) fn begin(self: &Rc<Self>) -> Turn {
        self.open.update(|open| open + 1);
        let number = self.begun.get();
        self.begun.set(number + 1);
        Turn { watch: Some(Rc::clone(self)), number, fault: None }
    }

    /// Whether the client takes what is sent.
    pub(crate) fn wrote(&self, taken: bool) {
        if taken {
            self.stalled.set(0);
        } else if self.stalled.get() == 0 {
            self.stalled.set(self.now());
            self.is_urgent.set(true);
        }
    }

    /// The connection is being closed.
    pub(crate) fn closing(&self) {
        if self.closing.get() == 0 {
            self.closing.set(self.now());
            self.is_urgent.set(true);
        }
    }

    /// Whether it is time to look at the clock sooner than planned; tells it once.
    pub(crate) fn take_urgent(&self) -> bool {
        self.is_urgent.replace(false)
    }

    /// Looks at the clock.
    pub(crate) fn check(&self, patience: &Patience) -> Check {
        let untaken = self.untaken.borrow().values().min().copied().unwrap_or(0);
        let resting = if self.open.get() == 0 { self.resting.get() } else { 0 };
        let deadlines = [
            (self.closing.get(), patience.linger, Check::Stuck),
            (self.stalled.get(), patience.write, Check::Stuck),
            (untaken, patience.write, Check::Stuck),
            (resting, patience.idle, Check::Idle),
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
        let mut untaken = watch.untaken.borrow_mut();
        if untaken.is_empty() {
            watch.is_urgent.set(true);
        }
        untaken.insert(self.number, watch.now());
    }

    /// The client has room for more.
    pub(crate) fn taken(&self) {
        if let Some(watch) = &self.watch {
            watch.untaken.borrow_mut().remove(&self.number);
        }
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        self.taken();
        let Some(watch) = &self.watch else { return };
        watch.open.update(|open| open - 1);
        if watch.open.get() == 0 {
            watch.resting.set(watch.now());
        }
    }
}
