//! Changes of policy as the ledger shows them: those who watch hear of them whichever node made them.

use crate::event::EventKind;
use crate::live::Live;
use crate::policy::change::key;
use crate::state::Admin;
use serde_json::json;
use std::collections::BTreeMap;
use tollgate_core::id::ClusterId;
use tollgate_core::quota::Capacity;
use tollgate_ledger::protocol::ClusterView;

/// Knows what was seen of each cluster.
#[derive(Debug, Default)]
pub(crate) struct Observer {
    clusters: BTreeMap<ClusterId, Seen>,
}

/// What was seen of a cluster.
#[derive(Clone, Copy, Debug)]
struct Seen {
    epoch: u64,
    version: u64,
    capacity: Capacity,
}

impl Observer {
    /// Tells what changed since the last look and was not told by this node as it was done.
    pub(crate) async fn look(&mut self, admin: &Admin, live: &Live) {
        for (cluster, view) in &live.clusters {
            let seen = Seen { epoch: view.epoch, version: view.version, capacity: view.capacity };
            let known = self.clusters.insert(cluster.clone(), seen);
            // What was there at the first look, or before a ledger started over, is no news.
            let Some(known) = known.filter(|known| known.epoch == view.epoch && known.version < view.version)
            else {
                continue;
            };
            tell(admin, cluster, &known, view, live.at).await;
        }
    }
}

async fn tell(admin: &Admin, cluster: &ClusterId, known: &Seen, view: &ClusterView, now: i64) {
    let mut news: Vec<(&str, String)> = Vec::new();
    if known.capacity != view.capacity {
        news.push(("cluster", cluster.to_string()));
    }
    if let Ok(changes) = admin.plane.changes(cluster, known.version).await
        && !changes.is_whole
    {
        // What is newer than the look is for the next one.
        let set = changes.apps.iter().filter(|app| app.version <= view.version);
        news.extend(set.map(|app| ("app", app.policy.app.to_string())));
        news.extend(changes.gone.iter().map(|app| ("app", app.to_string())));
    }
    news.retain(|(kind, id)| !admin.hub.was_told(&key(cluster, kind, id), now));
    if news.is_empty() {
        return;
    }
    let touched: Vec<_> =
        news.iter().map(|(kind, id)| json!({"kind": kind, "id": id, "cluster": &**cluster})).collect();
    let data = json!({"version": null, "kind": "observed", "author": "", "reason": "", "changes": touched});
    admin.hub.tell(EventKind::ConfigChange, data, now);
}
