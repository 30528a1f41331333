//! Whoever watches: keeps the accounts that the rules are checked by.

mod notes;
mod rules;

pub(super) use rules::{Before, Booked};

use crate::check::{Bound, Guarantee, Pocket, Violation};
use crate::measure::{Stream, Tenant, Way};
use crate::scenario::Scenario;
use tollgate_core::quota::Quota;
use tollgate_core::reason::Reason;
use tollgate_core::units::{Nanos, Tokens};

/// How long a fault is felt after it is over: leases end, buckets fill up.
const AFTERMATH: Nanos = Nanos::from_secs(8);

/// The accounts.
pub(crate) struct Watch {
    pub(super) violation: Option<Violation>,
    pub(super) bounds: Vec<Bound>,
    pub(super) tenants: Vec<Tenant>,
    guarantees: Vec<Guarantee>,
    /// The largest request of each application so far.
    largest: Vec<u64>,
    /// What each application lost so far by what its nodes did without the ledger, and by lost memory.
    losses: Vec<Tokens>,
    /// By node, then application.
    pockets: Vec<Pocket>,
    apps: usize,
    /// For each cluster, the event after which its whole balance was last right.
    pub(super) audited: Vec<u64>,
    /// What came to all nodes, and went from them.
    pub(super) flow: Stream,
    /// Calls to the ledger while it is measured.
    pub(super) calls: u64,
    reached: u64,
    measured_from: Nanos,
    ends_at: Nanos,
    /// What was granted since the copy that a failover goes back to, if there is one.
    pub(super) at_risk: Vec<Tokens>,
    pub(super) is_at_risk: bool,
    /// How far rights and leases of each application may be above its burst.
    pub(super) overhang: Vec<Tokens>,
    /// Whether a cluster has ever been there.
    is_opened: Vec<bool>,
    /// When the store last lost something.
    pub(super) forgot_at: Option<Nanos>,
    /// What disturbs all nodes, each of them, and any of them.
    pub(super) disturbed: Disturbed,
    nodes: Vec<Disturbed>,
    anybody: Disturbed,
    /// Since when there is an emergency, and until when for sure.
    pub(super) emergency: Option<(Nanos, Nanos)>,
    /// Since when each application is switched off, if everybody hears of that in time.
    pub(super) off: Vec<Option<Nanos>>,
    /// Whether everything was well when it was declared: then everybody hears of it in time.
    pub(super) is_heard: bool,
}

/// Faults that are felt, and when one last began or ended.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Disturbed {
    pub(super) by: u32,
    pub(super) at: Option<Nanos>,
}

impl Disturbed {
    pub(super) const fn begin(&mut self, now: Nanos) {
        self.by += 1;
        self.at = Some(now);
    }

    pub(super) const fn end(&mut self, now: Nanos) {
        self.by -= 1;
        self.at = Some(now);
    }

    pub(super) fn is_calm(&self, now: Nanos) -> bool {
        self.by == 0 && self.at.is_none_or(|at| now.since(at) >= AFTERMATH)
    }
}

impl Watch {
    pub(super) fn new(scenario: &Scenario) -> Self {
        let quotas: Vec<Quota> = scenario.policy.apps().values().map(|app| app.quota).collect();
        let apps = quotas.len();
        let tenant = |quota: &Quota| Tenant::new(*quota, scenario.nodes, scenario.measured_from);
        Self {
            violation: None,
            bounds: quotas.iter().map(|quota| Bound::new(quota.guaranteed, quota.burst)).collect(),
            tenants: quotas.iter().map(tenant).collect(),
            guarantees: quotas.iter().map(|quota| Guarantee::new(quota.guaranteed)).collect(),
            largest: vec![0; apps],
            losses: vec![Tokens::ZERO; apps],
            pockets: vec![Pocket::default(); scenario.nodes * apps],
            apps,
            audited: vec![0; scenario.policy.clusters().len()],
            flow: Stream::default(),
            calls: 0,
            reached: 0,
            measured_from: scenario.measured_from,
            ends_at: scenario.duration,
            at_risk: vec![Tokens::ZERO; apps],
            is_at_risk: false,
            overhang: vec![Tokens::ZERO; apps],
            is_opened: vec![false; scenario.policy.clusters().len()],
            forgot_at: None,
            disturbed: Disturbed { by: 0, at: Some(Nanos::ZERO) },
            nodes: vec![Disturbed::default(); scenario.nodes],
            anybody: Disturbed { by: 0, at: Some(Nanos::ZERO) },
            emergency: None,
            off: vec![None; apps],
            is_heard: false,
        }
    }

