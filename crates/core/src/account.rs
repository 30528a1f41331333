//! L2: an application's account of rights and private headroom.
//!
//! **Rights** are what it was promised and has saved: minted at the guarantee, kept up to the burst, leases
//! included. The **meter** is its private share of what the hardware can do: minted at the same rate, but
//! capacity cannot be saved for later, so it holds at most one second's worth; what does not fit spills into
//! the cluster's slack, where others can use it.

use crate::borrow::Loan;
use crate::burst::Allowance;
use crate::quota::Quota;
use crate::units::{Millis, Rate, Ratio, Tokens};

/// Time a ledger did not notice counts at most this long: a clock that jumps ahead mints no more.
pub const MAX_ELAPSED: Millis = Millis::from_secs(3_600);

/// No refill mints more than this at once, so that the sums of many of them stay exact: a second of the largest guarantee.
pub const MAX_MINTED: Tokens = Rate::MAX.per_one_second();

/// The state of one application.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Account {
    /// Rights in the bucket.
    pub rights: Tokens,
    /// Private headroom.
    pub meter: Tokens,
    /// Rights that are out in leases.
    pub outstanding: Tokens,
    /// What was drawn of the burst allowance.
    pub allowance: Allowance,
    /// What was borrowed and is owed.
    pub loan: Loan,
    /// When it was last refilled.
    pub refilled_at: Millis,
}

/// What a refill did. `minted = kept + lost + repaid` for rights, `minted = metered + spilled` for headroom.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Refill {
    /// What the guarantee minted.
    pub minted: Tokens,
    /// Rights that did not fit under the burst.
    pub lost: Tokens,
    /// Rights that went into paying back.
    pub repaid: Tokens,
    /// Headroom for the cluster's slack: what the meter could not hold, and what paid back.
    pub spilled: Tokens,
}

impl Account {
    /// A new application starts with one second of its guarantee, and with the headroom for it that the
    /// cluster could spare.
    pub fn open(quota: &Quota, headroom: Tokens, now: Millis) -> Self {
        let second = quota.guaranteed.per_one_second();
        Self {
            rights: second.min(quota.burst),
            meter: headroom.min(second),
            refilled_at: now,
            ..Self::default()
        }
    }

    /// Mints what has accrued since the last refill, with `in_force` of the guarantee in force.
    pub fn refill(&mut self, quota: &Quota, in_force: Ratio, now: Millis) -> Refill {
        let elapsed = now.since(self.refilled_at).min(MAX_ELAPSED);
        // A clock that stepped back mints nothing now, and does not stop the minting from here on.
        self.refilled_at = now;
        self.allowance.notice(now);

        let rate = quota.guaranteed.scaled(in_force);
        let minted = rate.over(elapsed).min(MAX_MINTED);
        let repaid = self.loan.repay(quota.loan.repay_share.of(minted)).paid;
        let lost = self.save(minted.minus(repaid), quota);
        let spilled = repaid.plus(self.meter_in(minted.minus(repaid), rate));
        Refill { minted, lost, repaid, spilled }
    }

    /// Takes back what a lease did not spend; returns the rights and the headroom that found no room here.
    pub fn take_back(&mut self, quota: &Quota, in_force: Ratio, unspent: Tokens) -> (Tokens, Tokens) {
        let unspent = unspent.min(self.outstanding);
        self.outstanding = self.outstanding.minus(unspent);
        (self.save(unspent, quota), self.meter_in(unspent, quota.guaranteed.scaled(in_force)))
    }

    /// Rights it may hold: leases count against the burst too.
    pub const fn room(&self, quota: &Quota) -> Tokens {
        quota.burst.minus(self.outstanding)
    }

    fn save(&mut self, amount: Tokens, quota: &Quota) -> Tokens {
        let room = self.room(quota);
        let kept = amount.min(room.minus(self.rights));
        let lost = amount.minus(kept).plus(self.rights.minus(room));
        self.rights = self.rights.plus(kept).min(room);
        lost
    }

