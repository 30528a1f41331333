//! Strategies that several modules' tests share.

use crate::account::Account;
use crate::borrow::Loan;
use crate::priority::Priority;
use crate::quota::{LoanTerms, Quota};
use crate::units::{Millis, Rate, Tokens};
use proptest::prelude::*;

pub(crate) fn quota(guaranteed: u64, burst: u64) -> Quota {
    Quota {
        guaranteed: Rate::per_second(guaranteed),
        burst: Tokens::whole(burst),
        burst_window: Quota::DEFAULT_BURST_WINDOW,
        priority: Priority::P1,
        loan: LoanTerms::default(),
    }
}

pub(crate) fn any_quota() -> impl Strategy<Value = Quota> {
    (1..50_000u64, 0..150_000u64).prop_map(|(guaranteed, more)| quota(guaranteed, guaranteed + more))
}

/// An account in any state its quota allows.
pub(crate) fn any_account() -> impl Strategy<Value = (Quota, Account)> {
    let parts = (0..=1_000u64, 0..=1_000u64, 0..=1_000u64, 0..10_000u64, 0..1_000_000u64);
    (any_quota(), parts).prop_map(|(quota, (rights, leased, meter, borrowed, at))| {
        let of =
            |amount: Tokens, thousandths| amount.proportion(Tokens::whole(thousandths), Tokens::whole(1_000));
        let outstanding = of(quota.burst, leased);
        let mut loan = Loan::default();
        loan.lend(&quota.loan, Tokens::whole(borrowed));
        let account = Account {
            rights: of(quota.burst.minus(outstanding), rights),
            meter: of(quota.guaranteed.per_one_second(), meter),
            outstanding,
            loan,
            refilled_at: Millis::new(at),
            ..Account::default()
        };
        (quota, account)
    })
}
