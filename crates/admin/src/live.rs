//! How things stand this second: read once for everybody who looks.

#![allow(clippy::cast_possible_truncation, reason = "points of charts are single precision")]

use crate::history::{self, APP_WIDTH, Recorder, of_all, of_app};
use crate::line::{Line, Lines};
use crate::plane::Plane;
use crate::upkeep::Task;
use std::collections::BTreeMap;
use std::sync::Arc;
use tollgate_core::cost::Operation;
use tollgate_core::id::{AppId, ClusterId};
use tollgate_ledger::connection::Counts as ConnectionCounts;
use tollgate_ledger::protocol::{AppView, ClusterView, MAX_PAGE};
use tollgate_node::desk::Standing;
use tollgate_node::{App, Counts};

/// What happened in a second.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Flow {
    pub(crate) requests: u64,
    pub(crate) cost: u64,
    pub(crate) refused: u64,
    pub(crate) refused_cost: u64,
    pub(crate) misses: u64,
    pub(crate) shadowed: u64,
}

/// How an application stands.
#[derive(Clone, Debug, Default)]
pub(crate) struct AppLive {
    /// What happened in the last second on this node.
    pub(crate) flow: Flow,
    /// What this node holds for it, in tokens.
    pub(crate) held: u64,
    /// Its connections on this node.
    pub(crate) connections: ConnectionCounts,
    /// As the ledger last told.
    pub(crate) view: Option<Arc<AppView>>,
}

/// How everything stands.
#[derive(Clone, Debug, Default)]
pub(crate) struct Live {
    /// When, in milliseconds since 1970.
    pub(crate) at: i64,
    /// What happened in the last second on this node.
    pub(crate) flow: Flow,
    pub(crate) apps: BTreeMap<AppId, AppLive>,
    /// Clusters as the ledger last told; those that it did not tell of now are missing.
    pub(crate) clusters: BTreeMap<ClusterId, ClusterView>,
    pub(crate) standing: BTreeMap<ClusterId, Standing>,
    pub(crate) connections: ConnectionCounts,
    pub(crate) line: Line,
    /// What failed of that which is done beside requests.
    pub(crate) failing: Vec<Task>,
}

/// Reads how things stand, once a second.
#[derive(Debug, Default)]
pub(crate) struct Sampler {
    counts: BTreeMap<AppId, Counts>,
    connections: ConnectionCounts,
    views: BTreeMap<AppId, Arc<AppView>>,
    /// Where the reading of each cluster's applications has got to.
    cursors: BTreeMap<ClusterId, AppId>,
    lines: Lines,
}

impl Sampler {
    /// Reads everything and writes it into the history.
    pub(crate) async fn sample(
        &mut self,
        plane: &dyn Plane,
        recorder: &std::sync::Mutex<Recorder>,
        now: i64,
    ) -> Live {
        let mut live = Live { at: now, standing: plane.standing(), ..Live::default() };
        for cluster in live.standing.keys() {
            if let Ok(view) = plane.cluster(cluster).await {
                live.clusters.insert(cluster.clone(), view);
            }
            self.read_apps(plane, cluster).await;
        }
        let apps = plane.apps();
        self.views.retain(|id, _| apps.iter().any(|app| app.id() == id));
        let operations = self.read_counts(&apps, &mut live);
        Self::read_connections(plane, &mut live);
        live.line = self.lines.look(&live.standing, now);
        let mut recorder = recorder.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        record(&mut recorder, &live, &operations, self.new_connections(&live));
        live
    }

    /// One page of each cluster's applications a second: a ledger is not read all over for those who only look.
    async fn read_apps(&mut self, plane: &dyn Plane, cluster: &ClusterId) {
        let after = self.cursors.get(cluster).cloned();
        let Ok(page) = plane.app_views(cluster, after.as_ref(), MAX_PAGE).await else { return };
        match page.last() {
            Some(last) if page.len() >= MAX_PAGE as usize => {
                self.cursors.insert(cluster.clone(), last.policy.policy.app.clone());
            }
            _ => {
                self.cursors.remove(cluster);
            }
        }
        for view in page {
            self.views.insert(view.policy.policy.app.clone(), Arc::new(view));
        }
    }

    /// What was counted since the last time; returns requests and cost by operation.
    fn read_counts(&mut self, apps: &[Arc<App>], live: &mut Live) -> [(u64, u64); Operation::COUNT] {
        let mut operations = [(0, 0); Operation::COUNT];
        let mut known = BTreeMap::new();
        for app in apps {
            let counts = app.counts();
            // What was there before anybody looked did not happen in this second.
            let before = self.counts.remove(app.id()).unwrap_or_else(|| counts.clone());
            for (sum, (now, then)) in operations.iter_mut().zip(counts.spent.iter().zip(&before.spent)) {
                sum.0 += now.requests.saturating_sub(then.requests);
                sum.1 += now.cost.saturating_sub(then.cost);
            }
            let flow = flow_between(&before, &counts);
            live.flow = live.flow.plus(flow);
            let view = self.views.get(app.id()).cloned();
            let held = app.held().floor();
            live.apps.insert(app.id().clone(), AppLive { flow, held, view, ..AppLive::default() });
            known.insert(app.id().clone(), counts);
        }
        self.counts = known;
        operations
    }