    fn meter_in(&mut self, amount: Tokens, rate: Rate) -> Tokens {
        let sum = self.meter.plus(amount);
        self.meter = sum.min(rate.per_one_second());
        sum.minus(self.meter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test::{any_account, any_quota, quota};
    use proptest::prelude::*;

    #[test]
    fn starts_with_one_second_of_the_guarantee() {
        let quota = quota(20_000, 80_000);
        let account = Account::open(&quota, Tokens::MAX, Millis::new(5));
        assert_eq!((account.rights, account.meter), (Tokens::whole(20_000), Tokens::whole(20_000)));
    }

    #[test]
    fn a_clock_that_steps_back_mints_nothing_and_goes_on() {
        let quota = quota(1_000, 5_000);
        let mut account = Account { refilled_at: Millis::new(10_000), ..Account::default() };
        assert_eq!(account.refill(&quota, Ratio::ONE, Millis::new(4_000)), Refill::default());
        account.refill(&quota, Ratio::ONE, Millis::new(5_000));
        assert_eq!(account.rights, Tokens::whole(1_000));
    }

    #[test]
    fn half_the_refill_pays_the_debt() {
        let quota = quota(1_000, 5_000);
        let mut account = Account::default();
        account.loan.lend(&quota.loan, Tokens::whole(300));
        let refill = account.refill(&quota, Ratio::ONE, Millis::from_secs(1));
        assert_eq!(refill.repaid, Tokens::whole(360), "300 and interest");
        assert_eq!(account.rights, Tokens::whole(640));
        assert_eq!(refill.spilled, Tokens::whole(360), "it returns to the cluster");
        assert_eq!(account.loan, Loan::default());
    }

    proptest! {
        #[test]
        fn p03_refill_is_the_formula(quota in any_quota(), start in 0..200_000u64, ms in 0..100_000u64) {
            let start = Tokens::whole(start).min(quota.burst);
            let mut account = Account { rights: start, ..Account::default() };
            account.refill(&quota, Ratio::ONE, Millis::new(ms));
            let formula = start.plus(quota.guaranteed.over(Millis::new(ms))).min(quota.burst);
            prop_assert_eq!(account.rights, formula);
        }

        /// Looking often or seldom refills the same: nothing is lost between the looks.
        #[test]
        fn p03_refill_does_not_depend_on_the_call_rate(
            quota in any_quota(), ratio in 0..=100u32, steps in prop::collection::vec(0..50u64, 1..100),
        ) {
            let in_force = Ratio::percent(ratio);
            let (mut often, mut once) = (Account::default(), Account::default());
            let mut now = 0;
            for step in &steps {
                now += step;
                often.refill(&quota, in_force, Millis::new(now));
            }
            once.refill(&quota, in_force, Millis::new(now));
            prop_assert_eq!((often.rights, often.meter), (once.rights, once.meter));
        }

        #[test]
        fn p04_rights_and_leases_never_exceed_the_burst(
            (quota, mut account) in any_account(), ms in any::<u64>(), unspent in 0..400_000u64,
        ) {
            account.refill(&quota, Ratio::ONE, Millis::new(ms));
            prop_assert!(account.rights.plus(account.outstanding) <= quota.burst);
            account.take_back(&quota, Ratio::ONE, Tokens::whole(unspent));
            prop_assert!(account.rights.plus(account.outstanding) <= quota.burst);
            prop_assert!(account.meter <= quota.guaranteed.per_one_second());
        }

        #[test]
        fn a_refill_balances((quota, mut account) in any_account(), ratio in 0..=100u32, ms in 0..10_000_000u64) {
            let before = account;
            let now = account.refilled_at.plus(Millis::new(ms));
            let refill = account.refill(&quota, Ratio::percent(ratio), now);
            let rights = before.rights.plus(refill.minted);
            prop_assert_eq!(rights, account.rights.plus(refill.lost).plus(refill.repaid));
            let headroom = before.meter.plus(refill.minted);
            prop_assert_eq!(headroom, account.meter.plus(refill.spilled));
        }

        #[test]
        fn taking_back_balances((quota, mut account) in any_account(), unspent in 0..400_000u64) {
            let before = account;
            let unspent = Tokens::whole(unspent).min(account.outstanding);
            let (lost, spilled) = account.take_back(&quota, Ratio::ONE, unspent);
            prop_assert_eq!(before.rights.plus(unspent), account.rights.plus(lost));
            prop_assert_eq!(before.meter.plus(unspent), account.meter.plus(spilled));
            prop_assert_eq!(before.outstanding, account.outstanding.plus(unspent));
        }
    }
}
