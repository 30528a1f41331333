//! One application in the book.

use super::flows::Flows;
use super::operations::{self, Operations};
use crate::protocol::{AppPolicy, Carry, OperationUse};
use tollgate_core::account::Account;
use tollgate_core::borrow::{Loan, Repayment};
use tollgate_core::burst::Allowance;
use tollgate_core::grant::{Climate, Counter, Grant};
use tollgate_core::pool::Pool;
use tollgate_core::quota::{LoanTerms, Quota};
use tollgate_core::reservation::Settlement;
use tollgate_core::units::{Millis, Rate, Tokens};

/// An application: its policy, its account and its books.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
pub struct App {
    /// The policy in force.
    pub policy: AppPolicy,
    /// The version of the policy.
    pub version: u64,
    /// The version it came into being with: leases of a namesake that was deleted before are void.
    pub since: u64,
    /// The epoch it was last seen in: what it holds from an earlier one is void.
    pub epoch: u64,
    /// What it holds.
    pub account: Account,
    /// How it came to hold that.
    pub flows: Flows,
    /// What was spent in all, in whole tokens; the rest is in `consumed_rest`.
    pub total_consumed: u64,
    /// The fraction of a token spent beyond `total_consumed`.
    pub consumed_rest: Tokens,
    /// Requests in all.
    pub total_requests: u64,
    /// Both by operation, as far as nodes reported it.
    pub operations: Operations,
    /// What it took from slack in the second of `slack_second`.
    pub slack_used: Tokens,
    /// Which second that was.
    pub slack_second: u64,
    /// What nodes that are cut off are thought to let through.
    pub suspects: Suspects,
}

/// Nodes that fell silent, and may be running on their own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
pub struct Suspects {
    /// What they let through, all together.
    pub rate: Rate,
    /// Until when that is believed.
    pub until: Millis,
    /// What was set aside for it, and has not been reported as spent yet.
    pub aside: Tokens,
}

impl App {
    /// A new application, which has what `headroom` the cluster could spare for its first second.
    pub fn open(policy: AppPolicy, version: u64, epoch: u64, headroom: Tokens, now: Millis) -> Self {
        let account = Account::open(&policy.quota, headroom, now);
        Self::with_account(policy, version, epoch, account)
    }

    /// An application that has lost everything and starts from nothing.
    pub fn empty(policy: AppPolicy, version: u64, epoch: u64, now: Millis) -> Self {
        Self::with_account(policy, version, epoch, Account { refilled_at: now, ..Account::default() })
    }

    fn with_account(policy: AppPolicy, version: u64, epoch: u64, account: Account) -> Self {
        Self {
            policy,
            version,
            since: version,
            epoch,
            flows: Flows::open(&account),
            account,
            total_consumed: 0,
            consumed_rest: Tokens::ZERO,
            total_requests: 0,
            operations: Operations::default(),
            slack_used: Tokens::ZERO,
            slack_second: 0,
            suspects: Suspects::default(),
        }
    }

    /// What it is promised.
    pub const fn quota(&self) -> &Quota {
        &self.policy.quota
    }

    /// Brings the account up to now; returns the headroom that spilled.
    pub fn refill(&mut self, climate: &Climate, epoch: u64, now: Millis) -> Tokens {
        if self.epoch != epoch {
            self.epoch = epoch;
            self.forget(now);
        }
        let since = self.account.refilled_at;
        let refill = self.account.refill(&self.policy.quota, climate.in_force(), now);
        self.flows.minted = self.flows.minted.plus(refill.minted);
        self.flows.lost = self.flows.lost.plus(refill.lost);
        self.flows.repaid = self.flows.repaid.plus(refill.repaid);
        self.set_aside(since, now);
        self.flows.close_if_large(&self.account);
        refill.spilled
    }

    /// Moves a planned grant out of the account and into leases.
    pub fn grant(&mut self, counter: &Counter<'_>, pool: &mut Pool, grant: &Grant) {
        counter.grant(&mut self.account, pool, grant);
        self.flows.drawn = self.flows.drawn.plus(grant.allowance);
        self.flows.loaned = self.flows.loaned.plus(grant.loan);
        self.slack_used = self.slack_used.plus(grant.slack);
    }

