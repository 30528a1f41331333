//! How much of what is asked for an application gets, and where it comes from.
//!
//! Each token granted takes one right and one token of headroom. Rights come, in this order, from the bucket,
//! the burst allowance and a loan; headroom from the application's own meter and then from the cluster's
//! slack, never from its reserve. A guarantee needs nobody's slack, so nobody's burst can eat it.

use crate::account::Account;
use crate::pool::Pool;
use crate::quota::{Capacity, Quota};
use crate::reason::Reason;
use crate::units::{Millis, Ratio, Tokens};

/// What is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ask {
    /// What a request is waiting for: for this much, and no more, a loan may be taken.
    pub need: Tokens,
    /// All that would be welcome, the need included.
    pub want: Tokens,
}

impl Ask {
    /// All of it is needed.
    pub const fn exactly(cost: Tokens) -> Self {
        Self { need: cost, want: cost }
    }
}

/// What the cluster allows just now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Climate {
    /// The guarantee in full; of what is asked for beyond it, this share and at most this much.
    Normal {
        /// What overload leaves of allocations above the guarantee.
        factor: Ratio,
        /// The application's share of the slack.
        slack_share: Tokens,
    },
    /// A share of the guarantee, and nothing beyond it.
    Emergency(Ratio),
}

impl Climate {
    /// Nothing is cut.
    pub const FAIR: Self = Self::Normal { factor: Ratio::ONE, slack_share: Tokens::MAX };

    /// The share of the guarantee that is in force.
    pub const fn in_force(&self) -> Ratio {
        match self {
            Self::Normal { .. } => Ratio::ONE,
            Self::Emergency(ratio) => *ratio,
        }
    }

    fn slack_for(&self, beyond: Tokens, spendable: Tokens) -> Tokens {
        match self {
            Self::Normal { factor, slack_share } => factor.of(beyond).min(spendable).min(*slack_share),
            Self::Emergency(_) => Tokens::ZERO,
        }
    }
}

/// What is granted: `bucket + allowance + loan = meter + slack`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Grant {
    /// Rights from the bucket.
    pub bucket: Tokens,
    /// Rights from the burst allowance.
    pub allowance: Tokens,
    /// Rights from a loan.
    pub loan: Tokens,
    /// Headroom from the application's meter.
    pub meter: Tokens,
    /// Headroom from the cluster's slack.
    pub slack: Tokens,
}

impl Grant {
    /// All that is granted.
    pub fn total(&self) -> Tokens {
        self.bucket.plus(self.allowance).plus(self.loan)
    }
}

/// An application before its ledger: its terms and the moment, all that a grant depends on.
#[derive(Clone, Copy, Debug)]
pub struct Counter<'a> {
    /// What the application was promised.
    pub quota: &'a Quota,
    /// What the cluster can stand.
    pub capacity: &'a Capacity,
    /// What the cluster allows just now.
    pub climate: Climate,
    /// The ledger's time.
    pub now: Millis,
}

impl Counter<'_> {
    /// As much of `ask` as there is. Both states must have been refilled up to now.
    pub fn plan(&self, account: &Account, pool: &Pool, ask: Ask) -> Grant {
        let Ask { need, want } = ask;
        let in_bucket = account.rights.min(want);
        let meter = account.meter.min(in_bucket);
        let slack = self.climate.slack_for(want.minus(meter), pool.spendable(self.capacity));

        let bucket = meter.plus(slack.min(in_bucket.minus(meter)));
        let mut left = slack.minus(bucket.minus(meter));
        let mut allowance = Tokens::ZERO;
        let mut loan = Tokens::ZERO;
        if bucket == account.rights {
            allowance = self.allowance(account).min(want.minus(bucket)).min(left);
            left = left.minus(allowance);
            loan = self.loan_room(account).min(need.minus(bucket).minus(allowance)).min(left);
        }
        let total = bucket.plus(allowance).plus(loan);
        Grant { bucket, allowance, loan, meter, slack: total.minus(meter) }
    }

    /// All of `cost` or the reason why not.
    pub fn plan_exactly(&self, account: &Account, pool: &Pool, cost: Tokens) -> Result<Grant, Reason> {
        let grant = self.plan(account, pool, Ask::exactly(cost));
        self.shortfall(account, &grant, cost).map_or(Ok(grant), Err)
    }

    /// Why a planned grant does not cover the need, if it does not.
    pub fn shortfall(&self, account: &Account, grant: &Grant, need: Tokens) -> Option<Reason> {
        (grant.total() < need).then(|| self.refusal(account, need))
    }

    /// Moves a planned grant out of both states and into the application's leases.
    pub fn grant(&self, account: &mut Account, pool: &mut Pool, grant: &Grant) {
        account.rights = account.rights.minus(grant.bucket);
        account.meter = account.meter.minus(grant.meter);
        account.allowance.draw(self.quota, grant.allowance, self.now);
        if !grant.loan.is_zero() {
            account.loan.lend(&self.quota.loan, grant.loan);
        }
        account.outstanding = account.outstanding.plus(grant.total());
        pool.slack = pool.slack.minus(grant.slack);
    }

    /// How long until `cost` can be granted from the application's own guarantee, if nobody takes anything
    /// meanwhile; `None` if the guarantee alone never will.
    pub fn wait(&self, account: &Account, cost: Tokens) -> Option<Millis> {
        let rate = self.quota.guaranteed.scaled(self.climate.in_force());
        if cost > self.quota.burst || cost > rate.per_one_second() {
            return None;
        }
        let share = if account.loan.debt.is_zero() {
            Ratio::ONE
        } else {
            Ratio::ONE.minus(self.quota.loan.repay_share)
        };
        let missing = cost.minus(account.rights.min(account.meter));
        rate.scaled(share).time_to_mint(missing)
    }

    fn allowance(&self, account: &Account) -> Tokens {
        account.allowance.left(self.quota, self.now)
    }

    fn loan_room(&self, account: &Account) -> Tokens {
        if self.quota.loan.automatic { account.loan.room(&self.quota.loan) } else { Tokens::ZERO }
    }

    fn refusal(&self, account: &Account, cost: Tokens) -> Reason {
        match self.climate {
            Climate::Emergency(Ratio::ZERO) => Reason::EmergencyBlocked,
            Climate::Emergency(_) => Reason::EmergencyQuotaExceeded,
            Climate::Normal { .. } => {
                let rights = account.rights.plus(self.allowance(account)).plus(self.loan_room(account));
                if rights < cost { Reason::AppExhausted } else { Reason::ClusterExhausted }
            }
        }
    }
}

#[cfg(test)]
mod tests;
