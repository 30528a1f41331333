//! Which application changed when, for those who know an earlier version.

use std::collections::BTreeMap;
use tollgate_core::id::AppId;

/// The most deleted applications that are remembered.
const MOST_GONE: usize = 1_000;

/// How many are forgotten at once when there are more.
const FORGOTTEN: usize = 500;

/// Every application, deleted ones too, by the version of its last change. No two changes share a version.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct History {
    order: BTreeMap<u64, AppId>,
    gone: BTreeMap<AppId, u64>,
    /// What happened before this version may be forgotten: who knows only an earlier one has to start over.
    starts_at: u64,
    /// How often something was forgotten.
    turns: u64,
}

/// From where a reader goes on. As a number it is a version, and above [`Since::SCALE`] the turn of the history in
/// which a reader began with the whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Since {
    version: u64,
    turn: u64,
}

/// What a reader gets.
pub(super) struct Page {
    pub(super) ids: Vec<AppId>,
    pub(super) next: u64,
    pub(super) more: bool,
    pub(super) is_whole: bool,
}

impl Since {
    /// Versions stay below this, and so does the sum below what a double holds exactly.
    const SCALE: u64 = 1 << 42;

    /// Turns are told apart modulo this.
    const TURNS: u64 = 1_000;

    const fn new(number: u64) -> Self {
        Self { version: number % Self::SCALE, turn: number / Self::SCALE }
    }

    const fn number(self) -> u64 {
        self.turn * Self::SCALE + self.version
    }
}

impl History {
    /// The history of a cluster that starts with that version.
    pub(super) const fn new(version: u64) -> Self {
        Self { order: BTreeMap::new(), gone: BTreeMap::new(), starts_at: version, turns: 0 }
    }

    /// Everybody has to start over: what they know may not be what is known here.
    pub(super) const fn start_over(&mut self, version: u64) {
        self.starts_at = version;
        self.turns += 1;
    }

    /// An application was set; it had another version before, or was not there.
    pub(super) fn set(&mut self, id: &AppId, before: Option<u64>, version: u64) {
        if let Some(before) = before.or_else(|| self.gone.remove(id)) {
            self.order.remove(&before);
        }
        self.order.insert(version, id.clone());
    }

    /// An application was deleted.
    pub(super) fn delete(&mut self, id: &AppId, before: u64, version: u64) {
        self.order.remove(&before);
        self.order.insert(version, id.clone());
        self.gone.insert(id.clone(), version);
        if self.gone.len() > MOST_GONE {
            self.forget();
        }
    }

    /// Up to `limit` applications that changed after `since`, in a cluster of that version.
    pub(super) fn page(&self, since: u64, limit: usize, version: u64) -> Page {
        let turn = self.turns % Since::TURNS + 1;
        let mut since = Since::new(since);
        let goes_on = since.turn == turn || since.turn == 0 && since.version >= self.starts_at;
        let is_whole = !goes_on || since.version > version;
        if is_whole {
            since = Since { version: 0, turn };
        }
        let mut after = self.order.range(since.version + 1..);
        let ids: Vec<(u64, AppId)> =
            after.by_ref().take(limit).map(|(version, id)| (*version, id.clone())).collect();
        let more = after.next().is_some();
        let last = ids.last().map_or(version, |(version, _)| *version);
        let next = if more { Since { version: last, ..since }.number() } else { version };
        Page { ids: ids.into_iter().map(|(_, id)| id).collect(), next, more, is_whole }
    }

    fn forget(&mut self) {
        let mut oldest: Vec<u64> = self.gone.values().copied().collect();
        oldest.sort_unstable();
        for version in oldest.into_iter().take(FORGOTTEN) {
            if let Some(id) = self.order.remove(&version) {
                self.gone.remove(&id);
            }
            self.starts_at = version;
        }
        self.turns += 1;
    }
}