    /// Spends what is out in leases.
    pub fn spend(&mut self, amount: Tokens, requests: u64) {
        self.account.outstanding = self.account.outstanding.minus(amount);
        self.count(amount, requests);
    }

    /// Takes note of what was spent on which operation.
    pub fn note(&mut self, by_operation: &[OperationUse]) {
        self.operations.count(by_operation);
    }

    /// Spends what was never leased: what was set aside for it, and then from the bucket as far as that goes.
    pub fn spend_unleased(&mut self, amount: Tokens, now: Millis) {
        let covered = self.take_aside(amount, now);
        let rest = amount.minus(covered);
        let had = rest.min(self.account.rights);
        self.account.rights = self.account.rights.minus(had);
        self.flows.overrun = self.flows.overrun.plus(rest.minus(had));
        self.count(amount, 0);
    }

    /// One node more is suspected of going on alone, and of letting so much through.
    pub fn suspect(&mut self, fallback: Rate, until: Millis) {
        if self.suspects.rate.is_zero() {
            self.suspects.aside = Tokens::ZERO;
        }
        self.suspects.rate = self.suspects.rate.plus(fallback);
        self.suspects.until = self.suspects.until.max(until);
    }

    /// What was set aside is spent after all. The books may have been closed since: then nobody knows.
    fn take_aside(&mut self, amount: Tokens, now: Millis) -> Tokens {
        if now >= self.suspects.until {
            return Tokens::ZERO;
        }
        let covered = amount.min(self.suspects.aside).min(self.flows.suspected);
        self.suspects.aside = self.suspects.aside.minus(covered);
        self.flows.suspected = self.flows.suspected.minus(covered);
        covered
    }

    /// Takes unspent tokens back from a lease; returns the headroom that found no room.
    pub fn take_back(&mut self, climate: &Climate, unspent: Tokens) -> Tokens {
        let (lost, spilled) = self.account.take_back(&self.policy.quota, climate.in_force(), unspent);
        self.flows.lost = self.flows.lost.plus(lost);
        spilled
    }

    /// Writes off what is in a lease that expired.
    pub fn write_off(&mut self, amount: Tokens) {
        let amount = amount.min(self.account.outstanding);
        self.account.outstanding = self.account.outstanding.minus(amount);
        self.flows.expired = self.flows.expired.plus(amount);
    }

    /// Takes up what a node holds and the ledger does not know of, as far as the burst allows.
    pub fn adopt(&mut self, amount: Tokens) -> Tokens {
        let adopted = amount.min(self.account.room(&self.policy.quota));
        self.account.outstanding = self.account.outstanding.plus(adopted);
        self.flows.adopted = self.flows.adopted.plus(adopted);
        let room = self.account.room(&self.policy.quota);
        self.drop_rights_above(room);
        adopted
    }

    /// Borrows into the bucket; returns the debt it makes.
    pub fn borrow(&mut self, terms: &LoanTerms, amount: Tokens) -> Tokens {
        self.account.rights = self.account.rights.plus(amount);
        self.flows.loaned = self.flows.loaned.plus(amount);
        self.account.loan.lend(terms, amount)
    }

    /// Pays back from the bucket; returns what was paid and the headroom that returns to the cluster.
    pub fn repay(&mut self, amount: Tokens) -> (Repayment, Tokens) {
        let repayment = self.account.loan.repay(amount.min(self.account.rights));
        self.account.rights = self.account.rights.minus(repayment.paid);
        self.flows.repaid = self.flows.repaid.plus(repayment.paid);
        let headroom = repayment.paid.min(self.account.meter);
        self.account.meter = self.account.meter.minus(headroom);
        (repayment, headroom)
    }

    /// Settles a reservation, which was spent when it was made; returns the headroom that found no room.
    pub fn settle(&mut self, climate: &Climate, settlement: &Settlement) -> Tokens {
        let Settlement { refund, charged, owed } = *settlement;
        // Back into a lease of nobody's, from which it is taken back.
        self.uncount(refund);
        self.account.outstanding = self.account.outstanding.plus(refund);
        let spilled = self.take_back(climate, refund);
        self.account.rights = self.account.rights.minus(charged);
        self.account.loan.debt = self.account.loan.debt.plus(owed);
        self.flows.loaned = self.flows.loaned.plus(owed);
        self.count(charged.plus(owed), 0);
        spilled
    }

