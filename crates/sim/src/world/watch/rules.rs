//! The rules that are checked when a call reaches the store and when a request is decided.

use super::super::World;
use super::super::station::Counter;
use crate::check::{Extra, Rule};
use crate::measure::Way;
use tollgate_core::emergency;
use tollgate_core::reason::Reason;
use tollgate_core::units::{Nanos, Ratio, Tokens};
use tollgate_ledger::book::App;
use tollgate_ledger::protocol::Entry;
use tollgate_ledger::{Book, LedgerError};
use tollgate_node::desk::{Job, Reply};

/// How long an application has to have stayed within its guarantee before it is held to it.
const WITHIN: Nanos = Nanos::from_secs(3);

/// How many requests like the largest a node keeps tokens for.
const KEPT: u64 = 8;

impl World<'_> {
    /// What a call did to the book.
    pub(in crate::world) fn watch_call(
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
                    if !before.is_old {
                        self.note_flow(desk, entry, granted.unwrap_or_default(), before.booked[i]);
                    }
                }
            }
            _ => {}
        }
        let is_close = self.events >= self.terms.closely_from;
        if is_close || self.watch.reached.is_multiple_of(self.terms.audit_every) {
            self.audit(desk);
            self.watch.note_audit(desk, self.events);
        }
    }

    /// What a call moved between the ledger and a node.
    fn note_flow(&mut self, desk: usize, entry: &Entry, granted: Tokens, before: Booked) {
        let Some(&app) = self.numbers.get(&entry.app) else { return };
        let Some(after) = self.store.app(desk, &entry.app).map(Booked::of) else { return };
        let flow = &mut self.watch.tenants[app].flow;
        flow.add(Way::Granted, granted, self.now);
        flow.add(Way::Spent, after.spent.minus(before.spent), self.now);
        flow.add(Way::Returned, entry.returned, self.now);
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
        self.watch.bounds[app].extend(Extra::Booked, on_top, self.now);
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
    pub(in crate::world) fn audit(&mut self, desk: usize) {
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
    pub(in crate::world) fn watch_repetition(
        &mut self,
        call: u64,
        desk: usize,
        before: Option<&Book>,
        is_old: bool,
        answer: &Result<Reply, LedgerError>,
    ) {
        let Some(first) = self.calls.get(&call) else { return };
        if !matches!(first.job(), Job::Sync(_) | Job::Depart(_)) {
            return;
        }
        let has_changed = before != self.store.book(desk);
        if is_old && has_changed {
            let what = format!("call {call} came after it had been answered, or a later one: {answer:?}");
            return self.violate(Rule::Idempotency, what);
        }
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
    pub(in crate::world) fn watch_guarantee(&mut self, node: usize, app: usize, reason: Reason) {
        let watch = &self.watch;
        let is_calm = watch.disturbed.is_calm(self.now) && watch.nodes[node].is_calm(self.now);
        // Whoever is switched off, and when an emergency ends, is not a matter of tokens.
        let is_ordered =
            matches!(reason, Reason::AppDisabled | Reason::EmergencyBlocked | Reason::EmergencyQuotaExceeded);
        // What all nodes keep for a few requests each must fit into the burst and into a second of the guarantee, or it may
        // be missing where it is needed.
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
    pub(in crate::world) fn watch_emergency(&mut self, node: usize, app: usize) {
        let Some((since, until)) = self.watch.emergency else { return };
        let Some(policy) = self.scenario.policy.apps().get(&self.apps[app]) else { return };
        let told = self.told(node, since);
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

    /// Somebody passed who is switched off.
    pub(in crate::world) fn watch_switch(&mut self, node: usize, app: usize) {
        let Some(since) = self.watch.off[app] else { return };
        let is_calm = self.watch.disturbed.by == 0 && self.watch.nodes[node].is_calm(self.now);
        if is_calm && self.now > self.told(node, since) {
            let ago = self.now.since(since);
            let what = format!("{} passed at node {node}, {ago:?} after it was switched off", self.apps[app]);
            self.violate(Rule::Switch, what);
        }
    }

    /// When a node has heard of a change at the latest.
    fn told(&self, node: usize, since: Nanos) -> Nanos {
        let manners = &self.scenario.manners;
        // A report, a round trip, and the wait for the next if the news came a moment too late.
        let reported = |from: Nanos, interval| from.plus(Nanos::new(Nanos::from(interval).get() * 5 / 2));
        // If nobody tells it, it hears of it with its next report, which may take its time.
        let unasked = reported(since, manners.calm_interval);
        let told = |counter: &Counter| {
            let hinted_at = counter.hinted_at.filter(|at| *at >= since);
            hinted_at.map_or(unasked, |at| unasked.min(reported(at, manners.sync_interval)))
        };
        self.stations[node].counters.iter().map(told).max().unwrap_or(unasked)
    }
}

/// What is known before a call reaches the store.
pub(in crate::world) struct Before {
    /// Whether there was nothing.
    pub(in crate::world) was_empty: bool,
    /// Whether the store must take it for a call that it has not answered yet.
    pub(in crate::world) is_new: bool,
    /// Whether the store knows that it has answered this call, or a later one.
    pub(in crate::world) is_old: bool,
    /// What was booked for the applications of the call.
    pub(in crate::world) booked: Vec<Booked>,
}

/// What is booked for an application.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::world) struct Booked {
    /// Drawn from the allowance, and borrowed.
    on_top: Tokens,
    spent: Tokens,
    written_off: Tokens,
    /// By what nodes did without the ledger, and by lost memory.
    lost: Tokens,
}

impl Booked {
    pub(in crate::world) fn of(app: &App) -> Self {
        let flows = &app.flows;
        Self {
            on_top: flows.drawn.plus(flows.loaned),
            spent: flows.spent,
            written_off: flows.expired,
            lost: [flows.suspected, flows.expired, flows.overrun, flows.dropped].into_iter().sum(),
        }
    }
}
