//! Connections through the node: each cluster's are kept by a task of their own, within the limits of the policies.

use crate::app::App;
use crate::clock::RuntimeClock;
use crate::connection::{Connections, Denied, Guard, Identity, Keeper, Line, Refused, Settings};
use crate::desk::{Manners, Reply};
use crate::node::{Counter, Inner, Node};
use crate::sync::lock;
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

    /// Puts the limits of all policies in force.
    pub(crate) fn set_limits(&self, cluster: &ClusterId, counter: &Counter) {
        let open = counter.connections.all_counts().into_iter().map(|(app, _)| app);
        let known = self.roster.all().into_iter().map(|app| app.id().clone());
        self.follow(&open.chain(known).collect::<Vec<_>>(), cluster, counter);
    }

    /// Puts the limits of these applications in force, of which some may be gone.
    fn follow(&self, apps: &[AppId], cluster: &ClusterId, counter: &Counter) {
        let mut limits = Vec::new();
        for id in apps {
            let terms = self.roster.find(id).map(|app| app.terms());
            match terms.filter(|terms| terms.policy.cluster == *cluster) {
                Some(terms) => {
                    let connections = terms.policy.connections;
                    limits.push((id.clone(), Limits::new(connections.max, connections.burst)));
                }
                None => counter.connections.remove(id),
            }
        }
        counter.connections.set_all_limits(limits, self.clock.now());
        counter.connections.set_cluster_max(lock(&counter.desk).capacity().connections);
    }
}

/// Whose policies changed, as it is read page by page.
#[derive(Debug, Default)]
pub(crate) struct News {
    page: Vec<AppId>,
    /// Whether everything is being read: only at the end is it known who is gone.
    is_whole: bool,
    is_last: bool,
}

impl News {
    /// Takes note of a page before it is read; says whether it is one.
    pub(crate) fn note(&mut self, reply: &Reply) -> bool {
        let Reply::Changes(changes) = reply else { return false };
        self.is_whole |= changes.is_whole;
        self.is_last = !changes.more;
        if !self.is_whole {
            let set = changes.apps.iter().map(|app| &app.policy.app);
            self.page.extend(set.chain(&changes.gone).cloned());
        }
        true
    }

    /// Puts into force for connections what has been read. It takes as long as there is news: those who wait for the ledger
    /// must not wait for a hundred thousand applications of which one changed.
    pub(crate) fn spread<L: Ledger + Slots + 'static>(
        &mut self,
        inner: &Inner<L>,
        cluster: &ClusterId,
        counter: &Counter,
    ) {
        if self.is_whole && self.is_last {
            inner.set_limits(cluster, counter);
            self.is_whole = false;
        } else if !self.is_whole {
            inner.follow(&self.page, cluster, counter);
        }
        self.page.clear();
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
