//! Connections through the node: each cluster's are kept by a task of their own, within the limits of the policies.

use crate::app::App;
use crate::clock::RuntimeClock;
use crate::connection::{Connections, Denied, Guard, Identity, Keeper, Line, Refused, Settings};
use crate::desk::Manners;
use crate::node::{Counter, Inner, Node};
use crate::sync::lock;
use std::collections::BTreeSet;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;
use tollgate_config::policy::Cluster;
use tollgate_core::connection::Limits;
use tollgate_core::id::{AppId, ClusterId};
use tollgate_ledger::{Ledger, Slots};

impl<L: Ledger + Slots + 'static> Node<L> {
    /// Opens a connection of an application, asking the ledger for a slot if the node holds none. Never takes longer
    /// than the ledger's timeout.
    pub async fn connect(&self, app: &str, client: IpAddr) -> Result<Guard, Refused> {
        let inner = self.inner();
        let Some(app) = inner.resolve(app) else { return Err(Refused::UNKNOWN_APP) };
        let cluster = app.terms().policy.cluster.clone();
        let Some(counter) = inner.desks.get(&cluster) else { return Err(Refused::UNKNOWN_APP) };
        counter.connections.open(app.id(), client, inner.clock.now()).await
    }

    /// Opens a connection of an application if the node has a slot for it, or says why not.
    pub fn try_connect(&self, app: &App, client: IpAddr) -> Result<Guard, Denied> {
        let inner = self.inner();
        let Some(counter) = inner.desks.get(&app.terms().policy.cluster) else {
            return Err(Denied::Refused(Refused::UNKNOWN_APP));
        };
        counter.connections.try_open(app.id(), client, inner.clock.now())
    }

    /// Tells that a connection is alive.
    pub fn touch(&self, guard: &Guard) {
        guard.touch(self.inner().clock.now());
    }

    /// The connections of a cluster on this node.
    pub fn connections(&self, cluster: &str) -> Option<&Connections> {
        self.inner().desks.get(cluster).map(|counter| &counter.connections)
    }
}

impl<L: Ledger + Slots + 'static> Inner<L> {
    /// Whoever keeps the connections of a cluster.
    pub(crate) fn keeper(&self, counter: &Counter, identity: Identity) -> Keeper<Arc<L>, Line, RuntimeClock> {
        let ledger = Arc::clone(&self.ledger);
        Keeper::new(counter.connections.clone(), identity, ledger, Line::default(), self.clock)
    }

    /// Puts the limits of the policies in force.
    pub(crate) fn set_limits(&self, cluster: &ClusterId, counter: &Counter) {
        let apps = self.roster.of(cluster);
        let known: BTreeSet<&AppId> = apps.iter().map(|app| app.id()).collect();
        let counts = counter.connections.all_counts();
        for (app, _) in counts.iter().filter(|(app, _)| !known.contains(app)) {
            counter.connections.remove(app);
        }
        let limits = apps.iter().map(|app| {
            let connections = app.terms().policy.connections;
            (app.id().clone(), Limits::new(connections.max, connections.burst))
        });
        counter.connections.set_all_limits(limits, self.clock.now());
        counter.connections.set_cluster_max(lock(&counter.desk).capacity().connections);
    }
}

/// The connections of a cluster, before there are any.
pub(crate) fn connections(id: &ClusterId, cluster: &Cluster, manners: &Manners) -> Connections {
    Connections::new(Settings {
        cluster_max: cluster.capacity.connections,
        ledger_timeout: Duration::from(manners.patience),
        ..Settings::new(id.clone())
    })
}