    /// Sets what is out to what it was found to be.
    pub fn correct(&mut self, outstanding: Tokens) {
        let was = self.account.outstanding;
        self.flows.dropped = self.flows.dropped.plus(was.minus(outstanding));
        self.flows.adopted = self.flows.adopted.plus(outstanding.minus(was));
        self.account.outstanding = outstanding;
        let room = self.account.room(&self.policy.quota);
        self.drop_rights_above(room);
    }

    /// Puts another policy in force; returns the headroom that the new meter cannot hold.
    pub fn change(&mut self, policy: AppPolicy, version: u64, carry: Carry) -> Tokens {
        let (old, new) = (self.policy.quota.burst, policy.quota.burst);
        self.policy = policy;
        self.version = version;
        let room = self.account.room(&self.policy.quota);
        match carry {
            Carry::Keep => self.drop_rights_above(room),
            Carry::Scale => self.set_rights(self.account.rights.proportion(new, old).min(room)),
            Carry::Reset => self.set_rights(self.policy.quota.guaranteed.per_one_second().min(room)),
        }
        let meter = self.account.meter.min(self.policy.quota.guaranteed.per_one_second());
        let spilled = self.account.meter.minus(meter);
        self.account.meter = meter;
        spilled
    }

    /// Starts the bucket over, as a new application would.
    pub fn reset(&mut self) {
        let room = self.account.room(&self.policy.quota);
        self.set_rights(self.policy.quota.guaranteed.per_one_second().min(room));
        self.account.loan = Loan::default();
        self.account.allowance = Allowance::default();
    }

    /// Loses everything, as when the ledger finds that it has forgotten what it granted.
    fn forget(&mut self, now: Millis) {
        self.drop_rights_above(Tokens::ZERO);
        self.flows.dropped = self.flows.dropped.plus(self.account.outstanding);
        self.account.outstanding = Tokens::ZERO;
        self.account.meter = Tokens::ZERO;
        self.account.refilled_at = now;
        self.suspects = Suspects::default();
    }

    /// Burns what nodes that are cut off are thought to have let through since the last look.
    fn set_aside(&mut self, since: Millis, now: Millis) {
        let Suspects { rate, until, .. } = self.suspects;
        if rate.is_zero() {
            return;
        }
        let thought = rate.over(until.min(now).since(since)).min(self.account.rights);
        self.account.rights = self.account.rights.minus(thought);
        self.account.meter = self.account.meter.minus(thought);
        self.flows.suspected = self.flows.suspected.plus(thought);
        self.suspects.aside = self.suspects.aside.plus(thought);
        if now >= until {
            self.suspects = Suspects::default();
        }
    }

    fn set_rights(&mut self, rights: Tokens) {
        self.flows.dropped = self.flows.dropped.plus(self.account.rights.minus(rights));
        self.flows.opened = self.flows.opened.plus(rights.minus(self.account.rights));
        self.account.rights = rights;
    }

    fn drop_rights_above(&mut self, most: Tokens) {
        if self.account.rights > most {
            self.set_rights(most);
        }
    }

    fn count(&mut self, amount: Tokens, requests: u64) {
        self.flows.spent = self.flows.spent.plus(amount);
        self.total_requests = operations::add(self.total_requests, requests);
        let rest = self.consumed_rest.plus(amount);
        self.total_consumed = operations::add(self.total_consumed, rest.floor());
        self.consumed_rest = rest.minus(Tokens::whole(rest.floor()));
    }

    /// Takes back what was counted as spent. The books may have been closed since: then it came from before.
    fn uncount(&mut self, amount: Tokens) {
        let in_these = amount.min(self.flows.spent);
        self.flows.spent = self.flows.spent.minus(in_these);
        self.flows.opened = self.flows.opened.plus(amount.minus(in_these));
        let total = Tokens::from_micros(self.consumed_rest.micros());
        let whole = amount.minus(total).ceil();
        self.total_consumed = self.total_consumed.saturating_sub(whole);
        self.consumed_rest = total.plus(Tokens::whole(whole)).minus(amount);
    }
}
