use super::event::Pending;
use super::gauge::Gauge;
use super::room::Room;
use super::table::Table;
use super::tally::Tally;
use std::sync::atomic::{AtomicU8, AtomicU32, AtomicU64, Ordering};
use tollgate_core::degrade::Level;
use tollgate_core::id::ClusterId;
use tollgate_core::units::Nanos;

/// What all applications of a cluster have in common on this node.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) cluster: ClusterId,
    /// The connections of this node, however many the cluster may have.
    pub(super) gauge: Gauge,
    pub(super) tally: Tally,
    pub(super) table: Table,
    pub(super) pending: Pending,
    max: AtomicU32,
    /// All slots of the cluster that are out, over all nodes, as the ledger last said.
    total: AtomicU64,
    /// Until when the slots are this node's; zero before the first answer.
    lapses_at: AtomicU64,
    level: AtomicU8,
}

impl Shared {
    pub(super) fn new(cluster: ClusterId, max: u32) -> Self {
        Self {
            cluster,
            gauge: Gauge::of(u32::MAX),
            tally: Tally::default(),
            table: Table::default(),
            pending: Pending::default(),
            max: AtomicU32::new(max),
            total: AtomicU64::new(0),
            lapses_at: AtomicU64::new(0),
            level: AtomicU8::new(Level::Normal as u8),
        }
    }

    pub(super) fn max(&self) -> u32 {
        self.max.load(Ordering::Relaxed)
    }

    pub(super) fn set_max(&self, max: u32) {
        self.max.store(max, Ordering::Relaxed);
    }

    pub(super) fn total(&self) -> u64 {
        self.total.load(Ordering::Relaxed)
    }

    pub(super) fn set_total(&self, total: u64) {
        self.total.store(total, Ordering::Relaxed);
    }

    /// Whether slots that are held may not be used any more, since the ledger may have given them to others.
    pub(super) fn has_lapsed(&self, now: Nanos) -> bool {
        now.get() >= self.lapses_at.load(Ordering::Relaxed)
    }

    pub(super) fn set_lapse(&self, at: Nanos) {
        self.lapses_at.store(at.get(), Ordering::Relaxed);
    }

    pub(super) fn level(&self) -> Level {
        Level::ALL[usize::from(self.level.load(Ordering::Relaxed)) % Level::ALL.len()]
    }

    pub(super) fn set_level(&self, level: Level) {
        self.level.store(level as u8, Ordering::Relaxed);
    }

    /// Counts a connection without a slot.
    pub(super) fn let_in_untracked(&self, room: &Room) {
        self.tally.untracked_opened();
        room.tally.untracked_opened();
    }
}
