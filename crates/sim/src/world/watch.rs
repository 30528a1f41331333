//! Whoever watches: keeps the accounts that the rules are checked by.

use super::World;
use super::station::Counter;
use crate::check::{Bound, Extra, Guarantee, Pocket, Rule, Violation};
use crate::measure::Tenant;
use crate::scenario::Scenario;
use tollgate_core::account::MAX_ELAPSED;
use tollgate_core::emergency;
use tollgate_core::quota::Quota;
use tollgate_core::reason::Reason;
use tollgate_core::units::{Millis, Nanos, Ratio, Tokens};
use tollgate_ledger::book::App;
use tollgate_ledger::protocol::{Entry, Seed};
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

impl World<'_> {
    /// What a call did to the book.
    pub(super) fn watch_call(
        &mut self,
        node: usize,
        desk: usize,
        job: &Job,
        answer: &Result<Reply, LedgerError>,
        before: &Before,
    ) {
        self.watch.reached += 1;
        match (job, answer) {
            (Job::Seed(seed), Ok(_)) if before.was_empty => self.note_opening(desk, seed),
            (Job::Sync(sync) | Job::Depart(sync), Ok(reply)) => {
                if matches!(reply, Reply::Sync(reply) if reply.emergency.is_on()) {
                    // Much use starts one by itself.
                    self.watch.shake(self.now);
                }
                for (i, entry) in sync.entries.iter().enumerate() {
                    let granted = match reply {
                        Reply::Sync(reply) => reply.entries.get(i).map(|granted| granted.granted),
                        _ => None,
                    };
                    self.watch_entry(
                        node,
                        desk,
                        entry,
                        granted.unwrap_or_default(),
                        before.is_new,
                        before.booked[i],
                    );
                }
            }
            _ => {}
        }
        if self.watch.reached.is_multiple_of(self.terms.audit_every) {
            self.audit(desk);
        }
    }

    /// What a call did to one application.
    fn watch_entry(
        &mut self,
        node: usize,
        desk: usize,
        entry: &Entry,
        granted: Tokens,
        is_new: bool,
        before: Booked,
    ) {
        let Some(&app) = self.numbers.get(&entry.app) else { return };
        let Some(found) = self.store.app(desk, &entry.app) else { return };
        let (account, flows) = (found.account, found.flows);
        let after = Booked::of(found);
        let on_top = after.on_top.minus(before.on_top);
        self.watch.bounds[app].extend(Extra::Booked, on_top);
        if self.watch.is_at_risk {
            self.watch.at_risk[app] = self.watch.at_risk[app].plus(granted);
        }
        if std::mem::replace(&mut self.watch.losses[app], after.lost) != after.lost {
            // What its nodes spent without the ledger, and what was lost with them, it has asked for as well.
            self.watch.guarantees[app].exceed(self.now);
        }
        let what =
            |what: &str| format!("{what} {}: {account:?} {flows:?} after a call of node {node}", entry.app);
        let above = account.rights.plus(account.outstanding).minus(self.watch.bounds[app].burst());
        let overhang = self.watch.overhang[app].plus(on_top);
        self.watch.overhang[app] = above.min(overhang);
        if above > overhang {
            return self.violate(Rule::BurstCap, what("more than the burst of"));
        }
        if !flows.balances(&account) {
            return self.violate(Rule::Balance, what("the books do not balance of"));
        }
        if is_new && after.spent.minus(before.spent) != entry.spent {
            let what = what(&format!("{:?} were reported of", entry.spent));
            return self.violate(Rule::Reporting, what);
        }
        let is_agreed = self.watch.pocket(node, app).is_agreed() && self.watch.anybody.is_calm(self.now);
        if is_new && is_agreed && after.written_off > before.written_off {
            let lost = after.written_off.minus(before.written_off);
            self.violate(Rule::Return, what(&format!("{lost:?} written off for no reason by {entry:?}")));
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
        let may_differ = self.watch.forgot_at.is_some_and(|at| at >= first.reached_at());
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
        // What all nodes keep for a few requests each must fit into the burst and into a second of the guarantee, or it is missing where it is needed: see
        // the tests of what is known to be wrong.
        let kept = Tokens::whole(self.watch.largest[app] * KEPT * self.stations.len() as u64);
        let bound = &watch.bounds[app];
        let is_roomy = kept <= bound.burst().min(bound.rate().per_one_second());
        if !is_ordered
            && watch.emergency.is_none()
            && is_calm
            && is_roomy
            && watch.guarantees[app].is_within(WITHIN, self.now)
        {
            let desk = self.cluster_of[app];
            let account = self.store.app(desk, &self.apps[app]).map(|app| app.account);
            let slack = self.store.book(desk).map(|book| book.pool().slack);
            let what = format!(
                "{} was refused at node {node} within its guarantee: {reason}; the ledger has {account:?} and {slack:?}",
                self.apps[app]
            );
            self.violate(Rule::Guarantee, what);
        }
    }

    /// Somebody passed who keeps nothing in an emergency.
    pub(super) fn watch_emergency(&mut self, node: usize, app: usize) {
        let Some((since, until)) = self.watch.emergency else { return };
        let Some(policy) = self.scenario.policy.apps().get(&self.apps[app]) else { return };
        let manners = &self.scenario.manners;
        let is_told = |counter: &Counter| counter.hinted_at.is_some_and(|at| at >= since);
        let interval = if self.stations[node].counters.iter().all(is_told) {
            manners.sync_interval
        } else {
            // Nobody told it: it hears of it with its next report, which may take its time.
            manners.calm_interval
        };
        // A report, a round trip, and the wait for the next if the news came a moment too late.
        let told = since.plus(Nanos::new(Nanos::from(interval).get() * 5 / 2));
        let is_calm =
            self.watch.is_heard && self.watch.disturbed.by == 0 && self.watch.nodes[node].is_calm(self.now);
        if is_calm
            && self.now > told
            && self.now < until
            && emergency::ratio(policy.quota.priority) == Ratio::ZERO
        {
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
            let announced =
                self.scenario.policy.apps()[&self.apps[app]].outage.rate(self.watch.bounds[app].rate());
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

    /// An empty store was filled by a node that may know of an earlier one, or not.
    fn note_opening(&mut self, desk: usize, seed: &Seed) {
        for policy in &seed.apps {
            let Some(&app) = self.numbers.get(&policy.app) else { continue };
            self.watch.promise(app, policy.quota, self.now);
            if seed.remembered.is_none() && self.watch.is_opened[desk] {
                let second = self.watch.bounds[app].rate().per_one_second();
                self.watch.bounds[app].extend(Extra::Reopened, second);
            }
        }
        self.watch.is_opened[desk] = true;
    }

    /// Another store took over: it may know other policies, and has forgotten some grants.
    pub(super) fn note_takeover(&mut self) {
        for app in 0..self.apps.len() {
            let lost = std::mem::take(&mut self.watch.at_risk[app]);
            self.watch.bounds[app].extend(Extra::LostWrites, lost);
            let Some(found) = self.store.app(self.cluster_of[app], &self.apps[app]) else { continue };
            let (quota, account) = (found.policy.quota, found.account);
            self.watch.promise(app, quota, self.now);
            self.watch.overhang[app] = account.rights.plus(account.outstanding).minus(quota.burst);
        }
        self.watch.forgot_at = Some(self.now);
    }

    /// The store forgets everything. What nodes hold that cannot tell it is on top, until their leases end.
    pub(super) fn note_wipe(&mut self) {
        for node in 0..self.stations.len() {
            if self.network.is_reachable(node) {
                continue;
            }
            for desk in 0..self.stations[node].counters.len() {
                for (i, held) in self.holdings(node, desk).into_iter().enumerate() {
                    self.watch.bounds[self.apps_of[desk][i]].extend(Extra::LostWrites, held);
                }
            }
        }
        self.watch.forgot_at = Some(self.now);
    }

    /// The store's clock was set: it may mint, and leases may end early while they are still spent.
    pub(super) fn note_clock(&mut self, by: i64) {
        let jump = Millis::new(u64::try_from(by).unwrap_or_default()).min(MAX_ELAPSED);
        for app in 0..self.apps.len() {
            let found = self.store.app(self.cluster_of[app], &self.apps[app]);
            let out = found.map(|found| found.account.outstanding).filter(|_| by > 0).unwrap_or_default();
            let bound = &mut self.watch.bounds[app];
            let minted = bound.rate().over(jump).min(bound.burst());
            bound.extend(Extra::Clock, minted.plus(out));
        }
    }
}

/// What is known before a call reaches the store.
pub(super) struct Before {
    /// Whether there was nothing.
    pub(super) was_empty: bool,
    /// Whether the store must take it for a call that it has not answered yet.
    pub(super) is_new: bool,
    /// What was booked for the applications of the call.
    pub(super) booked: Vec<Booked>,
}

/// What is booked for an application.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Booked {
    /// Drawn from the allowance, and borrowed.
    on_top: Tokens,
    spent: Tokens,
    written_off: Tokens,
    /// By what nodes did without the ledger, and by lost memory.
    lost: Tokens,
}

impl Booked {
    pub(super) fn of(app: &App) -> Self {
        let flows = &app.flows;
        Self {
            on_top: flows.drawn.plus(flows.loaned),
            spent: flows.spent,
            written_off: flows.expired,
            lost: [flows.suspected, flows.expired, flows.overrun, flows.dropped].into_iter().sum(),
        }
    }
}
