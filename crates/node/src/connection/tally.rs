use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use tollgate_core::connection::Shortage;
use tollgate_ledger::connection::{Counts, EventKind};

use super::gauge::Reading;

/// What has happened so far, of one application or of all. Only ever counted up, but for `untracked_now`.
#[derive(Debug, Default)]
pub(super) struct Tally {
    opened: AtomicU64,
    peak: AtomicU32,
    /// The peak since somebody last asked.
    recent: AtomicU32,
    leaked: AtomicU64,
    untracked_now: AtomicU32,
    untracked: Logged,
    refused_by_app: Logged,
    refused_by_cluster: Logged,
    refused_while_learning: Logged,
}

/// A count, and how much of it the log knows of.
#[derive(Debug, Default)]
pub(super) struct Logged {
    count: AtomicU64,
    logged: AtomicU64,
}

impl Tally {
    /// A connection was opened, and this many are open then; returns how many were opened before.
    pub(super) fn opened(&self, in_use: u32) -> u64 {
        raise(&self.peak, in_use);
        raise(&self.recent, in_use);
        self.opened.fetch_add(1, Ordering::Relaxed)
    }

    pub(super) fn leaked(&self) {
        self.leaked.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn refused(&self, by: Shortage) {
        let refused = match by {
            Shortage::App => &self.refused_by_app,
            Shortage::Cluster => &self.refused_by_cluster,
            Shortage::Learning => &self.refused_while_learning,
        };
        refused.count.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn untracked_opened(&self) {
        self.untracked.count.fetch_add(1, Ordering::Relaxed);
        self.untracked_now.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn untracked_closed(&self) {
        self.untracked_now.fetch_sub(1, Ordering::Relaxed);
    }

    pub(super) fn untracked_now(&self) -> u32 {
        self.untracked_now.load(Ordering::Relaxed)
    }

    /// The peak since this was last asked; from now on it is at least `in_use`.
    pub(super) fn take_recent_peak(&self, in_use: u32) -> u32 {
        self.recent.swap(in_use, Ordering::Relaxed).max(in_use)
    }

    /// The counts that the log is to know of, by what they are called there.
    pub(super) const fn to_log(&self) -> [(EventKind, &Logged); 4] {
        [
            (EventKind::AppLimitExceeded, &self.refused_by_app),
            (EventKind::ClusterLimitExceeded, &self.refused_by_cluster),
            (EventKind::LocalExhausted, &self.refused_while_learning),
            (EventKind::Untracked, &self.untracked),
        ]
    }

    pub(super) fn counts(&self, reading: Reading) -> Counts {
        let refused = [&self.refused_by_app, &self.refused_by_cluster, &self.refused_while_learning];
        Counts {
            open: reading.in_use.into(),
            held: reading.held.into(),
            untracked: self.untracked_now().into(),
            peak: self.peak.load(Ordering::Relaxed).into(),
            opened: self.opened.load(Ordering::Relaxed),
            rejected: refused.iter().map(|refused| refused.count.load(Ordering::Relaxed)).sum(),
            leaked: self.leaked.load(Ordering::Relaxed),
        }
    }
}

impl Logged {
    /// How much the log does not know of.
    pub(super) fn missing(&self) -> u64 {
        self.count.load(Ordering::Relaxed) - self.logged.load(Ordering::Relaxed)
    }

    /// The log knows of that much more.
    pub(super) fn log(&self, count: u64) {
        self.logged.fetch_add(count, Ordering::Relaxed);
    }
}

/// A peak is rarely a new one: mostly this is but a look.
fn raise(peak: &AtomicU32, to: u32) {
    if peak.load(Ordering::Relaxed) < to {
        peak.fetch_max(to, Ordering::Relaxed);
    }
}
