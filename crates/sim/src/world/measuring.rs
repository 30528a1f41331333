//! Measuring: from when on, what everybody holds meanwhile, and what it comes to.

use super::World;
use crate::chance::seconds;
use crate::measure::{AppSummary, Summary, Tiers};
use tollgate_core::units::{Ratio, Tokens};

/// Of how many pairs of nodes and applications it is looked at what is held, which looks at all of them.
const MOST_PAIRS: usize = 50_000;

impl World<'_> {
    /// From now on it is measured: the store counts its work anew, and what could pass ideally starts from what there is.
    pub(super) fn measure(&mut self) {
        self.store.count_anew();
        let time = self.store.time(self.now);
        for app in 0..self.apps.len() {
            let Some(found) = self.store.app(self.cluster_of[app], &self.apps[app]) else { continue };
            let (mut account, quota) = (found.account, found.policy.quota);
            account.refill(&quota, Ratio::ONE, time);
            // What is out, but for what was spent and not reported yet.
            let tokens = account.rights.plus(self.held_of(app));
            let window = account.allowance.opened_at.map(|at| (account.allowance.drawn, time.since(at)));
            self.watch.tenants[app].take_over(tokens, window, self.now);
        }
    }

    /// What all nodes hold of an application.
    fn held_of(&self, app: usize) -> Tokens {
        let up = self.stations.iter().zip(&self.is_up).filter(|(_, is_up)| **is_up);
        up.filter_map(|(station, _)| station.roster.find(&self.apps[app])).map(|app| app.held()).sum()
    }

    /// Looks at what everybody holds.
    #[allow(clippy::cast_precision_loss, reason = "for people")]
    pub(super) fn look(&mut self) {
        let tokens = |amount: Tokens| amount.micros() as f64 / 1e6;
        let mut tiers = Tiers::default();
        for shard in 0..self.clusters.len() {
            let Some(book) = self.store.book(shard) else { continue };
            tiers.slack += tokens(book.pool().slack);
            for app in book.apps().values() {
                tiers.rights += tokens(app.account.rights);
                tiers.outstanding += tokens(app.account.outstanding);
            }
        }
        if self.stations.len() * self.apps.len() <= MOST_PAIRS {
            let up = self.stations.iter().zip(&self.is_up).filter(|(_, is_up)| **is_up);
            let held = up.flat_map(|(station, _)| station.roster.all());
            // The sum does not depend on the order: whole millionths.
            tiers.held = held.map(|app| app.held().micros()).sum::<u64>() as f64 / 1e6;
        }
        self.tiers.push(tiers);
        let since = self.now.since(self.scenario.measured_from).get();
        self.busy = if since == 0 { 0.0 } else { self.store.worked().get() as f64 / since as f64 };
    }

    pub(super) fn summary(&mut self) -> Summary {
        let apps = self.apps.iter().zip(&self.watch.tenants).zip(&self.watch.bounds);
        let apps: Vec<AppSummary> =
            apps.map(|((id, tenant), bound)| AppSummary::of(id, tenant, bound)).collect();
        let end = self.now.min(self.scenario.duration);
        let mut summary = Summary {
            requests: apps.iter().map(|app| app.requests).sum(),
            apps,
            calls: self.watch.calls,
            bytes: self.bytes,
            busy: self.busy,
            seconds: seconds(end.since(self.scenario.measured_from)),
            shifts: Vec::new(),
            tiers: std::mem::take(&mut self.tiers),
            at_nodes: self.watch.flow.curve(),
        };
        summary.find_shifts(&self.scenario.loads, end);
        summary
    }
}
