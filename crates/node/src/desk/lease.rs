//! What a node has leased of one application, what it did with it, and who waits for more.

mod alone;

pub(super) use alone::Alone;
use alone::Saving;

use super::alarm::Alarm;
use super::job::{Outcome, Refused};
use super::onlookers::Onlookers;
use crate::app::App;
use crate::dry::Spell;
use crate::permit::Permit;
use crate::tally::Spending;
use std::collections::VecDeque;
use std::sync::Arc;
use tollgate_core::cost::{Operation, Price};
use tollgate_core::decision::Tier;
use tollgate_core::demand::Demand;
use tollgate_core::lease;
use tollgate_core::reason::Reason;
use tollgate_core::units::{Millis, Nanos, Ratio, Tokens};
use tollgate_ledger::protocol::{Entry, Granted, OperationUse};

/// The most requests that wait for one application at a time.
const MAX_WAITING: usize = 1_024;

/// How long an application that nobody asks for keeps what it holds.
const IDLE: Nanos = Nanos::from_secs(5);

/// How long there may be nothing to report of what is held.
const OVERDUE: Nanos = Nanos::from_secs(1);

/// How many requests like the largest to hold for where little is known of the demand.
const FEW: u64 = 8;

/// The part of what the ledger has left that a node may hold in advance.
const SPARED: Ratio = Ratio::percent(3);

/// The node's own book about one application. The purse is what requests see; this is what it should hold.
///
/// `base` is what the purse would hold had nothing been spent since the last report. Whatever is missing was
/// spent. Should there be more, requests gave back what had been reported as spent: the surplus is spent first,
/// without a report.
#[derive(Debug)]
pub(super) struct Lease<T> {
    pub(super) app: Arc<App>,
    base: Tokens,
    /// Spent, but no longer to be seen from `base`.
    carry: Tokens,
    /// Out of the purse, to be given back with the next report.
    returning: Tokens,
    /// What the ledger believes to be out.
    leased: Tokens,
    /// What the node minted by itself while the ledger was away, and is still part of `base`.
    minted: Tokens,
    minted_at: Option<Nanos>,
    saving: Saving,
    waiting: VecDeque<Waiting<T>>,
    /// What all of `waiting` cost.
    need: Tokens,
    pub(super) onlookers: Onlookers<T>,
    demand: Demand,
    /// What was granted, as a rate.
    share: Demand,
    /// What was asked for in vain, as of the last report.
    refused: u64,
    by_operation: [Net; Operation::COUNT],
    largest: Tokens,
    /// What a request costs usually, as far as requests had to wait.
    usual: Tokens,
    used_at: Nanos,
    /// Whether the ledger has little left of it: nothing is held in advance then.
    is_scarce: bool,
    /// What the ledger had left of it.
    remaining: Tokens,
    /// Whether the ledger knows what is held.
    is_known: bool,
    reported_at: Nanos,
}

/// A request that waits.
#[derive(Debug)]
struct Waiting<T> {
    ticket: T,
    price: Price,
}

/// Spending that may be undone later than it was reported.
#[derive(Clone, Copy, Debug, Default)]
struct Net {
    requests: i64,
    cost: i64,
}

/// How much to hold, as the state of the ledger suggests.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stock {
    /// What to hold for an application that is in use.
    pub(super) reserve: Tokens,
    /// How long it has to last.
    pub(super) interval: Millis,
}

impl<T> Lease<T> {
    pub(super) fn new(app: Arc<App>, now: Nanos) -> Self {
        Self {
            refused: app.counters().refused_cost(),
            app,
            base: Tokens::ZERO,
            carry: Tokens::ZERO,
            returning: Tokens::ZERO,
            leased: Tokens::ZERO,
            minted: Tokens::ZERO,
            minted_at: None,
            saving: Saving::default(),
            waiting: VecDeque::new(),
            need: Tokens::ZERO,
            onlookers: Onlookers::new(),
            demand: Demand::new(now),
            share: Demand::new(now),
            by_operation: Default::default(),
            largest: Tokens::ZERO,
            usual: Tokens::ZERO,
            used_at: now,
            is_scarce: false,
            remaining: Tokens::MAX,
            is_known: false,
            reported_at: now,
        }
    }

    /// Puts a request in line; gives its ticket back if the line is too long.
    pub(super) fn enqueue(&mut self, ticket: T, price: Price, now: Nanos) -> Result<(), T> {
        if self.waiting.len() >= MAX_WAITING {
            return Err(ticket);
        }
        self.waiting.push_back(Waiting { ticket, price });
        self.need = self.need.plus(price.tokens());
        self.largest = self.largest.max(price.tokens());
        self.usual = follow(self.usual, price.tokens());
        self.used_at = now;
        Ok(())
    }

