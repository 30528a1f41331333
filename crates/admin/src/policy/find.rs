//! Finds applications in the ledger.

use super::document;
use crate::plane::{self, Plane};
use crate::problem::Problem;
use tollgate_config::policy;
use tollgate_core::id::{AppId, ClusterId};
use tollgate_ledger::protocol::AppView;

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

    /// The version of its policy.
    pub(crate) const fn version(&self) -> u64 {
        self.view.policy.version
    }

    /// What stands for that version in headers.
    pub(crate) fn etag(&self) -> String {
        format!("\"{}\"", self.version())
    }
}

/// The application of that name, wherever it is.
pub(crate) async fn find(plane: &dyn Plane, name: &str) -> Result<Option<Found>, Problem> {
    let Ok(id) = AppId::new(name) else { return Ok(None) };
    let before = document::name_before(&id);
    for cluster in plane.standing().keys() {
        let page = plane.app_views(cluster, before.as_ref(), 1).await?;
        if let Some(view) = page.into_iter().find(|view| view.policy.policy.app == id) {
            return Ok(Some(Found::new(cluster, view)));
        }
    }
    Ok(None)
}

/// All applications, by cluster and name.
pub(crate) async fn all(plane: &dyn Plane) -> Result<Vec<Found>, Problem> {
    let mut found = Vec::new();
    for cluster in plane.standing().keys() {
        let views = plane::all_apps(plane, cluster).await?;
        found.extend(views.into_iter().map(|view| Found::new(cluster, view)));
    }
    Ok(found)
}
