//! Clusters as they are written in calls and versions.

use super::Change;
use crate::problem::{FieldError, Problem};
use crate::state::Admin;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use tollgate_config::Policy;
use tollgate_core::id::ClusterId;
use tollgate_core::quota::Capacity;
use utoipa::ToSchema;

/// What a cluster can stand.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub(crate) struct ClusterDocument {
    /// Tokens per second, for all applications together.
    #[schema(minimum = 1, maximum = 1_000_000_000)]
    pub(crate) capacity: u64,
    /// The share that bursts and loans leave alone.
    #[schema(minimum = 0, maximum = 1)]
    reserved_ratio: f64,
    /// How much unused headroom may pile up, as a share of the capacity.
    #[schema(minimum = 1, maximum = 2)]
    burst_ratio: f64,
    /// The use at which emergency mode starts by itself.
    #[schema(minimum = 0.0001, maximum = 1)]
    emergency_threshold: f64,
    /// How many connections may be open at once, over all nodes.
    #[schema(minimum = 1)]
    max_connections: u32,
}

impl From<&Capacity> for ClusterDocument {
    fn from(capacity: &Capacity) -> Self {
        Self {
            capacity: capacity.rate.floor(),
            reserved_ratio: capacity.reserved.as_f64(),
            burst_ratio: capacity.burst_ratio.as_f64(),
            emergency_threshold: capacity.emergency_threshold.as_f64(),
            max_connections: capacity.connections,
        }
    }
}

/// A capacity as a tree, the same that is kept in versions.
pub(crate) fn to_value(capacity: &Capacity) -> Value {
    json!(ClusterDocument::from(capacity))
}

/// Reads a capacity by the same rules as the configuration file; what is left out stays as it was.
pub(crate) fn read(
    id: &ClusterId,
    before: &Capacity,
    said: Map<String, Value>,
) -> Result<Capacity, Vec<FieldError>> {
    let mut fields = to_value(before).as_object().cloned().unwrap_or_default();
    fields.extend(said);
    fields.insert("id".into(), json!(&**id));
    match Policy::from_value(&json!({"clusters": [fields]})) {
        Ok(policy) => Ok(policy.clusters().get(&**id).map_or(*before, |cluster| cluster.capacity)),
        Err(errors) => Err(errors.iter().map(|error| relative(FieldError::from(error))).collect()),
    }
}

/// Where the mistake is, as the caller wrote it.
fn relative(mut error: FieldError) -> FieldError {
    error.path = error.path.replace("clusters[0].", "");
    error
}

impl Admin {
    /// Changes what a cluster can stand; the caller holds `changing`.
    pub(crate) async fn put_cluster(
        &self,
        id: &ClusterId,
        before: &Capacity,
        after: &Capacity,
    ) -> Result<Change, Problem> {
        let version = self.plane.put_cluster(id, after).await?;
        Ok(Change {
            kind: "cluster".into(),
            id: id.to_string(),
            cluster: id.to_string(),
            ledger_version: version,
            before: Some(to_value(before)),
            after: Some(to_value(after)),
        })
    }
}