    fn read_connections(plane: &dyn Plane, live: &mut Live) {
        for connections in live.standing.keys().filter_map(|cluster| plane.connections(cluster)) {
            live.connections = sum(live.connections, connections.totals());
            for (app, counts) in connections.all_counts() {
                if let Some(app) = live.apps.get_mut(&app) {
                    app.connections = counts;
                }
            }
        }
    }

    /// Connections refused and leaked since the last time.
    fn new_connections(&mut self, live: &Live) -> (u64, u64) {
        let (before, now) = (self.connections, live.connections);
        self.connections = now;
        if before == ConnectionCounts::default() {
            return (0, 0);
        }
        (now.rejected.saturating_sub(before.rejected), now.leaked.saturating_sub(before.leaked))
    }
}

impl Flow {
    #[must_use]
    pub(crate) const fn plus(self, other: Self) -> Self {
        Self {
            requests: self.requests + other.requests,
            cost: self.cost + other.cost,
            refused: self.refused + other.refused,
            refused_cost: self.refused_cost + other.refused_cost,
            misses: self.misses + other.misses,
            shadowed: self.shadowed + other.shadowed,
        }
    }
}

fn flow_between(before: &Counts, now: &Counts) -> Flow {
    let (then, passed) = (before.passed(), now.passed());
    let more = |now: &[u64], then: &[u64]| now.iter().sum::<u64>().saturating_sub(then.iter().sum());
    Flow {
        requests: passed.requests.saturating_sub(then.requests),
        cost: passed.cost.saturating_sub(then.cost),
        refused: more(&now.refused, &before.refused),
        refused_cost: now.refused_cost.saturating_sub(before.refused_cost),
        misses: now.misses.saturating_sub(before.misses),
        shadowed: more(&now.shadowed, &before.shadowed),
    }
}

pub(crate) const fn sum(a: ConnectionCounts, b: ConnectionCounts) -> ConnectionCounts {
    ConnectionCounts {
        open: a.open + b.open,
        held: a.held + b.held,
        untracked: a.untracked + b.untracked,
        peak: a.peak + b.peak,
        opened: a.opened + b.opened,
        rejected: a.rejected + b.rejected,
        leaked: a.leaked + b.leaked,
    }
}

fn record(
    recorder: &mut Recorder,
    live: &Live,
    operations: &[(u64, u64); Operation::COUNT],
    (rejected, leaked): (u64, u64),
) {
    let at = u32::try_from(live.at / 1_000).unwrap_or(u32::MAX);
    let mut values = [0.0; history::OVERALL_WIDTH + 2 * Operation::COUNT];
    let flow = live.flow;
    let clusters = || live.clusters.values();
    let views = || live.apps.values().filter_map(|app| app.view.as_deref());
    let mut set = |index: usize, value: u64| values[index] = value as f32;
    set(of_all::REQUESTS, flow.requests);
    set(of_all::COST, flow.cost);
    set(of_all::REFUSED, flow.refused);
    set(of_all::REFUSED_COST, flow.refused_cost);
    set(of_all::MISSES, flow.misses);
    set(of_all::SHADOWED, flow.shadowed);
    set(of_all::SLACK, clusters().map(|view| view.slack.floor()).sum());
    set(of_all::CAPACITY, clusters().map(|view| view.capacity.rate.floor()).sum());
    set(of_all::RIGHTS, views().map(|view| view.account.rights.floor()).sum());
    set(of_all::BURST, views().map(|view| view.policy.policy.quota.burst.floor()).sum());
    set(of_all::OUTSTANDING, views().map(|view| view.account.outstanding.floor()).sum());
    set(of_all::HELD, live.apps.values().map(|app| app.held).sum());
    set(of_all::CONNECTIONS, live.connections.open);
    set(of_all::CONNECTIONS_REJECTED, rejected);
    set(of_all::CONNECTIONS_LEAKED, leaked);
    for (operation, (requests, cost)) in Operation::ALL.into_iter().zip(operations) {
        set(history::requests_of(operation), *requests);
        set(history::cost_of(operation), *cost);
    }
    values[of_all::USAGE] = clusters().map(|view| view.usage.as_f64()).fold(0.0, f64::max) as f32;
    values[of_all::LATENCY_MS] = live.line.latency(50) as f32;
    recorder.add_overall(at, &values);
    for (id, app) in &live.apps {
        recorder.add_app(at, id, &app_values(app));
        recorder.add_demand(at, id, app.flow.cost + app.flow.refused_cost);
    }
}

fn app_values(app: &AppLive) -> [f32; APP_WIDTH] {
    let mut values = [0.0; APP_WIDTH];
    let mut set = |index: usize, value: u64| values[index] = value as f32;
    set(of_app::REQUESTS, app.flow.requests);
    set(of_app::COST, app.flow.cost);
    set(of_app::REFUSED, app.flow.refused);
    set(of_app::REFUSED_COST, app.flow.refused_cost);
    set(of_app::RIGHTS, app.view.as_ref().map_or(0, |view| view.account.rights.floor()));
    set(of_app::CONNECTIONS, app.connections.open);
    set(of_app::HELD, app.held);
    values
}