    pub(super) fn is_waited_for(&self) -> bool {
        !self.waiting.is_empty() || !self.onlookers.is_empty()
    }

    /// Whether there is nothing left to report, to give back or to wait for.
    pub(super) fn is_over(&self, now: Nanos) -> bool {
        !self.is_waited_for()
            && self.base.is_zero()
            && self.carry.is_zero()
            && self.returning.is_zero()
            && self.leased.is_zero()
            && self.app.held().is_zero()
            && !self.has_counted()
            && now.since(self.used_at) >= IDLE
    }

    /// Whether requests were counted of which the ledger has not heard.
    fn has_counted(&self) -> bool {
        self.app.has_counted() || self.by_operation.iter().any(Net::is_due)
    }

    /// The ledger has to be told again what is held.
    pub(super) fn present(&mut self) {
        self.is_known = false;
    }

    /// Whether there is something to tell the ledger, or to ask of it.
    pub(super) fn has_news(&self, stock: &Stock, now: Nanos) -> bool {
        let (held, target) = (self.app.held(), self.target(stock, now));
        let is_settled = self.is_known
            && !self.is_waited_for()
            && self.carry.is_zero()
            && self.returning.is_zero()
            && self.minted.is_zero()
            && held >= self.base
            && !self.has_counted();
        // Demand that falls is seen only when it is looked at.
        let is_overdue = now.since(self.reported_at) >= OVERDUE && !self.base.is_zero();
        !is_settled || is_overdue || held < target || !self.surplus(target).is_zero()
    }

    /// What is too much and can go back. What was undone after it had been reported cannot: the ledger takes back no more than it
    /// gave. It stays, and is spent first.
    fn surplus(&self, target: Tokens) -> Tokens {
        lease::surplus(self.app.held(), target).min(self.base.minus(self.returning))
    }

    /// Reports what was spent, gives back what is too much, and asks for what is missing.
    pub(super) fn report(&mut self, stock: &Stock, alarm: Alarm, now: Nanos) -> Entry {
        self.reported_at = now;
        self.drop_minted();
        self.collect_owed();
        self.collect_withheld();
        let target = self.target(stock, now);
        if !self.is_waited_for() {
            self.give_back(self.surplus(target));
        }
        let looked_for = self.looked_for();
        let entry = self.account(alarm, now);
        self.observe(entry.spent, now);
        let terms = self.app.terms();
        let is_wanted = terms.policy.enabled;
        let target = self.target(stock, now).max(looked_for);
        let want = if is_wanted { target.minus(entry.holding) } else { Tokens::ZERO };
        Entry { need: self.need.minus(entry.holding), want, ..entry }
    }

    /// What has to be there for those who look to find enough, when those who wait have been served first. What goes back is there for
    /// others before it is looked for again.
    fn looked_for(&mut self) -> Tokens {
        if self.is_returning() {
            return Tokens::ZERO;
        }
        let burst = self.app.terms().policy.quota.burst;
        self.onlookers.ask().map_or(Tokens::ZERO, |largest| self.need.plus(largest).min(burst))
    }

    /// What was only looked for goes back at once: somebody may need it at another node.
    pub(super) fn return_looked_for(&mut self, stock: &Stock, now: Nanos) {
        if self.waiting.is_empty() {
            self.give_back(self.surplus(self.target(stock, now)));
        }
    }

    /// Reports what was spent and gives all the rest back.
    pub(super) fn close(&mut self, alarm: Alarm, now: Nanos) -> Entry {
        self.drop_minted();
        self.collect_owed();
        self.collect_withheld();
        self.give_back(Tokens::MAX);
        self.account(alarm, now)
    }

    /// What was spent and what is left, from one look at the purse.
    fn account(&mut self, alarm: Alarm, now: Nanos) -> Entry {
        let held = self.app.held();
        let left = self.base.minus(self.returning);
        let by_operation = self.take_by_operation();
        let entry = Entry {
            spent: self.carry.plus(left.minus(held)),
            requests: by_operation.iter().map(|spent| spent.requests).sum(),
            by_operation,
            returned: self.returning,
            holding: held.min(left),
            fallback: self.fallback(alarm, now),
            ..Entry::idle(self.app.id().clone())
        };
        (self.base, self.carry, self.returning) = (entry.holding, Tokens::ZERO, Tokens::ZERO);
        self.leased = entry.holding;
        entry
    }

