//! Nodes.

use super::list::{Asked, Entry, ListParams};
use super::page::{Listed, PageParams, Params};
use crate::auth::Viewer;
use crate::clock;
use crate::problem::Problem;
use crate::state::{Admin, Shared};
use axum::Json;
use axum::extract::State;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::cmp::Ordering;
use std::collections::BTreeMap;
use tollgate_ledger::board::Note;
use utoipa::{IntoParams, ToSchema};

/// For how long a node that says nothing is still shown, in milliseconds.
const SHOWN_MS: i64 = 15_000;

/// How a node is doing.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub(crate) struct NodeReport {
    /// Its name.
    pub(crate) node: String,
    /// When it said so, in milliseconds since 1970.
    pub(crate) timestamp: i64,
    /// Requests that passed in the last second.
    pub(crate) requests: u64,
    /// Requests that were refused in the last second.
    pub(crate) refused: u64,
    /// Tokens that it holds.
    pub(crate) held: u64,
    /// Its open connections.
    pub(crate) connections: u64,
    /// How it stands with the ledger of each cluster.
    pub(crate) clusters: BTreeMap<String, NodeCluster>,
}

/// How a node stands with the ledger of a cluster.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub(crate) struct NodeCluster {
    /// How well the ledger can be reached: `normal`, `mild`, `significant` or `fail_open`.
    pub(crate) level: String,
    /// Whether the node decides by itself just now.
    pub(crate) cut_off: bool,
    /// The version of the policies that it applies.
    pub(crate) version: u64,
    /// The epoch of the ledger that it knows.
    pub(crate) epoch: u64,
    /// Applications that it holds tokens for.
    pub(crate) leases: u64,
    /// How long the ledger's last answer took, in milliseconds.
    pub(crate) latency_ms: f64,
    /// Calls to the ledger so far.
    pub(crate) calls: u64,
    /// Calls that failed.
    pub(crate) failed_calls: u64,
}

/// The nodes that are known here.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct Nodes {
    /// This node, and those that share a ledger or its database.
    #[serde(flatten)]
    listed: Listed<NodeReport>,
    /// How many nodes the ledger hears of, in the largest cluster; there may be more than tell how they are doing.
    heard: u64,
}

/// Which nodes to list, and how.
#[derive(Clone, Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct ListNodes {
    /// Only those of this cluster.
    cluster: Option<String>,
    /// What to sort by.
    #[param(inline)]
    sort: Option<SortNodes>,
}

/// What nodes are sorted by.
#[derive(Clone, Copy, Debug, Default, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum SortNodes {
    /// Their names.
    #[default]
    Node,
    /// What passed in the last second.
    Requests,
    /// What was refused in the last second.
    Refused,
    /// What they hold.
    Held,
    /// Their open connections.
    Connections,
}

impl Entry for NodeReport {
    type Sort = SortNodes;

    fn name(&self) -> &str {
        &self.node
    }

    fn compare(&self, other: &Self, by: SortNodes) -> Ordering {
        match by {
            SortNodes::Node => self.node.cmp(&other.node),
            SortNodes::Requests => self.requests.cmp(&other.requests),
            SortNodes::Refused => self.refused.cmp(&other.refused),
            SortNodes::Held => self.held.cmp(&other.held),
            SortNodes::Connections => self.connections.cmp(&other.connections),
        }
    }
}

/// Lists the nodes: this one, and those that share a ledger or its database.
#[utoipa::path(get, path = "/api/v1/nodes", tag = "metrics", params(PageParams, ListParams, ListNodes),
    extensions(("x-required-role" = json!("viewer"))),
    responses((status = 200, description = "a page of the nodes that are known here", body = Nodes)))]
pub(crate) async fn list(
    State(admin): State<Shared>,
    _: Viewer,
    asked: Asked,
    Params(params): Params<ListNodes>,
) -> Result<Json<Nodes>, Problem> {
    let mut all = reports(&admin).await?;
    let heard = admin.live().clusters.values().map(|view| view.nodes).max().unwrap_or(0);
    let heard = heard.max(all.len() as u64);
    all.retain(|node| params.cluster.as_ref().is_none_or(|cluster| node.clusters.contains_key(cluster)));
    Ok(Json(Nodes { listed: asked.page(all, params.sort), heard }))
}

