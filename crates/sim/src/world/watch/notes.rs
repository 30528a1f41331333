//! What comes on top of rates and bursts by what happens, and what ends.

use super::super::World;
use crate::check::{Extra, Rule};
use std::collections::HashMap;
use tollgate_core::account::MAX_ELAPSED;
use tollgate_core::emergency;
use tollgate_core::units::{Millis, Nanos, Ratio, Tokens};
use tollgate_ledger::protocol::Seed;
use tollgate_node::desk::Outcome;

/// How long a lease may be spent after its end, by the time it takes a desk to look.
const GRACE: Nanos = Nanos::new(1_000_000);

impl World<'_> {
    /// What a node holds of each application of a cluster.
    pub(in crate::world) fn holdings(&self, node: usize, desk: usize) -> Vec<Tokens> {
        let roster = &self.stations[node].roster;
        let held = |app: &usize| roster.find(&self.apps[*app]).map(|app| app.held()).unwrap_or_default();
        self.apps_of[desk].iter().map(held).collect()
    }

    /// The same, if the node goes on alone: then it mints.
    pub(in crate::world) fn holdings_if_alone(&self, node: usize, desk: usize) -> Option<Vec<Tokens>> {
        self.is_alone(node, desk).then(|| self.holdings(node, desk))
    }

    /// Whether a node goes on without the ledger of a cluster.
    pub(in crate::world) fn is_alone(&self, node: usize, desk: usize) -> bool {
        let station = &self.stations[node];
        let time = station.time(self.now);
        station.counters.get(desk).is_some_and(|counter| counter.desk.is_cut_off(time))
    }

    /// What a node has more than before, and what passed meanwhile, it has minted.
    pub(in crate::world) fn note_minting(
        &mut self,
        node: usize,
        desk: usize,
        before: Option<&[Tokens]>,
        has_ended: bool,
        outcomes: &[Outcome<u64>],
    ) {
        let Some(before) = before else { return };
        let mut paid: HashMap<usize, Tokens> = HashMap::new();
        for permit in outcomes.iter().filter_map(|(_, outcome)| outcome.as_ref().ok()) {
            let Some(&app) = self.numbers.get(permit.app().id()) else { continue };
            let sum = paid.entry(app).or_default();
            *sum = sum.plus(permit.price().tokens());
        }
        let after = self.holdings(node, desk);
        for (i, (&had, &has)) in before.iter().zip(&after).enumerate() {
            let app = self.apps_of[desk][i];
            let had = if has_ended { had.min(self.watch.pocket(node, app).minted()) } else { had };
            self.note_minted(node, app, had, has.plus(paid.get(&app).copied().unwrap_or_default()));
        }
    }

    /// The same of one application: what it had, and what it has and has let through since.
    pub(in crate::world) fn note_minted(&mut self, node: usize, app: usize, had: Tokens, has: Tokens) {
        let minted = has.minus(had);
        if minted.is_zero() {
            return;
        }
        let announced =
            self.scenario.policy.apps()[&self.apps[app]].outage.rate(self.watch.bounds[app].rate());
        self.watch.bounds[app].extend(Extra::Fallback, minted, self.now);
        if self.knows_of_a_ban(node, app) {
            let what = format!("node {node} mints {minted:?} of {} in an emergency", self.apps[app]);
            return self.violate(Rule::Emergency, what);
        }
        if !self.watch.pocket(node, app).mint(minted, announced, self.now) {
            let pocket = *self.watch.pocket(node, app);
            let what = format!(
                "node {node} mints {minted:?} of {} alone at {announced}: {had:?} before, {has:?} after, {pocket:?}",
                self.apps[app]
            );
            self.violate(Rule::Fallback, what);
        }
    }

    /// Whether a node was told of an emergency in which an application gets nothing, also without the ledger.
    fn knows_of_a_ban(&self, node: usize, app: usize) -> bool {
        let priority = self.scenario.policy.apps()[&self.apps[app]].quota.priority;
        let station = &self.stations[node];
        let counter = station.counters.get(self.cluster_of[app]);
        let is_told =
            counter.is_some_and(|counter| counter.desk.standing(station.time(self.now)).is_emergency);
        is_told && emergency::ratio(priority) == Ratio::ZERO
    }

    /// If a lease ended a while ago, by a clock that the node does not know, nothing is left of it.
    pub(in crate::world) fn expire_pockets(&mut self, node: usize, desk: usize) {
        let counter = self.stations[node].counters.get(desk);
        if counter.and_then(|counter| counter.lease_end).is_some_and(|end| self.now >= end.plus(GRACE)) {
            self.end_lease(node, desk);
        }
    }

    /// A lease has ended: nothing is left of it.
    pub(in crate::world) fn end_lease(&mut self, node: usize, desk: usize) {
        self.stations[node].counters[desk].lease_end = None;
        for app in &self.apps_of[desk] {
            self.watch.pockets[node * self.watch.apps + app].expire();
        }
    }

    /// An empty store was filled by a node that may know of an earlier one, or not.
    pub(super) fn note_opening(&mut self, desk: usize, seed: &Seed) {
        for policy in &seed.apps {
            let Some(&app) = self.numbers.get(&policy.app) else { continue };
            self.watch.promise(app, policy.quota, self.now);
            if seed.remembered.is_none() && self.watch.is_opened[desk] {
                let second = self.watch.bounds[app].rate().per_one_second();
                self.watch.bounds[app].extend(Extra::Reopened, second, self.now);
            }
        }
        self.watch.is_opened[desk] = true;
    }

    /// Another store took over: it may know other policies, and has forgotten some grants.
    pub(in crate::world) fn note_takeover(&mut self) {
        for app in 0..self.apps.len() {
            let lost = std::mem::take(&mut self.watch.at_risk[app]);
            self.watch.bounds[app].extend(Extra::LostWrites, lost, self.now);
            let Some(found) = self.store.app(self.cluster_of[app], &self.apps[app]) else { continue };
            let (quota, account) = (found.policy.quota, found.account);
            self.watch.promise(app, quota, self.now);
            self.watch.overhang[app] = account.rights.plus(account.outstanding).minus(quota.burst);
        }
        self.note_forgetting();
    }

    /// The store forgets everything. What nodes hold that cannot tell it is on top, until their leases end.
    pub(in crate::world) fn note_wipe(&mut self) {
        for node in 0..self.stations.len() {
            if self.network.is_reachable(node) {
                continue;
            }
            for desk in 0..self.stations[node].counters.len() {
                for (i, held) in self.holdings(node, desk).into_iter().enumerate() {
                    self.watch.bounds[self.apps_of[desk][i]].extend(Extra::LostWrites, held, self.now);
                }
            }
        }
        self.note_forgetting();
    }

    /// Which calls the store still knows nobody can say.
    fn note_forgetting(&mut self) {
        self.watch.forgot_at = Some(self.now);
        self.watch.off.fill(None);
        for station in &mut self.stations {
            station.newest.fill((0, 0));
        }
    }

    /// The store's clock was set: it may mint, and leases may end early while they are still spent.
    pub(in crate::world) fn note_clock(&mut self, by: i64) {
        let jump = Millis::new(u64::try_from(by).unwrap_or_default()).min(MAX_ELAPSED);
        for app in 0..self.apps.len() {
            let found = self.store.app(self.cluster_of[app], &self.apps[app]);
            let out = found.map(|found| found.account.outstanding).filter(|_| by > 0).unwrap_or_default();
            let bound = &mut self.watch.bounds[app];
            let minted = bound.rate().over(jump).min(bound.burst());
            bound.extend(Extra::Clock, minted.plus(out), self.now);
        }
    }
}