    /// Takes up what the ledger granted and serves those who wait.
    pub(super) fn receive(
        &mut self,
        granted: &Granted,
        threshold: Tokens,
        alarm: Alarm,
        now: Nanos,
        out: &mut Vec<Outcome<T>>,
    ) {
        // What was spent until now was minted before it was granted.
        self.minted = self.minted.min(self.app.held());
        self.base = self.base.plus(granted.granted);
        self.leased = self.leased.plus(granted.granted);
        self.observe_share(granted.granted, alarm, now);
        self.app.set_remaining(granted.remaining);
        (self.remaining, self.is_known) = (granted.remaining, true);
        self.is_scarce = granted.refusal.is_some() || granted.remaining.is_zero();
        self.serve(granted.granted, Tier::App, out);
        self.app.purse().watch(if self.is_scarce { Tokens::ZERO } else { threshold });
    }

    /// A grant that has expired before it arrived: nothing may be spent of it.
    pub(super) fn receive_late(&mut self, granted: &Granted) {
        self.is_known = false;
        self.leased = self.leased.plus(granted.granted);
        self.app.set_remaining(granted.remaining);
    }

    /// Lets those who wait pass, first come first served, as far as `pot` and the purse go.
    pub(super) fn serve(&mut self, mut pot: Tokens, tier: Tier, out: &mut Vec<Outcome<T>>) {
        while let Some(first) = self.waiting.front() {
            let cost = first.price.tokens();
            pot = pot.plus(self.app.purse().take_up_to(cost.minus(pot)));
            if pot < cost {
                break;
            }
            pot = pot.minus(cost);
            self.need = self.need.minus(cost);
            if let Some(Waiting { ticket, price }) = self.waiting.pop_front() {
                self.app.spent(price.operation).count(price.cost());
                out.push((ticket, Ok(Permit::paid(Arc::clone(&self.app), price).by(tier))));
            }
        }
        self.app.purse().put(pot, Tokens::MAX);
    }

    /// Whether the ledger has little left.
    pub(super) const fn is_scarce(&self) -> bool {
        self.is_scarce
    }

    /// Whether a request that waits may be lent what is missing. What is asked for in advance never is, so that only the answer to a
    /// request tells when there is an end to it.
    pub(super) fn may_borrow(&self) -> bool {
        self.app.terms().policy.quota.loan.automatic
    }

    /// Whoever needs that much need not ask for the time of `pause`, and is told to come back after `wait`.
    pub(super) fn run_dry(
        &self,
        reason: Reason,
        need: Tokens,
        pause: Nanos,
        wait: Option<Nanos>,
        now: Nanos,
    ) {
        match reason {
            // Not a matter of tokens: the terms decide.
            Reason::AppDisabled => {}
            Reason::UnknownApp => self.app.retire(),
            _ => {
                let come_back = wait.map_or(Nanos::MAX, |wait| now.plus(wait));
                let until = now.plus(pause);
                // A bucket that is full, leases included, mints nothing until it is told what was spent of them.
                let is_full = self.base.plus(self.remaining) >= self.app.terms().policy.quota.burst;
                let since = if is_full { until } else { now };
                self.app.dry().set(&Spell { reason, need, since, until, come_back });
            }
        }
    }

    /// Whoever needs more may ask.
    pub(super) fn flow(&self) {
        if self.app.terms().policy.enabled {
            self.app.dry().clear();
        }
    }

    /// Refuses all who wait.
    pub(super) fn refuse(&mut self, refused: Refused, out: &mut Vec<Outcome<T>>) {
        out.extend(self.waiting.drain(..).map(|waiting| (waiting.ticket, Err(refused))));
        self.need = Tokens::ZERO;
    }

    /// Whoever needs as much need not ask, if those who wait are refused. Where all that may be lent is lent, that is as much as the first of
    /// them; else all of them together: tokens come up all the time, and those who ask for few at a node that is far away would get none.
    pub(super) fn refused_need(&self) -> Tokens {
        if self.may_borrow() { self.first_in_line() } else { self.need }
    }

    fn first_in_line(&self) -> Tokens {
        self.waiting.front().map_or(Tokens::ZERO, |first| first.price.tokens())
    }

    /// Takes tokens out of the purse, to be given back with the next report.
    pub(super) fn give_back(&mut self, most: Tokens) {
        self.returning = self.returning.plus(self.app.purse().take_up_to(most));
    }

    /// Whether something is to be given back.
    pub(super) fn is_returning(&self) -> bool {
        !self.returning.is_zero()
    }

    /// The ledger has written the lease off: only what the node minted itself is left.
    pub(super) fn void(&mut self) {
        self.is_known = false;
        let held = self.app.purse().take_up_to(Tokens::MAX);
        let kept = held.min(self.minted);
        let unspent = held.plus(self.app.collect_withheld());
        self.carry = self.carry.plus(self.base.minus(self.returning).minus(unspent));
        self.returning = Tokens::ZERO;
        self.base = kept;
        self.app.purse().put(kept, Tokens::MAX);
    }

    /// A report that will never be answered: what it said must be said again.
    pub(super) fn say_again(&mut self, entry: &Entry) {
        self.carry = self.carry.plus(entry.spent);
    }

