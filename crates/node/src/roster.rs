//! The applications that a node knows.

use crate::app::{App, Head, Terms};
use crate::bell::Bell;
use crate::sync::lock;
use arc_swap::ArcSwap;
use foldhash::fast::RandomState;
use hashbrown::HashTable;
use std::cell::RefCell;
use std::hash::BuildHasher;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use tollgate_config::Policy;
use tollgate_core::id::{AppId, ClusterId};

/// Applications by name. The name is in the application itself, so that the table is no more than where they are: small
/// enough to stay near the processor, whoever is asked for.
#[derive(Clone, Debug, Default)]
struct Apps {
    /// Another with each change, later ones being greater, and never that of another roster. None has zero once it has applications.
    stamp: Stamp,
    table: HashTable<Arc<App>>,
    hashing: Hashing,
}

/// How names become numbers: short ones by their head, which is needed anyway.
#[derive(Clone, Debug)]
struct Hashing {
    keys: [u64; 2],
    long: RandomState,
}

impl Default for Hashing {
    fn default() -> Self {
        let long = RandomState::default();
        Self { keys: [long.hash_one(0), long.hash_one(1)], long }
    }
}

impl Hashing {
    #[inline]
    fn hash(&self, name: &str, head: Head) -> u64 {
        if head == Head::LONG { self.long.hash_one(name) } else { head.hash(self.keys) }
    }
}

impl Apps {
    #[expect(clippy::inline_always, reason = "a call would be a tenth of a decision")]
    #[inline(always)]
    fn get(&self, id: &str) -> Option<&Arc<App>> {
        let head = Head::of(id);
        self.table.find(self.hashing.hash(id, head), |app| app.is_called(id, head))
    }

    /// Adds an application; returns the one that had its name.
    fn insert(&mut self, app: Arc<App>) -> Option<Arc<App>> {
        let old = self.remove(app.id());
        let hash = |app: &Arc<App>| self.hashing.hash(app.id(), app.head());
        self.table.insert_unique(hash(&app), app, hash);
        old
    }

    fn remove(&mut self, id: &str) -> Option<Arc<App>> {
        let head = Head::of(id);
        let found = self.table.find_entry(self.hashing.hash(id, head), |app| app.is_called(id, head)).ok()?;
        Some(found.remove().0)
    }
}

/// When something was seen or done, counted in changes of rosters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Stamp(pub(crate) u64);

/// The applications that a node knows, of all its clusters. Only policies make it grow, so no stranger can: looking
/// up a name that is not there leaves no trace.
#[derive(Debug, Default)]
pub struct Roster {
    apps: ArcSwap<Apps>,
    /// That of these applications.
    stamp: AtomicU64,
    /// Held by whoever changes it, so that no change gets lost.
    writer: Mutex<()>,
}

thread_local! {
    /// What a thread saw when it last looked. Looking at what the thread has already takes no step that other threads wait for. It keeps
    /// what was the roster until it looks again, and no longer than it lives.
    static SEEN: RefCell<Option<Arc<Apps>>> = const { RefCell::new(None) };
}

/// The stamp of the next change of any roster.
static NEXT_STAMP: AtomicU64 = AtomicU64::new(1);

impl Roster {
    /// Adds the applications that a policy has on a cluster; `bell` is that of the cluster's desk.
    pub fn enrol(&self, cluster: &ClusterId, policy: &Policy, bell: &Arc<Bell>) {
        let apps = policy.apps().iter().filter(|(_, app)| app.cluster == *cluster);
        let apps = apps.map(|(name, app)| {
            let terms = Terms { policy: app.clone(), version: 0 };
            Arc::new(App::new(name.clone(), terms, Arc::clone(bell)))
        });
        self.change(cluster, apps.collect(), &[]);
    }

    /// The application of that name.
    pub fn find(&self, id: &str) -> Option<Arc<App>> {
        self.apps.load().get(id).cloned()
    }

    /// Does something with the application of that name, without keeping it; says what to [find it again](Roster::with_same) by.
    #[inline]
    pub(crate) fn with<R>(&self, id: &str, f: impl FnOnce(&Arc<App>) -> R) -> Option<(R, Stamp)> {
        SEEN.with(|seen| {
            let stamp = self.stamp.load(Ordering::Acquire);
            if let Some(apps) = &*seen.borrow()
                && apps.stamp.0 == stamp
            {
                return apps.get(id).map(|app| (f(app), apps.stamp));
            }
            let apps = self.look_again(seen);
            apps.get(id).map(|app| (f(app), apps.stamp))
        })
    }

