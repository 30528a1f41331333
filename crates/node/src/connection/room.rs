use super::gauge::Gauge;
use super::shared::Shared;
use super::tally::Tally;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicU64, Ordering};
use tollgate_core::connection::{Demand, Holding, Limits, Out, Shortage};
use tollgate_core::id::AppId;
use tollgate_core::units::Nanos;

/// The connections of one application on this node. On cache lines of its own: what happens to one application does not
/// slow down another.
#[repr(align(128))]
#[derive(Debug)]
pub(super) struct Room {
    pub(super) app: AppId,
    pub(super) shared: Arc<Shared>,
    pub(super) gauge: Gauge,
    pub(super) tally: Tally,
    limits: AtomicU64,
    /// Whether the application is gone.
    is_removed: AtomicBool,
    /// Connections that wait for a slot.
    pub(super) waiting: AtomicU32,
    /// Whether it stands in the line of those for which the ledger is to be asked.
    pub(super) is_queued: AtomicBool,
    pub(super) view: View,
}

/// What the keeper knows of an application.
#[derive(Debug)]
pub(super) struct View {
    /// All slots that are out, over all nodes.
    total: AtomicU64,
    /// What the ledger knows this node to hold; [`UNKNOWN`] if that is not sure.
    acknowledged: AtomicU64,
    demand: AtomicU32,
    asked_at: AtomicU64,
    refused_until: AtomicU64,
    refused_by: AtomicU8,
}

const UNKNOWN: u64 = u64::MAX;

impl Room {
    pub(super) fn new(app: AppId, shared: Arc<Shared>, limits: Limits) -> Self {
        Self {
            app,
            shared,
            gauge: Gauge::default(),
            tally: Tally::default(),
            limits: AtomicU64::new(pack(limits)),
            is_removed: AtomicBool::new(false),
            waiting: AtomicU32::new(0),
            is_queued: AtomicBool::new(false),
            view: View {
                total: AtomicU64::new(0),
                acknowledged: AtomicU64::new(0),
                demand: AtomicU32::new(0),
                asked_at: AtomicU64::new(0),
                refused_until: AtomicU64::new(0),
                refused_by: AtomicU8::new(0),
            },
        }
    }

    #[expect(clippy::cast_possible_truncation, reason = "the two halves of the word")]
    pub(super) fn limits(&self) -> Limits {
        let word = self.limits.load(Ordering::Relaxed);
        Limits { max: (word >> 32) as u32, burst: word as u32 }
    }

    /// The application is gone: nobody opens a connection for it any more.
    pub(super) fn remove(&self) {
        self.limits.store(pack(Limits::NONE), Ordering::Relaxed);
        self.is_removed.store(true, Ordering::Relaxed);
    }

    /// Sets the limits; returns whether they are others.
    pub(super) fn set_limits(&self, limits: Limits) -> bool {
        self.is_removed.store(false, Ordering::Relaxed);
        self.limits.swap(pack(limits), Ordering::Relaxed) != pack(limits)
    }

    /// What this node has, and what it should have.
    pub(super) fn holding(&self) -> Holding {
        let reading = self.gauge.read();
        let out = Out { app: self.view.total(), cluster: self.shared.total() };
        Holding {
            held: reading.held,
            in_use: reading.in_use,
            waiting: self.waiting.load(Ordering::SeqCst),
            demand: Demand::new(self.view.demand.load(Ordering::Relaxed)),
            room: self.limits().room(self.shared.max(), out),
        }
    }

    /// What the ledger is told that this node holds: connections without a slot are a fact too.
    pub(super) fn presented(&self, held: u32) -> u32 {
        held.saturating_add(self.tally.untracked_now())
    }

    /// Follows the demand.
    pub(super) fn observe(&self) {
        let peak = self.tally.take_recent_peak(self.gauge.read().in_use);
        let demand = Demand::new(self.view.demand.load(Ordering::Relaxed)).after(peak);
        self.view.demand.store(demand.get(), Ordering::Relaxed);
    }

    /// Whether the application is gone and nothing of it is left.
    pub(super) fn is_over(&self) -> bool {
        let reading = self.gauge.read();
        let is_left = reading.held > 0 || self.tally.untracked_now() > 0 || self.view.is_unknown();
        self.is_removed.load(Ordering::Relaxed) && !is_left
    }
}

impl View {
    pub(super) fn total(&self) -> u64 {
        self.total.load(Ordering::Relaxed)
    }

    /// The ledger said that this node holds so many, of so many that are out.
    pub(super) fn learn(&self, slots: u32, total: u64, now: Nanos) {
        self.acknowledged.store(slots.into(), Ordering::Relaxed);
        self.total.store(total, Ordering::Relaxed);
        self.asked_at.store(now.get(), Ordering::Relaxed);
    }

    /// What the ledger knows is not sure any more.
    pub(super) fn doubt(&self) {
        self.acknowledged.store(UNKNOWN, Ordering::Relaxed);
    }

    pub(super) fn is_unknown(&self) -> bool {
        self.acknowledged.load(Ordering::Relaxed) == UNKNOWN
    }

    pub(super) fn is_acknowledged(&self, presented: u32) -> bool {
        self.acknowledged.load(Ordering::Relaxed) == u64::from(presented)
    }

    pub(super) fn asked_at(&self) -> Nanos {
        Nanos::new(self.asked_at.load(Ordering::Relaxed))
    }

    /// The ledger refused: nobody asks again before `until`.
    pub(super) fn refuse(&self, by: Shortage, until: Nanos) {
        let by = match by {
            Shortage::App => 0,
            Shortage::Cluster => 1,
            Shortage::Learning => 2,
        };
        self.refused_by.store(by, Ordering::Relaxed);
        self.refused_until.store(until.get(), Ordering::Release);
    }

    /// The ledger did not refuse.
    pub(super) fn pardon(&self) {
        self.refused_until.store(0, Ordering::Release);
    }

    pub(super) fn refusal(&self, now: Nanos) -> Option<Shortage> {
        if now.get() >= self.refused_until.load(Ordering::Acquire) {
            return None;
        }
        Some(match self.refused_by.load(Ordering::Relaxed) {
            0 => Shortage::App,
            1 => Shortage::Cluster,
            _ => Shortage::Learning,
        })
    }
}

fn pack(limits: Limits) -> u64 {
    u64::from(limits.max) << 32 | u64::from(limits.burst)
}
