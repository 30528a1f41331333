use super::{DEFAULT_CLUSTER, Draft, MAX_CLUSTERS};
use crate::error::Problem;
use crate::path;
use crate::reader::{Reading, Table};
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;
use tollgate_core::id::ClusterId;
use tollgate_core::quota::Capacity;
use tollgate_core::units::Rate;

/// What a cluster can stand.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cluster {
    /// In tokens and in connections.
    pub capacity: Capacity,
}

impl Cluster {
    /// Every key but the name.
    pub(crate) fn to_map(self) -> Map<String, Value> {
        Map::from_iter([
            ("capacity".into(), json!(self.capacity.rate.floor())),
            ("reserved_ratio".into(), json!(self.capacity.reserved.as_f64())),
            ("burst_ratio".into(), json!(self.capacity.burst_ratio.as_f64())),
            ("emergency_threshold".into(), json!(self.capacity.emergency_threshold.as_f64())),
            ("max_connections".into(), json!(self.capacity.connections)),
        ])
    }
}

/// A cluster as far as it could be read.
pub(super) struct ClusterDraft {
    pub(super) path: String,
    pub(super) id: Option<ClusterId>,
    pub(super) rate: Option<Rate>,
    cluster: Option<Cluster>,
}

impl Draft for ClusterDraft {
    type Id = ClusterId;
    type Meant = Cluster;

    fn path(&self) -> &str {
        &self.path
    }

    fn id(&self) -> Option<&ClusterId> {
        self.id.as_ref()
    }

    fn meant(self) -> Option<Cluster> {
        self.cluster
    }
}

/// The clusters of a policy; none if they are not even a list.
pub(super) fn read_all(root: &mut Table<'_>) -> Option<Vec<ClusterDraft>> {
    match root.field("clusters").tables(MAX_CLUSTERS) {
        Reading::Wrong => None,
        Reading::Absent => Some(default_drafts()),
        Reading::Right(tables) if tables.is_empty() => Some(default_drafts()),
        Reading::Right(tables) => Some(tables.into_iter().map(read).collect()),
    }
}

/// What stands for no clusters at all.
pub(super) fn default_drafts() -> Vec<ClusterDraft> {
    let cluster = Cluster::default();
    vec![ClusterDraft {
        path: path::item("clusters", 0),
        id: ClusterId::new(DEFAULT_CLUSTER).ok(),
        rate: Some(cluster.capacity.rate),
        cluster: Some(cluster),
    }]
}

fn read(mut table: Table<'_>) -> ClusterDraft {
    let id = table.required("id").id(ClusterId::new).right();
    let default = Cluster::default();
    let rate = table.field("capacity").whole(1..=Rate::MAX.floor()).map(Rate::per_second);
    let rate = rate.or(default.capacity.rate);
    let capacity = read_capacity(&mut table, rate);
    let path = table.path().to_owned();
    table.finish();
    let cluster = capacity.map(|capacity| Cluster { capacity });
    ClusterDraft { path, id, rate, cluster }
}

fn read_capacity(table: &mut Table<'_>, rate: Option<Rate>) -> Option<Capacity> {
    let default = Capacity::default();
    let reserved = table.field("reserved_ratio").ratio(0.0..=1.0).or(default.reserved);
    let burst_ratio = table.field("burst_ratio").ratio(1.0..=2.0).or(default.burst_ratio);
    // At 0 there would be no way out of the emergency.
    let threshold = table.field("emergency_threshold").ratio(0.0001..=1.0).or(default.emergency_threshold);
    let connections = read_connections(table, "max_connections", default.connections);
    Some(Capacity {
        rate: rate?,
        reserved: reserved?,
        burst_ratio: burst_ratio?,
        emergency_threshold: threshold?,
        connections: connections?,
    })
}

/// A number of connections, at least one.
pub(super) fn read_connections(table: &mut Table<'_>, key: &'static str, default: u32) -> Option<u32> {
    let count = table.field(key).whole(1..=u64::from(u32::MAX)).or(u64::from(default))?;
    u32::try_from(count).ok()
}

/// The clusters that applications may name.
pub(super) struct Directory {
    ids: BTreeSet<ClusterId>,
    /// Whether a cluster could not be read, so that an unknown name may yet be right.
    has_gaps: bool,
    count: usize,
}

impl Directory {
    /// How many names an error lists.
    const MAX_LISTED: usize = 8;

    pub(super) fn of(clusters: Option<&[ClusterDraft]>) -> Self {
        let drafts = clusters.unwrap_or_default();
        Self {
            ids: drafts.iter().filter_map(|draft| draft.id.clone()).collect(),
            has_gaps: clusters.is_none() || drafts.iter().any(|draft| draft.id.is_none()),
            count: drafts.len(),
        }
    }

    /// The cluster that an application names, or the only one there is.
    pub(super) fn resolve(&self, table: &mut Table<'_>) -> Option<ClusterId> {
        match table.field("cluster").id(ClusterId::new) {
            Reading::Wrong => None,
            Reading::Right(id) if self.ids.contains(&id) => Some(id),
            Reading::Absent if self.count == 1 => self.ids.first().cloned(),
            _ if self.has_gaps => None,
            Reading::Right(_) => self.fault(table, Problem::Conflict("no such cluster".into())),
            Reading::Absent => self.fault(table, Problem::Missing),
        }
    }

    fn fault(&self, table: &Table<'_>, problem: Problem) -> Option<ClusterId> {
        let listed: Vec<&str> = self.ids.iter().take(Self::MAX_LISTED).map(|id| &**id).collect();
        let more = if self.ids.len() > listed.len() { ", ..." } else { "" };
        table.fault("cluster", problem, format!("one of {}{more}", listed.join(", ")));
        None
    }
}