    /// Does something with the application that had that name when the stamp was given, unless it is gone: another that is called
    /// like it now is none of it.
    pub(crate) fn with_same<R>(&self, id: &str, stamp: Stamp, f: impl FnOnce(&Arc<App>) -> R) -> Option<R> {
        let (result, _) = self.with(id, |app| (app.enrolled() <= stamp).then(|| f(app)))?;
        result
    }

    /// The thread has not seen the last change, or has looked at another roster since.
    #[cold]
    fn look_again(&self, seen: &RefCell<Option<Arc<Apps>>>) -> Arc<Apps> {
        let apps = self.apps.load_full();
        *seen.borrow_mut() = Some(Arc::clone(&apps));
        apps
    }

    /// All applications, in no order.
    pub fn all(&self) -> Vec<Arc<App>> {
        self.apps.load().table.iter().cloned().collect()
    }

    /// The applications of a cluster, by name.
    pub(crate) fn of(&self, cluster: &ClusterId) -> Vec<Arc<App>> {
        let mut apps = self.all();
        apps.retain(|app| app.terms().policy.cluster == *cluster);
        apps.sort_by(|a, b| a.id().cmp(b.id()));
        apps
    }

    /// Adds applications of a cluster and takes others away.
    pub(crate) fn change(&self, cluster: &ClusterId, new: Vec<Arc<App>>, gone: &[AppId]) {
        let _writer = lock(&self.writer);
        let mut apps = Apps::clone(&self.apps.load());
        apps.stamp = Stamp(NEXT_STAMP.fetch_add(1, Ordering::Relaxed));
        for id in gone {
            // It may have moved to another cluster since.
            if apps.get(id).is_some_and(|app| app.terms().policy.cluster == *cluster)
                && let Some(app) = apps.remove(id)
            {
                app.retire();
            }
        }
        for app in new {
            app.enrol(apps.stamp);
            if let Some(old) = apps.insert(app) {
                old.retire();
            }
        }
        let stamp = apps.stamp;
        self.apps.store(Arc::new(apps));
        self.stamp.store(stamp.0, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;
    use tollgate_config::policy;
    use tollgate_core::cost::Operation;
    use tollgate_core::priority::Priority;
    use tollgate_core::quota::{LoanTerms, Quota};
    use tollgate_core::units::{Rate, Tokens};

    fn app(name: &str, get: u64) -> Arc<App> {
        let quota = Quota {
            guaranteed: Rate::per_second(1),
            burst: Tokens::whole(1),
            burst_window: Quota::DEFAULT_BURST_WINDOW,
            priority: Priority::P1,
            loan: LoanTerms::default(),
        };
        let mut policy = policy::App::plain(ClusterId::new("c").unwrap(), quota, true);
        policy.prices = policy.prices.with_base(Operation::Get, get);
        Arc::new(App::new(AppId::new(name).unwrap(), Terms { policy, version: 1 }, Arc::default()))
    }

    proptest! {
        /// Names around the length that is kept beside the purse, many of which begin alike.
        #[test]
        fn finds_whom_it_knows_and_nobody_else(names in prop::collection::btree_set("[ab]{1,3}|c{13,15}[ab]{0,3}", 1..40)) {
            let cluster = ClusterId::new("c").unwrap();
            let roster = Roster::default();
            let (known, unknown): (Vec<&String>, Vec<&String>) = names.iter().partition(|name| name.len() % 3 > 0);
            let gone: BTreeSet<AppId> = known.iter().skip(1).step_by(3).map(|name| AppId::new(name).unwrap()).collect();
            roster.change(&cluster, known.iter().map(|name| app(name, 1)).collect(), &[]);
            roster.change(&cluster, Vec::new(), &gone.iter().cloned().collect::<Vec<_>>());
            for name in known {
                let found = roster.find(name).map(|app| app.id().to_string());
                prop_assert_eq!(found.as_ref() == Some(name), !gone.contains(name.as_str()));
            }
            for name in unknown {
                prop_assert!(roster.find(name).is_none());
            }
        }
    }

    #[test]
    fn whoever_comes_later_by_a_name_takes_it() {
        let (cluster, roster) = (ClusterId::new("c").unwrap(), Roster::default());
        roster.change(&cluster, vec![app("a", 1)], &[]);
        roster.change(&cluster, vec![app("a", 7)], &[]);
        assert_eq!(roster.all().len(), 1);
        let found = roster.find("a").unwrap();
        assert_eq!(found.price(Operation::Get, 0).cost(), 7);
        let terms = Terms::clone(&app("a", 9).terms());
        found.set_terms(terms.clone());
        assert_eq!(found.price(Operation::Get, 0).cost(), 9);
        assert_eq!(found.price(Operation::Get, 1), terms.policy.prices.price(Operation::Get, 1));
    }
}
