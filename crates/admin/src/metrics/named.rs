//! Which applications have numbers of their own: a bounded number of them. A counter must never fall, so whoever was once
//! counted among the others stays there.

use std::collections::{BTreeMap, BTreeSet};
use tollgate_core::id::AppId;
use tollgate_core::reason::Reason;
use tollgate_node::Counts;

/// The most applications that have numbers of their own. The others are told as `other`, together.
const MAX_NAMED: usize = 500;

/// What happened to the requests of one application or of many, since the node started.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Sums {
    pub(super) allowed: u64,
    pub(super) cost: u64,
    pub(super) refused: [u64; Reason::ALL.len()],
    pub(super) shadowed: [u64; Reason::ALL.len()],
    pub(super) refused_cost: u64,
    pub(super) misses: u64,
    pub(super) rolled_back: u64,
}

/// Remembers who has numbers of their own.
#[derive(Debug, Default)]
pub(crate) struct Named {
    names: BTreeSet<AppId>,
    /// The others that did something, as they were last seen.
    others: BTreeMap<AppId, Sums>,
    /// What those did that were among the others and are gone.
    gone: Sums,
}

/// Everybody's numbers.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Told {
    /// Those who have numbers of their own.
    pub(super) named: Vec<(AppId, Sums)>,
    /// The others together, if there ever were any.
    pub(super) others: Option<Sums>,
}

impl Named {
    /// Sorts the applications that there are into those with numbers of their own and the others.
    pub(super) fn sort(&mut self, apps: impl IntoIterator<Item = (AppId, Sums)>) -> Told {
        let mut apps: BTreeMap<AppId, Sums> = apps.into_iter().collect();
        self.names.retain(|id| apps.contains_key(id));
        self.forget_gone(&apps);
        self.name(&apps);
        let named = self.names.iter().filter_map(|id| apps.remove_entry(id)).collect();
        self.others = apps.into_iter().filter(|(_, sums)| sums.has_some()).collect();
        let mut others = self.gone.clone();
        self.others.values().for_each(|sums| others.add(sums));
        Told { named, others: others.has_some().then_some(others) }
    }

    /// Keeps what those did who are gone, or who are there again and start from nothing.
    fn forget_gone(&mut self, apps: &BTreeMap<AppId, Sums>) {
        for (id, last) in std::mem::take(&mut self.others) {
            match apps.get(&id) {
                Some(sums) if sums.is_after(&last) => _ = self.others.insert(id, last),
                _ => self.gone.add(&last),
            }
        }
    }

    /// Gives names away while there are some. Where there are not enough for all, those who do something come first.
    fn name(&mut self, apps: &BTreeMap<AppId, Sums>) {
        let is_enough = apps.len() <= MAX_NAMED;
        let mut new: Vec<(&AppId, &Sums)> = apps
            .iter()
            .filter(|(id, sums)| {
                !self.names.contains(*id) && !self.others.contains_key(*id) && (is_enough || sums.has_some())
            })
            .collect();
        new.sort_by_key(|(_, sums)| std::cmp::Reverse(sums.cost));
        let free = MAX_NAMED.saturating_sub(self.names.len());
        self.names.extend(new.into_iter().take(free).map(|(id, _)| id.clone()));
    }
}

impl Sums {
    fn has_some(&self) -> bool {
        *self != Self::default()
    }

    /// Whether this is what came of that, and not a new beginning.
    fn is_after(&self, before: &Self) -> bool {
        self.allowed >= before.allowed && self.refused_cost >= before.refused_cost
    }

    fn add(&mut self, other: &Self) {
        self.allowed += other.allowed;
        self.cost += other.cost;
        self.refused_cost += other.refused_cost;
        self.misses += other.misses;
        self.rolled_back += other.rolled_back;
        let by_reason = self.refused.iter_mut().zip(&other.refused);
        by_reason.chain(self.shadowed.iter_mut().zip(&other.shadowed)).for_each(|(sum, more)| *sum += more);
    }
}

impl From<&Counts> for Sums {
    fn from(counts: &Counts) -> Self {
        let passed = counts.passed();
        Self {
            allowed: passed.requests,
            cost: passed.cost,
            refused: counts.refused,
            shadowed: counts.shadowed,
            refused_cost: counts.refused_cost,
            misses: counts.misses,
            rolled_back: counts.rolled_back,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn app(index: usize, allowed: u64) -> (AppId, Sums) {
        let sums = Sums { allowed, cost: allowed, ..Sums::default() };
        (AppId::new(&format!("app-{index:04}")).unwrap(), sums)
    }

    fn others(told: &Told) -> u64 {
        told.others.as_ref().map_or(0, |sums| sums.allowed)
    }

    #[test]
    fn names_are_bounded_and_what_the_others_did_is_told_together() {
        let mut named = Named::default();
        let told = named.sort((0..2_000).map(|index| app(index, 1 + index as u64)));
        assert_eq!(told.named.len(), MAX_NAMED);
        assert_eq!(told.named[0].0, app(1_500, 0).0, "those that do most have names");
        assert_eq!(others(&told), (1..=1_500).sum::<u64>());
    }

    #[test]
    fn a_name_stays_and_the_others_never_fall() {
        let mut named = Named::default();
        let first = named.sort((0..600).map(|index| app(index, 1 + index as u64)));
        // Those that did least now do most, and many that have names are gone.
        let then = named.sort((0..300).map(|index| app(index, 10_000)));
        assert_eq!(
            then.named.iter().filter(|(id, _)| first.named.iter().any(|(known, _)| known == id)).count(),
            200
        );
        assert_eq!(then.named.len(), 200, "whoever was counted among the others stays there");
        assert_eq!(others(&then), 100 * 10_000);
        let last = named.sort(std::iter::empty());
        assert_eq!(
            (last.named.len(), others(&last)),
            (0, 100 * 10_000),
            "what is gone was counted all the same"
        );
        let again = named.sort([app(0, 1)]);
        assert_eq!((again.named.len(), others(&again)), (1, 100 * 10_000), "and starts anew");
    }

    #[test]
    fn all_have_names_while_there_are_enough_and_the_idle_wait_when_there_are_not() {
        let mut named = Named::default();
        assert_eq!(named.sort((0..500).map(|index| app(index, 0))).named.len(), 500);
        let mut named = Named::default();
        assert_eq!(named.sort((0..501).map(|index| app(index, 0))).named.len(), 0);
        assert_eq!(named.sort((0..501).map(|index| app(index, u64::from(index == 7)))).named, [app(7, 1)]);
    }
}
