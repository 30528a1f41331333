//! Who was promised what: clusters and applications, checked as a whole.

mod app;
mod cluster;
mod outage;
mod prices;

pub use app::{App, Connections};
pub use cluster::Cluster;

use crate::error::{Errors, Problem};
use crate::path;
use crate::reader::{Report, Table};
use crate::source::Origins;
use app::AppDraft;
use cluster::{ClusterDraft, Directory};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use tollgate_core::cost::PriceList;
use tollgate_core::id::{AppId, ClusterId};
use tollgate_core::quota::Capacity;

/// The most applications in a policy.
pub const MAX_APPS: usize = 100_000;

/// The most clusters in a policy.
pub const MAX_CLUSTERS: usize = 1_000;

/// The cluster there is when none is configured.
pub const DEFAULT_CLUSTER: &str = "cluster-01";

/// Clusters and applications that fit together.
///
/// It can only be made by reading one, so it always holds that every application names a cluster, that bursts
/// are no less than guarantees, and that the guarantees on a cluster add up to at most 90 % of its capacity.
///
/// ```
/// use serde_json::json;
/// use tollgate_config::Policy;
///
/// let policy = Policy::from_value(&json!({
///     "apps": [{"id": "video-service", "guaranteed_quota": 20_000, "burst_quota": 80_000, "priority": 0}],
/// }))?;
/// assert_eq!(policy.apps()["video-service"].quota.guaranteed.floor(), 20_000);
/// assert_eq!(policy.promised("cluster-01"), 20_000);
/// assert_eq!(Policy::from_value(&policy.to_value())?, policy);
///
/// let errors = Policy::from_value(&json!({
///     "apps": [{"id": "app-a", "guaranteed_quota": 200, "burst_quota": 100, "priority": 7}],
/// }))
/// .unwrap_err();
/// let paths: Vec<_> = errors.iter().map(|error| error.path.as_str()).collect();
/// assert_eq!(paths, ["apps[0].priority", "apps[0].burst_quota"]);
/// # Ok::<(), tollgate_config::Errors>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Policy {
    clusters: BTreeMap<ClusterId, Cluster>,
    apps: BTreeMap<AppId, App>,
    prices: PriceList,
}

impl Policy {
    /// Reads a policy: a table with `clusters`, `apps` and `cost`, each of which may be left out.
    pub fn from_value(value: &Value) -> Result<Self, Errors> {
        let origins = Origins::default();
        let report = Report::new(&origins, Errors::default());
        let mut root = Table::root(value, &report);
        let policy = Self::read(&mut root, &report);
        root.finish();
        report.conclude(policy)
    }

    pub(crate) fn read(root: &mut Table<'_>, report: &Report<'_>) -> Option<Self> {
        let prices = prices::read(root.table("cost"), PriceList::default());
        let clusters = cluster::read_all(root).map(|drafts| unique(drafts, report));
        let directory = Directory::of(clusters.as_deref());
        let apps = root.field("apps").tables(MAX_APPS).or(Vec::new());
        let apps = apps.map(|tables| {
            let inherited = prices.unwrap_or_default();
            let drafts = tables.into_iter().map(|table| app::read(table, inherited, &directory)).collect();
            unique(drafts, report)
        });
        let (clusters, apps) = clusters.zip(apps)?;
        report_overcommitted(&clusters, &apps, report);
        Some(Self { clusters: assembled(clusters)?, apps: assembled(apps)?, prices: prices? })
    }

    /// The policy as a tree, from which [`Policy::from_value`] reads the same policy.
    pub fn to_value(&self) -> Value {
        let clusters = self.clusters.iter().map(|(id, cluster)| with_id(id, cluster.to_map())).collect();
        let apps = self.apps.iter().map(|(id, app)| with_id(id, app.to_map(&self.prices))).collect();
        let cost = Value::Object(self.cost_map());
        Map::from_iter([("clusters".into(), clusters), ("apps".into(), apps), ("cost".into(), cost)]).into()
    }

