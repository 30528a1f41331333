//! Nodes.

use crate::auth::Viewer;
use crate::clock;
use crate::problem::Problem;
use crate::state::{Admin, Shared};
use axum::Json;
use axum::extract::State;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use utoipa::ToSchema;

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
    /// This node, and those that share its database.
    data: Vec<NodeReport>,
    /// How many nodes the ledger hears of, in the largest cluster.
    total: u64,
}

/// Lists the nodes: this one, and those that share its database.
#[utoipa::path(get, path = "/api/v1/nodes", tag = "metrics", extensions(("x-required-role" = json!("viewer"))),
    responses((status = 200, description = "the nodes that are known here", body = Nodes)))]
pub(crate) async fn list(State(admin): State<Shared>, _: Viewer) -> Result<Json<Nodes>, Problem> {
    let data = reports(&admin).await?;
    let heard = admin.live().clusters.values().map(|view| view.nodes).max().unwrap_or(0);
    Ok(Json(Nodes { total: heard.max(data.len() as u64), data }))
}

/// How the nodes are doing that are known here.
pub(crate) async fn reports(admin: &Admin) -> Result<Vec<NodeReport>, Problem> {
    let own = own(admin);
    let rows = admin.store.node_reports(clock::wall() - SHOWN_MS).await?;
    let mut reports: Vec<NodeReport> =
        rows.into_iter().filter_map(|(_, _, report)| serde_json::from_str(&report).ok()).collect();
    reports.retain(|report| report.node != own.node);
    reports.push(own);
    reports.sort_by(|a, b| a.node.cmp(&b.node));
    Ok(reports)
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