    /// The ledger is back: what the node minted itself and did not spend is worth nothing any more.
    fn drop_minted(&mut self) {
        let dropped = self.app.purse().take_up_to(self.minted);
        self.base = self.base.minus(dropped);
        (self.minted, self.minted_at) = (Tokens::ZERO, None);
    }

    /// What was put back and may not be spent here goes back, unless it was reported as spent already.
    fn collect_withheld(&mut self) {
        let most = self.base.minus(self.returning).minus(self.app.held());
        self.returning = self.returning.plus(self.app.collect_withheld().min(most));
    }

    fn collect_owed(&mut self) {
        let owed = self.app.collect_owed();
        self.carry = self.carry.plus(owed.minus(self.app.purse().take_up_to(owed)));
    }

    /// What the node should hold: what covers the demand until the next report, and some reserve where there is
    /// plenty.
    ///
    /// Less than a request is of no use here, and may be what is missing at another node. So where less than one is
    /// expected until the next report, it will have to ask, and nothing is kept for it but out of plenty.
    pub(super) fn target(&self, stock: &Stock, now: Nanos) -> Tokens {
        let policy = &self.app.terms().policy;
        let rate = self.demand.rate();
        let is_dense = rate.over(stock.interval) >= self.usual;
        let mut target = if is_dense { lease::cover(rate, stock.interval) } else { Tokens::ZERO };
        if !self.is_scarce && now.since(self.used_at) < IDLE {
            let second = rate.per_one_second().min(stock.reserve);
            let few_requests =
                Tokens::from_micros(self.largest.micros().saturating_mul(FEW)).min(stock.reserve);
            // Little that is left is left for whoever comes next, at whichever node.
            let ahead = second.max(few_requests).min(SPARED.of(self.remaining));
            if ahead >= self.usual {
                target = target.max(ahead);
            }
        }
        target.max(self.need).min(policy.quota.burst)
    }

    fn observe(&mut self, spent: Tokens, now: Nanos) {
        let refused = self.app.counters().refused_cost();
        let in_vain = Tokens::from_micros(refused.wrapping_sub(self.refused));
        self.refused = refused;
        let asked = spent.plus(in_vain);
        if !asked.is_zero() {
            self.used_at = now;
        }
        self.demand.observe(asked, now);
    }

    /// What is granted in an emergency is a part of the share already, of which the same part is kept.
    fn observe_share(&mut self, granted: Tokens, alarm: Alarm, now: Nanos) {
        let mut share = self.share;
        share.observe(granted, now);
        if !alarm.is_on(now) || share.rate() > self.share.rate() {
            self.share = share;
        } else {
            self.share.pass_over(now);
        }
    }

    /// What was spent on each operation; what was undone since an earlier report is set against what is reported now.
    fn take_by_operation(&mut self) -> Vec<OperationUse> {
        self.collect_counted();
        let nets = self.by_operation.iter_mut().zip(Operation::ALL);
        nets.filter_map(|(net, operation)| net.take(operation)).collect()
    }

    /// Empties tallies in which there would soon be too much. What was in them is reported with the next report.
    pub(super) fn relieve(&mut self) {
        if self.app.tally().is_half_full() || self.app.undone().is_half_full() {
            self.collect_counted();
        }
    }

    fn collect_counted(&mut self) {
        let spent = self.app.tally().drain();
        self.app.counters().spent(&spent);
        let undone = self.app.undone().drain();
        for (net, (spent, undone)) in self.by_operation.iter_mut().zip(spent.iter().zip(&undone)) {
            net.add(spent, 1);
            net.add(undone, -1);
        }
    }
}

/// A moving average over the last eight or so.
fn follow(usual: Tokens, cost: Tokens) -> Tokens {
    if usual.is_zero() { cost } else { Tokens::from_micros(usual.micros() / 8 * 7 + cost.micros() / 8) }
}

impl Net {
    fn add(&mut self, spending: &Spending, sign: i64) {
        self.requests += sign * i64::try_from(spending.requests).unwrap_or(i64::MAX);
        self.cost += sign * i64::try_from(spending.cost).unwrap_or(i64::MAX);
    }

    /// Whether there is something to report.
    const fn is_due(&self) -> bool {
        self.requests > 0 || self.cost > 0
    }

    fn take(&mut self, operation: Operation) -> Option<OperationUse> {
        let (requests, cost) = (self.requests.max(0), self.cost.max(0));
        self.requests -= requests;
        self.cost -= cost;
        let used = OperationUse {
            operation,
            requests: requests.unsigned_abs(),
            cost: Tokens::whole(cost.unsigned_abs()),
        };
        (requests > 0 || cost > 0).then_some(used)
    }
}

#[cfg(test)]
mod tests;
