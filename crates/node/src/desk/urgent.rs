//! The applications that the ledger is asked about before it is their turn.

use std::collections::BTreeSet;
use tollgate_core::id::AppId;
use tollgate_core::units::Nanos;

/// Those that somebody waits for, or that give something back.
#[derive(Debug, Default)]
pub(super) struct Urgent {
    at_once: BTreeSet<AppId>,
    /// Those of which nothing is left but what may be lent. That is lent to those who wait and to nobody else, so if each asked for
    /// itself, each would be a call: they wait for each other for a moment.
    soon: BTreeSet<AppId>,
}

impl Urgent {
    /// It cannot wait.
    pub(super) fn insert(&mut self, id: AppId) {
        self.at_once.insert(id);
    }

    /// It can wait for others.
    pub(super) fn insert_soon(&mut self, id: AppId) {
        self.soon.insert(id);
    }

    pub(super) fn remove(&mut self, id: &AppId) {
        self.at_once.remove(id);
        self.soon.remove(id);
    }

    pub(super) fn contains(&self, id: &AppId) -> bool {
        self.at_once.contains(id) || self.soon.contains(id)
    }

    /// All of them, those first that cannot wait.
    pub(super) fn iter(&self) -> impl Iterator<Item = &AppId> {
        self.at_once.iter().chain(self.soon.difference(&self.at_once))
    }

    /// When to ask, if at all: now, or when there was time to gather.
    pub(super) fn due(&self, now: Nanos, gathered: Nanos) -> Option<Nanos> {
        let soon = (!self.soon.is_empty()).then_some(gathered);
        if self.at_once.is_empty() { soon } else { Some(now) }
    }
}
