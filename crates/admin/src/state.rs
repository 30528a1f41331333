//! What all calls share.

use crate::alert::webhook::Post;
use crate::auth::Caller;
use crate::auth::access::Keys;
use crate::auth::throttle::Throttle;
use crate::clock;
use crate::drift::Drift;
use crate::event::Hub;
use crate::history::Recorder;
use crate::live::Live;
use crate::metrics::Named;
use crate::plane::Plane;
use crate::problem::Problem;
use crate::settings::Settings;
use crate::store::{NewAudit, Store};
use crate::ticket::Tickets;
use crate::upkeep::Upkeep;
use serde_json::Value;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use tollgate_core::id::ClusterId;

/// The control plane of one node.
pub(crate) struct Admin {
    pub(crate) plane: Box<dyn Plane>,
    pub(crate) store: Store,
    pub(crate) settings: Settings,
    pub(crate) keys: Keys,
    pub(crate) throttle: Throttle,
    pub(crate) hub: Hub,
    pub(crate) post: Post,
    /// Whether other nodes may use the same database.
    pub(crate) is_shared: bool,
    pub(crate) tickets: Tickets,
    pub(crate) recorder: Mutex<Recorder>,
    pub(crate) upkeep: Arc<Upkeep>,
    /// Held by whoever changes policies, so that versions are numbered in the order in which they took effect.
    pub(crate) changing: tokio::sync::Mutex<()>,
    pub(crate) drift: Drift,
    named: Mutex<Named>,
    live: RwLock<Arc<Live>>,
}

pub(crate) type Shared = Arc<Admin>;

impl Admin {
    pub(crate) fn new(
        plane: Box<dyn Plane>,
        store: Store,
        settings: Settings,
        keys: Keys,
        throttle: Throttle,
        post: Post,
    ) -> Self {
        let is_shared = settings.database.starts_with("postgres");
        Self {
            plane,
            store,
            settings,
            keys,
            throttle,
            post,
            is_shared,
            hub: Hub::default(),
            tickets: Tickets::default(),
            upkeep: Arc::default(),
            recorder: Mutex::default(),
            changing: tokio::sync::Mutex::default(),
            drift: Drift::default(),
            named: Mutex::default(),
            live: RwLock::default(),
        }
    }

    /// How everything stood at the last look.
    pub(crate) fn live(&self) -> Arc<Live> {
        Arc::clone(&self.live.read().unwrap_or_else(PoisonError::into_inner))
    }

    pub(crate) fn set_live(&self, live: Arc<Live>) {
        *self.live.write().unwrap_or_else(PoisonError::into_inner) = live;
    }

    pub(crate) fn recorder(&self) -> MutexGuard<'_, Recorder> {
        self.recorder.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Which applications have numbers of their own.
    pub(crate) fn named(&self) -> MutexGuard<'_, Named> {
        self.named.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The clusters of this node, by name.
    pub(crate) fn clusters(&self) -> Vec<ClusterId> {
        self.plane.standing().into_keys().collect()
    }

    /// The cluster of that name.
    pub(crate) fn cluster(&self, name: &str) -> Result<ClusterId, Problem> {
        let found = self.clusters().into_iter().find(|cluster| **cluster == *name);
        found.ok_or_else(|| Problem::not_found("cluster", name))
    }

    /// Writes down what somebody did.
    pub(crate) async fn audit(
        &self,
        caller: &Caller,
        action: &str,
        target: &str,
        before: Option<&Value>,
        after: Option<&Value>,
    ) -> Result<(), Problem> {
        let entry = NewAudit {
            actor: caller.name.clone(),
            actor_kind: caller.kind_name().into(),
            ip: caller.ip.to_string(),
            action: action.into(),
            target: target.into(),
            before: before.map(ToString::to_string),
            after: after.map(ToString::to_string),
        };
        Ok(self.store.add_audit(&entry, clock::wall()).await?)
    }
}

impl std::fmt::Debug for Admin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Admin").field("node", &self.settings.node).finish_non_exhaustive()
    }
}
