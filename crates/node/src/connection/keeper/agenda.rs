use super::round::Round;
use tollgate_core::degrade::{Level, Pace};
use tollgate_core::units::{Millis, Nanos};

/// How often a node that holds slots speaks to the ledger: a look at the slots that finds it silent for so long says so.
pub(super) const HEARTBEAT: Nanos = Nanos::from_secs(1);

/// The longest pause between two looks at the slots.
const LONGEST_PAUSE: Nanos = Nanos::new(500_000_000);

/// How often statistics are told.
const REPORT_INTERVAL: Nanos = Nanos::from_secs(10);

/// How often a ledger that is out of reach is tried: as often as a breaker lets a probe through.
const PROBE_INTERVAL: Nanos = Nanos::new(500_000_000);

/// When to do what.
#[derive(Debug)]
pub(super) struct Agenda {
    hold_at: Nanos,
    hold_interval: Nanos,
    report_at: Nanos,
    swept_at: Nanos,
    cleanup_interval: Option<Millis>,
    reviewed_at: Nanos,
}

impl Agenda {
    pub(super) const fn new(now: Nanos) -> Self {
        Self {
            hold_at: now,
            hold_interval: LONGEST_PAUSE,
            report_at: now.plus(REPORT_INTERVAL),
            swept_at: now,
            cleanup_interval: Level::Normal.pace().cleanup_interval,
            reviewed_at: now,
        }
    }

    pub(super) fn next(&self) -> Nanos {
        self.hold_at.min(self.report_at).min(self.cleanup_at())
    }

    fn cleanup_at(&self) -> Nanos {
        self.cleanup_interval.map_or(Nanos::MAX, |interval| self.swept_at.plus(interval.into()))
    }

    pub(super) fn is_hold_due(&self, now: Nanos) -> bool {
        now >= self.hold_at
    }

    /// The slots are looked at next.
    pub(super) fn hurry(&mut self) {
        self.hold_at = Nanos::ZERO;
    }

    /// After a change the slots are looked at soon again, else ever more seldom.
    pub(super) fn plan_hold(&mut self, now: Nanos, round: Round, level: Level) {
        let shortest = level.pace().sync_interval.map_or(PROBE_INTERVAL, Nanos::from);
        self.hold_interval = match round {
            Round::Quiet => self.hold_interval.plus(self.hold_interval).min(LONGEST_PAUSE).max(shortest),
            Round::Changed => shortest,
            Round::Failed => PROBE_INTERVAL,
            Round::Partial => Nanos::ZERO,
        };
        self.hold_at = now.plus(self.hold_interval);
    }

    pub(super) fn is_cleanup_due(&mut self, now: Nanos, pace: &Pace) -> bool {
        self.cleanup_interval = pace.cleanup_interval;
        let is_due = now >= self.cleanup_at();
        if is_due {
            self.swept_at = now;
        }
        is_due
    }

    /// Whether it is time to see how demand went, which is once per heartbeat.
    pub(super) fn is_review_due(&mut self, now: Nanos) -> bool {
        let is_due = now.since(self.reviewed_at) >= HEARTBEAT;
        if is_due {
            self.reviewed_at = now;
        }
        is_due
    }

    pub(super) fn is_report_due(&mut self, now: Nanos) -> bool {
        let is_due = now >= self.report_at;
        if is_due {
            self.report_at = now.plus(REPORT_INTERVAL);
        }
        is_due
    }
}
