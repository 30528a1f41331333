//! Finds applications in the ledger, those too that are only scheduled to be added.

use super::document;
use crate::plane::{self, Plane};
use crate::problem::Problem;
use std::collections::BTreeSet;
use tollgate_config::policy;
use tollgate_core::account::Account;
use tollgate_core::id::{AppId, ClusterId};
use tollgate_core::units::Rate;
use tollgate_ledger::protocol::{AppView, MAX_PAGE, Scheduled, VersionedPolicy};

/// An application as the ledger has it.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    pub(crate) id: AppId,
    pub(crate) app: policy::App,
    pub(crate) view: AppView,
}

impl Found {
    fn new(cluster: &ClusterId, view: AppView) -> Self {
        let kept = &view.policy.policy;
        Self { id: kept.app.clone(), app: document::from_ledger(cluster, kept), view }
    }

    /// One that will be added when the time of that change has come.
    fn to_come(cluster: &ClusterId, change: Scheduled) -> Self {
        let view = AppView {
            policy: VersionedPolicy { version: 0, policy: change.policy.clone() },
            account: Account::default(),
            suspect_rate: Rate::ZERO,
            total_consumed: 0,
            total_requests: 0,
            by_operation: Vec::new(),
            pending: Some(change),
        };
        Self::new(cluster, view)
    }

    /// Whether it is there, and not only scheduled to be.
    pub(crate) const fn is_there(&self) -> bool {
        self.version() > 0
    }

    /// What is set aside for it: the larger of what it has and what it will have.
    pub(crate) fn promised(&self) -> Rate {
        let will = self.view.pending.as_ref().map_or(Rate::ZERO, |change| change.policy.quota.guaranteed);
        self.app.quota.guaranteed.max(will)
    }

    /// The version of its policy; 0 if it is not there yet.
    pub(crate) const fn version(&self) -> u64 {
        self.view.policy.version
    }

    /// What stands for that version in headers.
    pub(crate) fn etag(&self) -> String {
        format!("\"{}\"", self.version())
    }
}

/// The application of that name, wherever it is; if it is not there yet, as it will be.
pub(crate) async fn find(plane: &dyn Plane, name: &str) -> Result<Option<Found>, Problem> {
    let Ok(id) = AppId::new(name) else { return Ok(None) };
    let before = document::name_before(&id);
    for cluster in plane.standing().keys() {
        let page = plane.app_views(cluster, before.as_ref(), 1).await?;
        if let Some(view) = page.into_iter().find(|view| view.policy.policy.app == id) {
            return Ok(Some(Found::new(cluster, view)));
        }
    }
    Ok(all_to_come(plane).await?.into_iter().find(|found| found.id == id))
}

/// The applications that are not there yet, given those that are.
pub(crate) async fn to_come(plane: &dyn Plane, there: &[Found]) -> Result<Vec<Found>, Problem> {
    let there: BTreeSet<&AppId> = there.iter().map(|found| &found.id).collect();
    let all = all_to_come(plane).await?;
    Ok(all.into_iter().filter(|found| !there.contains(&found.id)).collect())
}

/// Applications as they will be, whether they are there or not.
async fn all_to_come(plane: &dyn Plane) -> Result<Vec<Found>, Problem> {
    let mut found = Vec::new();
    for cluster in plane.standing().keys() {
        let changes = all_scheduled(plane, cluster).await?;
        found.extend(changes.into_iter().map(|change| Found::to_come(cluster, change)));
    }
    Ok(found)
}

/// What is scheduled on a cluster, page by page.
async fn all_scheduled(plane: &dyn Plane, cluster: &ClusterId) -> Result<Vec<Scheduled>, Problem> {
    let mut all = Vec::new();
    loop {
        let skip = u32::try_from(all.len()).unwrap_or(u32::MAX);
        let page = plane.scheduled(cluster, skip, MAX_PAGE).await?;
        let is_last = page.len() < MAX_PAGE as usize;
        all.extend(page);
        if is_last {
            return Ok(all);
        }
    }
}

/// All applications that are there, by cluster and name.
pub(crate) async fn all(plane: &dyn Plane) -> Result<Vec<Found>, Problem> {
    let mut found = Vec::new();
    for cluster in plane.standing().keys() {
        let views = plane::all_apps(plane, cluster).await?;
        found.extend(views.into_iter().map(|view| Found::new(cluster, view)));
    }
    Ok(found)
}