    pub(super) fn begin_life(&mut self, node: usize) {
        self.pockets[node * self.apps..(node + 1) * self.apps].fill(Pocket::default());
    }

    /// Something begins that all nodes feel.
    pub(super) const fn disturb(&mut self, now: Nanos) {
        self.disturbed.begin(now);
        self.anybody.begin(now);
    }

    /// It is over.
    pub(super) const fn calm(&mut self, now: Nanos) {
        self.disturbed.end(now);
        self.anybody.end(now);
    }

    /// Something happens that all nodes feel for a while.
    pub(super) const fn shake(&mut self, now: Nanos) {
        self.disturbed.at = Some(now);
        self.anybody.at = Some(now);
    }

    pub(super) fn disturb_node(&mut self, node: usize, now: Nanos) {
        self.nodes[node].begin(now);
        self.anybody.begin(now);
    }

    pub(super) fn calm_node(&mut self, node: usize, now: Nanos) {
        self.nodes[node].end(now);
        self.anybody.end(now);
    }

    pub(super) fn shake_node(&mut self, node: usize, now: Nanos) {
        self.nodes[node].at = Some(now);
        self.anybody.at = Some(now);
    }

    pub(super) fn pocket(&mut self, node: usize, app: usize) -> &mut Pocket {
        &mut self.pockets[node * self.apps + app]
    }

    /// The whole balance of a cluster was checked.
    pub(super) fn note_audit(&mut self, desk: usize, event: u64) {
        if self.violation.is_none() {
            self.audited[desk] = event;
        }
    }

    pub(super) fn count_call(&mut self, now: Nanos) {
        self.calls += u64::from(self.is_measured(now));
    }

    /// Whether what happens now is measured.
    pub(super) fn is_measured(&self, now: Nanos) -> bool {
        now >= self.measured_from && now < self.ends_at
    }

    pub(super) fn ask(&mut self, node: usize, app: usize, cost: u64, now: Nanos) {
        self.tenants[app].ask(node, cost, now);
        self.guarantees[app].ask(Tokens::whole(cost), now);
        self.largest[app] = self.largest[app].max(cost);
    }

    /// A request asks for more than the node has.
    pub(super) fn want(&mut self, node: usize, app: usize, cost: Tokens) {
        let burst = self.bounds[app].burst();
        self.pocket(node, app).ask(cost, burst);
    }

    pub(super) fn pay(&mut self, node: usize, app: usize, cost: Tokens) -> Option<Tokens> {
        self.pocket(node, app).pass(cost)
    }

    pub(super) fn undo(&mut self, node: usize, app: usize, cost: Tokens) {
        self.pocket(node, app).undo(cost);
    }

    pub(super) fn pass(&mut self, node: usize, app: usize, cost: u64, now: Nanos) -> Option<Tokens> {
        self.flow.add(Way::Spent, Tokens::whole(cost), now);
        self.tenants[app].pass(node, cost, now);
        self.bounds[app].pass(Tokens::whole(cost), now)
    }

    pub(super) fn refuse(&mut self, app: usize, reason: Reason, now: Nanos) {
        self.tenants[app].refuse(reason, now);
    }

    /// Another promise is in force, or the same.
    pub(super) fn promise(&mut self, app: usize, quota: Quota, now: Nanos) {
        let bound = &self.bounds[app];
        if (bound.rate(), bound.burst()) == (quota.guaranteed, quota.burst) {
            return;
        }
        self.overhang[app] = self.overhang[app].plus(bound.burst().minus(quota.burst));
        self.bounds[app].change(quota.guaranteed, quota.burst, now);
        self.guarantees[app].change(quota.guaranteed, now);
        self.tenants[app].change(quota);
    }
}
