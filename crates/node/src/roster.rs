//! The applications that a node knows.

use crate::app::{App, Terms};
use crate::bell::Bell;
use crate::sync::lock;
use arc_swap::ArcSwap;
use foldhash::fast::RandomState;
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use tollgate_config::Policy;
use tollgate_core::id::{AppId, ClusterId};

type Apps = HashMap<AppId, Arc<App>, RandomState>;

/// The applications that a node knows, of all its clusters. Only policies make it grow, so no stranger can: looking
/// up a name that is not there leaves no trace.
#[derive(Debug, Default)]
pub struct Roster {
    apps: ArcSwap<Apps>,
    /// Held by whoever changes it, so that no change gets lost.
    writer: Mutex<()>,
}

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

    /// Does something with the application of that name, without keeping it.
    #[inline]
    pub fn with<R>(&self, id: &str, f: impl FnOnce(&Arc<App>) -> R) -> Option<R> {
        self.apps.load().get(id).map(f)
    }

    /// All applications, in no order.
    pub fn all(&self) -> Vec<Arc<App>> {
        self.apps.load().values().cloned().collect()
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
        for id in gone {
            // It may have moved to another cluster since.
            if apps.get(id).is_some_and(|app| app.terms().policy.cluster == *cluster)
                && let Some(app) = apps.remove(id)
            {
                app.retire();
            }
        }
        for app in new {
            if let Some(old) = apps.insert(app.id().clone(), app) {
                old.retire();
            }
        }
        self.apps.store(Arc::new(apps));
    }
}
