//! Clusters.

use super::etag::{self, IfMatch, etag};
use super::list::{Asked, Entry, ListParams};
use super::page::{Listed, PageParams, Params, Segment};
use crate::auth::{Administrator, Operator, Viewer};
use crate::form::Form;
use crate::policy::Terms;
use crate::policy::cluster::{self, ClusterDocument};
use crate::problem::{FieldError, Problem};
use crate::state::Shared;
use axum::Json;
use axum::extract::State;
use axum::response::IntoResponse;
use http::HeaderMap;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::cmp::Ordering;
use std::collections::BTreeMap;
use tollgate_core::id::ClusterId;
use tollgate_core::quota::Capacity;
use tollgate_ledger::protocol::ClusterView;
use utoipa::{IntoParams, ToSchema};

/// A cluster: what it can stand, and how it is doing.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[expect(clippy::struct_field_names, reason = "the names that callers see")]
pub(crate) struct Cluster {
    /// Its name.
    cluster_id: String,
    #[serde(flatten)]
    limits: ClusterDocument,
    /// The version of its policies.
    version: u64,
    /// Another one whenever the ledger finds that it has lost something.
    epoch: u64,
    /// What all guarantees add up to, in tokens per second.
    promised: u64,
    /// The most that they may add up to.
    promisable: u64,
    /// Headroom for anybody, in tokens.
    available: u64,
    /// The share of the capacity that was granted over the last second.
    usage: f64,
    /// How much overload cuts of allocations above the guarantee.
    overload_cut: f64,
    /// Whether it is in emergency mode.
    emergency: bool,
    /// How many applications it has.
    apps: u64,
    /// How many nodes are heard of.
    nodes: u64,
    /// How many nodes fell silent and are still remembered.
    silent_nodes: u64,
}

/// A cluster as it shall be. What is left out stays as it is.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "describes what is read field by field")]
pub(crate) struct ClusterInput {
    /// Tokens per second, for all applications together.
    #[schema(minimum = 1, maximum = 1_000_000_000)]
    capacity: Option<u64>,
    /// The share that bursts and loans leave alone.
    #[schema(minimum = 0, maximum = 1)]
    reserved_ratio: Option<f64>,
    /// How much unused headroom may pile up, as a share of the capacity.
    #[schema(minimum = 1, maximum = 2)]
    burst_ratio: Option<f64>,
    /// The use at which emergency mode starts by itself.
    #[schema(minimum = 0.0001, maximum = 1)]
    emergency_threshold: Option<f64>,
    /// How many connections may be open at once, over all nodes.
    #[schema(minimum = 1, maximum = 4_294_967_295u64)]
    max_connections: Option<u64>,
    /// Why it is changed, for those who read it later.
    #[schema(max_length = 1_000)]
    reason: Option<String>,
}

/// Which clusters to list, and how.
#[derive(Clone, Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct ListClusters {
    /// Only those in emergency mode, or not.
    emergency: Option<bool>,
    /// What to sort by.
    #[param(inline)]
    sort: Option<SortClusters>,
}

/// What clusters are sorted by.
#[derive(Clone, Copy, Debug, Default, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum SortClusters {
    /// Their names.
    #[default]
    ClusterId,
    /// What they can stand.
    Capacity,
    /// What is promised on them.
    Promised,
    /// The share that is in use.
    Usage,
    /// How many applications they have.
    Apps,
}

impl Entry for Cluster {
    type Sort = SortClusters;

    fn name(&self) -> &str {
        &self.cluster_id
    }

    fn compare(&self, other: &Self, by: SortClusters) -> Ordering {
        match by {
            SortClusters::ClusterId => self.cluster_id.cmp(&other.cluster_id),
            SortClusters::Capacity => self.limits.capacity.cmp(&other.limits.capacity),
            SortClusters::Promised => self.promised.cmp(&other.promised),
            SortClusters::Usage => self.usage.total_cmp(&other.usage),
            SortClusters::Apps => self.apps.cmp(&other.apps),
        }
    }
}

/// What a reconciliation corrected.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct Reconciled {
    /// By which share each application had drifted that was corrected.
    corrected: BTreeMap<String, f64>,
}

/// Lists the clusters.
#[utoipa::path(get, path = "/api/v1/clusters", tag = "clusters", params(PageParams, ListParams, ListClusters),
    extensions(("x-required-role" = json!("viewer"))),
    responses((status = 200, description = "a page of clusters", body = Listed<Cluster>)))]
pub(crate) async fn list(
    State(admin): State<Shared>,
    _: Viewer,
    asked: Asked,
    Params(params): Params<ListClusters>,
) -> Result<Json<Listed<Cluster>>, Problem> {
    let mut all = Vec::new();
    for id in admin.clusters() {
        all.push(shown(&id, &admin.plane.cluster(&id).await?));
    }
    all.retain(|cluster| params.emergency.is_none_or(|emergency| emergency == cluster.emergency));
    Ok(Json(asked.page(all, params.sort)))
}

