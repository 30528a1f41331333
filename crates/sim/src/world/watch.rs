//! Whoever watches: keeps the accounts that the rules are checked by.

use super::World;
use crate::check::{Bound, Extra, Guarantee, Pocket, Rule, Violation};
use crate::measure::Tenant;
use crate::scenario::Scenario;
use tollgate_core::emergency;
use tollgate_core::quota::Quota;
use tollgate_core::reason::Reason;
use tollgate_core::units::{Nanos, Ratio, Tokens};
use tollgate_ledger::{Book, LedgerError};
use tollgate_node::desk::{Job, Outcome, Reply};

/// How long an application has to have stayed within its guarantee before it is held to it.
const WITHIN: Nanos = Nanos::from_secs(3);

/// How long a fault is felt after it is over: leases end, buckets fill up.
const AFTERMATH: Nanos = Nanos::from_secs(8);

/// How many requests like the largest a node keeps tokens for.
const KEPT: u64 = 8;

/// How long a lease may be spent after its end, by the time it takes a desk to look.
const GRACE: Nanos = Nanos::new(1_000_000);

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
    /// Calls to the ledger while it is measured.
    pub(super) calls: u64,
    reached: u64,
    measured_from: Nanos,
    /// What was granted since the copy that a failover goes back to, if there is one.
    pub(super) at_risk: Vec<Tokens>,
    pub(super) is_at_risk: bool,
    /// What disturbs everybody just now, and when that last changed.
    pub(super) disturbed: Disturbed,
    pub(super) nodes: Vec<Disturbed>,
    /// Since when there is an emergency.
    pub(super) emergency: Option<Nanos>,
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

    fn is_calm(&self, now: Nanos) -> bool {
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
            calls: 0,
            reached: 0,
            measured_from: scenario.measured_from,
            at_risk: vec![Tokens::ZERO; apps],
            is_at_risk: false,
            disturbed: Disturbed { by: 0, at: Some(Nanos::ZERO) },
            nodes: vec![Disturbed::default(); scenario.nodes],
            emergency: None,
        }
    }

    pub(super) fn begin_life(&mut self, node: usize) {
        self.pockets[node * self.apps..(node + 1) * self.apps].fill(Pocket::default());
    }

    pub(super) fn pocket(&mut self, node: usize, app: usize) -> &mut Pocket {
        &mut self.pockets[node * self.apps + app]
    }

    pub(super) fn count_call(&mut self, now: Nanos) {
        self.calls += u64::from(now >= self.measured_from);
    }

    pub(super) fn ask(&mut self, node: usize, app: usize, cost: u64, now: Nanos) {
        self.tenants[app].ask(node, cost, now);
        self.guarantees[app].ask(Tokens::whole(cost), now);
        self.largest[app] = self.largest[app].max(cost);
    }

    pub(super) fn pay(&mut self, node: usize, app: usize, cost: Tokens) -> Option<Tokens> {
        self.pocket(node, app).pass(cost)
    }

    pub(super) fn undo(&mut self, node: usize, app: usize, cost: Tokens) {
        self.pocket(node, app).undo(cost);
    }

    pub(super) fn pass(&mut self, node: usize, app: usize, cost: u64, now: Nanos) -> Option<Tokens> {
        self.tenants[app].pass(node, cost, now);
        self.bounds[app].pass(Tokens::whole(cost), now)
    }

    pub(super) fn refuse(&mut self, app: usize, reason: Reason, now: Nanos) {
        self.tenants[app].refuse(reason, now);
    }

    pub(super) fn change(&mut self, app: usize, quota: Quota, now: Nanos) {
        self.bounds[app].change(quota.guaranteed, quota.burst, now);
        self.guarantees[app].change(quota.guaranteed, now);
        self.tenants[app].change(quota);
    }
}