    /// The clusters, by name.
    pub fn clusters(&self) -> &BTreeMap<ClusterId, Cluster> {
        &self.clusters
    }

    /// The applications, by name.
    pub fn apps(&self) -> &BTreeMap<AppId, App> {
        &self.apps
    }

    /// The prices where an application has none of its own.
    pub fn prices(&self) -> &PriceList {
        &self.prices
    }

    /// What the guarantees on a cluster add up to, in tokens per second.
    pub fn promised(&self, cluster: &str) -> u64 {
        self.apps
            .values()
            .filter(|app| *app.cluster == *cluster)
            .map(|app| app.quota.guaranteed.floor())
            .sum()
    }

    /// The prices for all, in full.
    pub(crate) fn cost_map(&self) -> Map<String, Value> {
        prices::to_map(&self.prices, None)
    }
}

impl Default for Policy {
    /// One cluster with the defaults and no applications.
    fn default() -> Self {
        let clusters = cluster::default_drafts();
        Self {
            clusters: assembled(clusters).unwrap_or_default(),
            apps: BTreeMap::new(),
            prices: PriceList::default(),
        }
    }
}

/// Something with a name, half read.
trait Draft {
    type Id: Ord + Clone;
    type Meant;

    /// Where it stands.
    fn path(&self) -> &str;
    /// Its name, if that is right.
    fn id(&self) -> Option<&Self::Id>;
    /// What it means, if all of it is right.
    fn meant(self) -> Option<Self::Meant>;
}

/// Reports every name that was used before and leaves its bearer out.
fn unique<D: Draft>(drafts: Vec<D>, report: &Report<'_>) -> Vec<D>
where
    D::Id: std::ops::Deref<Target = str>,
{
    let mut first: BTreeMap<D::Id, String> = BTreeMap::new();
    let mut is_first = |draft: &D| {
        let Some(id) = draft.id() else { return true };
        let at = path::join(draft.path(), "id");
        if let Some(first) = first.get(id) {
            let problem = Problem::Duplicate { first: first.clone() };
            report.add(at, problem, Some(&Value::from(&**id)), Some("a name of its own".into()));
            return false;
        }
        first.insert(id.clone(), at);
        true
    };
    drafts.into_iter().filter(|draft| is_first(draft)).collect()
}

/// Everything by name; none if anything was wrong.
fn assembled<D: Draft>(drafts: Vec<D>) -> Option<BTreeMap<D::Id, D::Meant>> {
    drafts.into_iter().map(|draft| Some((draft.id()?.clone(), draft.meant()?))).collect()
}

/// Reports every cluster on which more is guaranteed than may be.
fn report_overcommitted(clusters: &[ClusterDraft], apps: &[AppDraft], report: &Report<'_>) {
    let mut promised: BTreeMap<&ClusterId, u64> = BTreeMap::new();
    for app in apps {
        if let (Some(cluster), Some(guaranteed)) = (&app.cluster, app.guaranteed) {
            *promised.entry(cluster).or_default() += guaranteed.floor();
        }
    }
    for cluster in clusters {
        let Some((id, rate)) = cluster.id.as_ref().zip(cluster.rate) else { continue };
        let promised = promised.get(id).copied().unwrap_or(0);
        let promisable = Capacity { rate, ..Capacity::default() }.promisable().floor();
        if promised > promisable {
            let percent = Capacity::PROMISABLE.apply(100);
            let message = format!("the guarantees on {id} add up to more than {percent} % of its capacity");
            let expected = format!("at most {promisable} of {}", rate.floor());
            let at = path::join(&cluster.path, "capacity");
            report.add(at, Problem::Conflict(message), Some(&Value::from(promised)), Some(expected));
        }
    }
}

fn with_id(id: &str, mut table: Map<String, Value>) -> Value {
    table.insert("id".into(), Value::from(id));
    Value::Object(table)
}

#[cfg(test)]
pub(crate) mod tests;