/// Shows a cluster.
#[utoipa::path(get, path = "/api/v1/clusters/{cluster_id}", tag = "clusters", params(("cluster_id" = String, Path,)),
    extensions(("x-required-role" = json!("viewer"))),
    responses((status = 200, description = "the cluster", body = Cluster, headers(("ETag" = String)))))]
pub(crate) async fn get(
    State(admin): State<Shared>,
    _: Viewer,
    Segment(name): Segment<String>,
) -> Result<impl IntoResponse, Problem> {
    let id = admin.cluster(&name)?;
    let view = admin.plane.cluster(&id).await?;
    Ok((etag(&tag(&view.capacity)), Json(shown(&id, &view))))
}

/// Changes what a cluster can stand. With `If-Match` it must be as the caller has seen it.
#[utoipa::path(put, path = "/api/v1/clusters/{cluster_id}", tag = "clusters", request_body = ClusterInput,
    params(("cluster_id" = String, Path,), ("If-Match" = Option<String>, Header,)),
    extensions(("x-required-role" = json!("admin"))),
    responses((status = 200, description = "it was changed", body = Cluster, headers(("ETag" = String)))))]
pub(crate) async fn put(
    State(admin): State<Shared>,
    Administrator(caller): Administrator,
    Segment(name): Segment<String>,
    headers: HeaderMap,
    mut form: Form,
) -> Result<impl IntoResponse, Problem> {
    let id = admin.cluster(&name)?;
    let reason = form.optional_text("reason", 0..=1_000).unwrap_or_default();
    let _turn = admin.changing.lock().await;
    let view = admin.plane.cluster(&id).await?;
    let capacity = read(&id, &view.capacity, form)?;
    IfMatch::read(&headers)?.check(Some(&tag(&view.capacity)))?;
    if view.promised > capacity.promisable() {
        let message = "the guarantees on it add up to more than 90 % of that";
        let least = view.promised.floor().saturating_mul(10).div_ceil(9);
        let error = FieldError::new("capacity", "conflict", message, format!("at least {least}"));
        return Err(Problem::invalid(vec![error.with_value(capacity.rate.floor())]));
    }
    if capacity != view.capacity {
        let change = admin.put_cluster(&id, &view.capacity, &capacity).await?;
        admin.publish(&caller, &[change], &Terms::now("update", &reason)).await?;
    }
    let view = admin.plane.cluster(&id).await?;
    Ok((etag(&tag(&view.capacity)), Json(shown(&id, &view))))
}

/// Compares what is out with what the leases add up to, and corrects what drifted too far.
#[utoipa::path(post, path = "/api/v1/clusters/{cluster_id}/reconcile", tag = "clusters",
    params(("cluster_id" = String, Path,)), extensions(("x-required-role" = json!("operator"))),
    responses((status = 200, description = "what was corrected", body = Reconciled)))]
pub(crate) async fn reconcile(
    State(admin): State<Shared>,
    Operator(caller): Operator,
    Segment(name): Segment<String>,
) -> Result<Json<Reconciled>, Problem> {
    let id = admin.cluster(&name)?;
    let corrected = admin.reconcile(&id).await?;
    let corrected: BTreeMap<String, f64> =
        corrected.into_iter().map(|(app, drift)| (app.to_string(), drift.as_f64())).collect();
    admin.audit(&caller, "cluster.reconcile", &name, None, Some(&json!(corrected))).await?;
    Ok(Json(Reconciled { corrected }))
}

fn shown(id: &ClusterId, view: &ClusterView) -> Cluster {
    let capacity = &view.capacity;
    Cluster {
        cluster_id: id.to_string(),
        limits: ClusterDocument::from(capacity),
        version: view.version,
        epoch: view.epoch,
        promised: view.promised.floor(),
        promisable: capacity.promisable().floor(),
        available: view.slack.floor(),
        usage: view.usage.as_f64(),
        overload_cut: view.cut.as_f64(),
        emergency: view.emergency.is_on(),
        apps: view.apps,
        nodes: view.nodes,
        silent_nodes: view.silent_nodes,
    }
}

/// What stands for a capacity in headers.
fn tag(capacity: &Capacity) -> String {
    etag::tag(&cluster::to_value(capacity))
}

/// Reads a capacity, all mistakes of the call at once; what is left out stays as it was.
fn read(id: &ClusterId, before: &Capacity, mut form: Form) -> Result<Capacity, Problem> {
    let said = form.rest().into_iter().filter(|(_, value)| !value.is_null()).collect();
    let read = cluster::read(id, before, said);
    if let Err(errors) = &read {
        errors.iter().cloned().for_each(|error| form.fault(error));
    }
    form.finish()?;
    read.map_err(Problem::invalid)
}
