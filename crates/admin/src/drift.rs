//! Drift: by which share what is out differs from what the leases add up to. It is looked at now and then, since that reads all of
//! a ledger, and corrected where it is more than the tolerance.

use crate::state::Admin;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use tollgate_core::id::{AppId, ClusterId};
use tollgate_core::reconcile::{self, TOLERANCE};
use tollgate_core::units::Ratio;
use tollgate_ledger::Answer;

/// What was found of each cluster.
#[derive(Debug, Default)]
pub(crate) struct Drift {
    clusters: Mutex<BTreeMap<ClusterId, ClusterDrift>>,
}

/// What was found of a cluster.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct ClusterDrift {
    /// That of the application that had drifted most, at the last look.
    pub(crate) ratio: f64,
    /// How many corrections this node had made.
    pub(crate) corrected: u64,
}

impl Drift {
    pub(crate) fn all(&self) -> BTreeMap<ClusterId, ClusterDrift> {
        self.clusters.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn change(&self, cluster: &ClusterId, change: impl FnOnce(&mut ClusterDrift)) {
        let mut clusters = self.clusters.lock().unwrap_or_else(PoisonError::into_inner);
        change(clusters.entry(cluster.clone()).or_default());
    }
}

impl Admin {
    /// Looks at all clusters, and corrects what drifted too far. Returns by how much each application was off.
    pub(crate) async fn look_at_drift(&self) -> BTreeMap<String, f64> {
        let mut found = BTreeMap::new();
        for cluster in self.clusters() {
            let Ok(audit) = self.plane.audit(&cluster).await else { continue };
            let off = audit
                .lines
                .iter()
                .map(|line| (&line.app, reconcile::drift(line.leased, line.account.outstanding)));
            let off: Vec<(&AppId, Ratio)> = off.filter(|(_, ratio)| *ratio > Ratio::ZERO).collect();
            let worst = off.iter().map(|(_, ratio)| *ratio).max().unwrap_or(Ratio::ZERO);
            self.drift.change(&cluster, |drift| drift.ratio = worst.as_f64());
            found.extend(off.into_iter().map(|(app, ratio)| (app.to_string(), ratio.as_f64())));
            // Whether the ledger can be reached is told elsewhere; the next look tries again.
            if worst > TOLERANCE {
                let _ = self.reconcile(&cluster).await;
            }
        }
        found
    }

    /// Corrects what drifted too far, and counts it.
    pub(crate) async fn reconcile(&self, cluster: &ClusterId) -> Answer<Vec<(AppId, Ratio)>> {
        let corrected = self.plane.reconcile(cluster).await?;
        for (app, ratio) in &corrected {
            tracing::warn!(%cluster, %app, drift = ratio.as_f64(), "what is out had drifted and was corrected");
        }
        self.drift.change(cluster, |drift| drift.corrected += corrected.len() as u64);
        Ok(corrected)
    }
}