impl World<'_> {
    /// What a call did to the book.
    pub(super) fn watch_call(
        &mut self,
        node: usize,
        desk: usize,
        job: &Job,
        answer: &Result<Reply, LedgerError>,
        booked: &[Tokens],
    ) {
        self.watch.reached += 1;
        if let (Job::Seed(seed), Ok(_)) = (job, answer)
            && seed.remembered.is_none()
            && self.store.book(desk).is_some_and(|book| self.is_fresh(desk, book))
        {
            self.note_reopening(desk);
        }
        if let (Job::Seed(_), Ok(_)) = (job, answer) {
            self.note_policies(desk);
        }
        if let (Job::Sync(sync) | Job::Depart(sync), Ok(reply)) = (job, answer) {
            for (i, entry) in sync.entries.iter().enumerate() {
                let Some(&app) = self.numbers.get(&entry.app) else { continue };
                let Some(found) = self.store.app(desk, &entry.app) else { continue };
                let now_booked = found.flows.drawn.plus(found.flows.loaned);
                self.watch.bounds[app].extend(Extra::Booked, now_booked.minus(booked[i]));
                if self.watch.is_at_risk
                    && let Reply::Sync(reply) = reply
                    && let Some(granted) = reply.entries.get(i)
                {
                    self.watch.at_risk[app] = self.watch.at_risk[app].plus(granted.granted);
                }
                let (account, flows) = (found.account, found.flows);
                let lost: Tokens =
                    [flows.suspected, flows.expired, flows.overrun, flows.dropped].into_iter().sum();
                if std::mem::replace(&mut self.watch.losses[app], lost) != lost {
                    // What its nodes spent without the ledger, and what was lost with them, it has asked for as well.
                    self.watch.guarantees[app].exceed(self.now);
                }
                let on_top = self.watch.bounds[app].extras()[Extra::Booked as usize];
                let most = self.watch.bounds[app].burst().plus(on_top);
                if account.rights.plus(account.outstanding) > most.max(found.policy.quota.burst.plus(on_top))
                {
                    let what = format!("{} has {account:?} after a call of node {node}", entry.app);
                    return self.violate(Rule::BurstCap, what);
                }
                if !flows.balances(&account) {
                    let what =
                        format!("{} has {account:?} and {flows:?} after a call of node {node}", entry.app);
                    return self.violate(Rule::Balance, what);
                }
            }
        }
        if self.watch.reached.is_multiple_of(self.terms.audit_every) {
            self.audit(desk);
        }
    }

    /// The whole balance, on a copy: looking changes nothing.
    pub(super) fn audit(&mut self, desk: usize) {
        let time = self.store.time(self.now);
        let Some(mut book) = self.store.book(desk).cloned() else { return };
        let audit = book.audit(time);
        if !audit.balances() {
            let line = audit.lines.iter().find(|line| !line.balances());
            let (slack, meters, depth) = (audit.slack, audit.meters, audit.depth);
            let what = format!("slack {slack:?} meters {meters:?} depth {depth:?} {line:?}");
            return self.violate(Rule::Balance, what);
        }
        if self.store.scripts_balance(desk, self.now) == Some(false) {
            self.violate(Rule::Scripts, "the books of the scripts do not balance".into());
        }
    }

    /// A call that arrives again must change nothing, and be answered as it was or not at all.
    pub(super) fn watch_repetition(
        &mut self,
        call: u64,
        desk: usize,
        before: Option<&Book>,
        answer: &Result<Reply, LedgerError>,
    ) {
        let Some(first) = self.calls.get(&call) else { return };
        if !matches!(first.job(), Job::Sync(_)) {
            return;
        }
        let has_changed = before != self.store.book(desk);
        let is_same = first.answer() == Some(answer);
        // After a failover or a wipe the first time may never have been, as far as the store knows.
        let may_differ = self.watch.disturbed.at.is_some_and(|at| at > first.reached_at());
        let is_first = !matches!(first.answer(), Some(Ok(_)));
        let is_refused =
            matches!(answer, Err(LedgerError::Stale | LedgerError::Fenced | LedgerError::Unseeded));
        if (has_changed || !is_same && !is_refused) && !may_differ && !is_first {
            let what = format!("call {call} arrived twice: {:?}, then {answer:?}", first.answer());
            self.violate(Rule::Idempotency, what);
        }
    }

    /// Somebody who stays within its guarantee was refused.
    pub(super) fn watch_guarantee(&mut self, node: usize, app: usize, reason: Reason) {
        let watch = &self.watch;
        let is_calm = watch.disturbed.is_calm(self.now) && watch.nodes[node].is_calm(self.now);
        // Whoever is switched off, and when an emergency ends, is not a matter of tokens.
        let is_ordered =
            matches!(reason, Reason::AppDisabled | Reason::EmergencyBlocked | Reason::EmergencyQuotaExceeded);
        // What all nodes keep for a few requests each must fit into the burst, or it is missing where it is needed: see
        // the tests of what is known to be wrong.
        let kept = Tokens::whole(self.watch.largest[app] * KEPT * self.stations.len() as u64);
        let is_roomy = kept <= watch.bounds[app].burst();
        if !is_ordered && is_calm && is_roomy && watch.guarantees[app].is_within(WITHIN, self.now) {
            let what =
                format!("{} was refused at node {node} within its guarantee: {reason}", self.apps[app]);
            self.violate(Rule::Guarantee, what);
        }
    }

    /// Somebody passed who keeps nothing in an emergency.
    pub(super) fn watch_emergency(&mut self, node: usize, app: usize) {
        let Some(since) = self.watch.emergency else { return };
        let Some(policy) = self.scenario.policy.apps().get(&self.apps[app]) else { return };
        // A report, a round trip, and the wait for the next if the news came a moment too late.
        let told = since.plus(Nanos::new(Nanos::from(self.scenario.manners.sync_interval).get() * 5 / 2));
        let is_calm = self.watch.disturbed.by == 0
            && self.watch.nodes[node].is_calm(self.now)
            && self.watch.disturbed.at.is_none_or(|at| since.since(at) >= AFTERMATH || at == since);
        if is_calm && self.now > told && emergency::ratio(policy.quota.priority) == Ratio::ZERO {
            let what = format!(
                "{} passed at node {node}, {:?} after it was declared",
                self.apps[app],
                self.now.since(since)
            );
            self.violate(Rule::Emergency, what);
        }
    }

    /// What a node holds of each application of a cluster.
    pub(super) fn holdings(&self, node: usize, desk: usize) -> Vec<Tokens> {
        let roster = &self.stations[node].roster;
        let held = |app: &usize| roster.find(&self.apps[*app]).map(|app| app.held()).unwrap_or_default();
        self.apps_of[desk].iter().map(held).collect()
    }

    /// The same, if the node goes on alone: then it mints.
    pub(super) fn holdings_if_alone(&self, node: usize, desk: usize) -> Option<Vec<Tokens>> {
        let station = &self.stations[node];
        let time = station.time(self.now);
        let is_alone = station.counters.get(desk)?.desk.is_cut_off(time);
        is_alone.then(|| self.holdings(node, desk))
    }

    pub(super) fn note_minting(
        &mut self,
        node: usize,
        desk: usize,
        before: Option<&[Tokens]>,
        has_ended: bool,
        outcomes: &[Outcome<u64>],
    ) {
        let paid = |app: &str| -> Tokens {
            let permits = outcomes.iter().filter_map(|(_, outcome)| outcome.as_ref().ok());
            permits.filter(|permit| **permit.app().id() == *app).map(|permit| permit.price().tokens()).sum()
        };
        if before.is_some() {
            let paid: Vec<Tokens> = self.apps.iter().map(|app| paid(app)).collect();
            self.note_minting_of(node, desk, before, has_ended, |app| paid[app]);
        }
    }

    /// What a node has more than before, and what passed meanwhile, it has minted.
    pub(super) fn note_minting_of(
        &mut self,
        node: usize,
        desk: usize,
        before: Option<&[Tokens]>,
        has_ended: bool,
        paid: impl Fn(usize) -> Tokens,
    ) {
        let Some(before) = before else { return };
        let after = self.holdings(node, desk);
        for (i, &had) in before.iter().enumerate() {
            let app = self.apps_of[desk][i];
            let had = if has_ended { had.min(self.watch.pocket(node, app).minted()) } else { had };
            let minted = after[i].plus(paid(app)).minus(had);
            if minted.is_zero() {
                continue;
            }
            let Some(handle) = self.stations[node].roster.find(&self.apps[app]) else { continue };
            let announced = handle.terms().policy.outage.rate(self.watch.bounds[app].rate());
            self.watch.bounds[app].extend(Extra::Fallback, minted);
            if !self.watch.pocket(node, app).mint(minted, announced, self.now) {
                let (after, pocket) = (after[i], *self.watch.pocket(node, app));
                let what = format!(
                    "node {node} mints {minted:?} of {} alone at {announced}: {had:?} before, {after:?} after, {pocket:?}, ended {has_ended}",
                    self.apps[app]
                );
                return self.violate(Rule::Fallback, what);
            }
        }
    }

    /// If a lease ended a while ago, by a clock that the node does not know, nothing is left of it.
    pub(super) fn expire_pockets(&mut self, node: usize, desk: usize) {
        let counter = self.stations[node].counters.get(desk);
        if counter.and_then(|counter| counter.lease_end).is_some_and(|end| self.now >= end.plus(GRACE)) {
            self.end_lease(node, desk);
        }
    }

    /// A lease has ended: nothing is left of it.
    pub(super) fn end_lease(&mut self, node: usize, desk: usize) {
        self.stations[node].counters[desk].lease_end = None;
        for app in &self.apps_of[desk] {
            self.watch.pockets[node * self.watch.apps + app].expire();
        }
    }

    /// An empty store was opened by somebody who knew of no earlier one.
    fn note_reopening(&mut self, desk: usize) {
        for &app in &self.apps_of[desk] {
            let second = self.watch.bounds[app].rate().per_one_second();
            self.watch.bounds[app].extend(Extra::Reopened, second);
        }
    }

    /// The store may know other policies than before.
    pub(super) fn note_policies(&mut self, desk: usize) {
        for i in 0..self.apps_of[desk].len() {
            let app = self.apps_of[desk][i];
            let Some(quota) = self.store.app(desk, &self.apps[app]).map(|app| app.policy.quota) else {
                continue;
            };
            let bound = &self.watch.bounds[app];
            if (bound.rate(), bound.burst()) != (quota.guaranteed, quota.burst) {
                self.watch.change(app, quota, self.now);
            }
        }
    }

    fn is_fresh(&self, desk: usize, book: &Book) -> bool {
        let _ = desk;
        self.now > Nanos::from_secs(1) && book.version() == self.apps_of[desk].len() as u64
    }
}