/// How the nodes are doing that are known here: by the database, by the boards of the ledgers, and by being this one. A
/// ledger that is out of reach tells of nobody.
pub(crate) async fn reports(admin: &Admin) -> Result<Vec<NodeReport>, Problem> {
    let rows = admin.store.node_reports(clock::wall() - SHOWN_MS).await?;
    let mut texts: Vec<String> = rows.into_iter().map(|(_, _, report)| report).collect();
    for cluster in admin.clusters() {
        let notes = admin.plane.pinned(&cluster).await.unwrap_or_default();
        texts.extend(notes.into_iter().map(|note| note.text));
    }
    let told = texts.iter().filter_map(|text| serde_json::from_str(text).ok());
    Ok(merged(told.chain([own(admin)])))
}

/// One report for each node, by name, of what may have come by several ways: the latest of everything.
fn merged(reports: impl Iterator<Item = NodeReport>) -> Vec<NodeReport> {
    let mut nodes: BTreeMap<String, NodeReport> = BTreeMap::new();
    for mut report in reports {
        if let Some(known) = nodes.remove(&report.node) {
            let (older, mut newer) =
                if known.timestamp > report.timestamp { (report, known) } else { (known, report) };
            for (cluster, standing) in older.clusters {
                newer.clusters.entry(cluster).or_insert(standing);
            }
            report = newer;
        }
        nodes.insert(report.node.clone(), report);
    }
    nodes.into_values().collect()
}

/// Tells the others how this node is doing, on the boards of its ledgers: of each cluster what concerns it.
pub(crate) async fn pin(admin: &Admin) {
    let own = own(admin);
    for cluster in admin.clusters() {
        let Some((name, standing)) = own.clusters.get_key_value(&*cluster) else { continue };
        if standing.cut_off {
            continue;
        }
        let report =
            NodeReport { clusters: BTreeMap::from([(name.clone(), standing.clone())]), ..own.clone() };
        let note = Note { node: admin.settings.node.clone(), text: json!(report).to_string() };
        // Whether the ledger can be reached is told elsewhere.
        let _ = admin.plane.pin(&cluster, &note).await;
    }
}

/// How this node is doing.
pub(crate) fn own(admin: &Admin) -> NodeReport {
    let live = admin.live();
    let clusters = admin.plane.standing().into_iter().map(|(id, standing)| {
        let cluster = NodeCluster {
            level: standing.level.name().into(),
            cut_off: standing.is_cut_off,
            version: standing.version,
            epoch: standing.epoch,
            leases: standing.leases as u64,
            latency_ms: standing.calls.latency.get() as f64 / 1e6,
            calls: standing.calls.made,
            failed_calls: standing.calls.failed,
        };
        (id.to_string(), cluster)
    });
    NodeReport {
        node: admin.settings.node.to_string(),
        timestamp: clock::wall(),
        requests: live.flow.requests,
        refused: live.flow.refused,
        held: live.apps.values().map(|app| app.held).sum(),
        connections: live.connections.open,
        clusters: clusters.collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(node: &str, timestamp: i64, clusters: &[(&str, u64)]) -> NodeReport {
        let standing = |version| NodeCluster {
            level: "normal".into(),
            cut_off: false,
            version,
            epoch: 1,
            leases: 0,
            latency_ms: 0.0,
            calls: 0,
            failed_calls: 0,
        };
        let clusters = clusters.iter().map(|(id, version)| ((*id).to_owned(), standing(*version))).collect();
        NodeReport {
            node: node.into(),
            timestamp,
            requests: 0,
            refused: 0,
            held: 0,
            connections: 0,
            clusters,
        }
    }

    #[test]
    fn what_comes_by_several_ways_is_one_report() {
        let told = [
            report("b", 5, &[("x", 7)]),
            report("a", 9, &[("x", 4)]),
            report("b", 3, &[("x", 6), ("y", 2)]),
            report("a", 9, &[("y", 5)]),
        ];
        let merged = merged(told.into_iter());
        let versions: Vec<(&str, Vec<u64>)> = merged
            .iter()
            .map(|node| (node.node.as_str(), node.clusters.values().map(|cluster| cluster.version).collect()))
            .collect();
        assert_eq!(versions, [("a", vec![4, 5]), ("b", vec![7, 2])]);
    }
}
