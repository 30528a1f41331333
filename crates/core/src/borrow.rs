//! Borrowing from the cluster, with interest, and paying it back.

use crate::quota::LoanTerms;
use crate::units::{Ratio, Tokens};

/// What an application has borrowed and what it owes for it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Loan {
    /// What was borrowed and is not paid back yet.
    pub borrowed: Tokens,
    /// What is owed for it, interest included.
    pub debt: Tokens,
}

/// Why nothing is lent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BorrowError {
    /// It would exceed what the application may borrow; this much is left of that.
    LimitExceeded(Tokens),
    /// The cluster would be left with less than its reserve; this much is left above it.
    ClusterInsufficient(Tokens),
}

/// What a payment did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Repayment {
    /// What was taken of the payment: at most the debt.
    pub paid: Tokens,
    /// By how much the borrowed amount went down.
    pub principal: Tokens,
}

impl Loan {
    /// What may still be borrowed.
    pub const fn room(&self, terms: &LoanTerms) -> Tokens {
        terms.limit.minus(self.borrowed)
    }

    /// Whether `amount` may be borrowed from a cluster that can spare `spendable`.
    pub fn check(&self, terms: &LoanTerms, amount: Tokens, spendable: Tokens) -> Result<(), BorrowError> {
        let room = self.room(terms);
        if amount > room {
            return Err(BorrowError::LimitExceeded(room));
        }
        if amount > spendable || spendable.is_zero() {
            return Err(BorrowError::ClusterInsufficient(spendable));
        }
        Ok(())
    }

    /// Lends `amount` and returns the debt it makes: with interest, rounded up to a whole token.
    pub fn lend(&mut self, terms: &LoanTerms, amount: Tokens) -> Tokens {
        let debt = Ratio::ONE.plus(terms.interest).of_rounded_up(amount);
        self.borrowed = self.borrowed.plus(amount);
        self.debt = self.debt.plus(debt);
        debt
    }

    /// Pays off debt, and the borrowed amount in proportion.
    pub fn repay(&mut self, payment: Tokens) -> Repayment {
        let paid = payment.min(self.debt);
        let principal = self.borrowed.proportion(paid, self.debt);
        self.debt = self.debt.minus(paid);
        self.borrowed = self.borrowed.minus(principal);
        Repayment { paid, principal }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const TERMS: LoanTerms = LoanTerms {
        limit: Tokens::whole(10_000),
        interest: Ratio::percent(20),
        repay_share: Ratio::percent(50),
        automatic: true,
    };

    #[test]
    fn says_what_is_left_when_it_refuses() {
        let loan = Loan { borrowed: Tokens::whole(9_000), debt: Tokens::whole(10_800) };
        let check = |amount, spendable| loan.check(&TERMS, Tokens::whole(amount), Tokens::whole(spendable));
        assert_eq!(check(1_001, 50_000), Err(BorrowError::LimitExceeded(Tokens::whole(1_000))));
        assert_eq!(check(1_000, 999), Err(BorrowError::ClusterInsufficient(Tokens::whole(999))));
        assert_eq!(check(1_000, 1_000), Ok(()));
    }

    proptest! {
        #[test]
        fn p05_debt_is_the_amount_and_a_fifth_rounded_up(amount in 1..=10_000u64) {
            let mut loan = Loan::default();
            let debt = loan.lend(&TERMS, Tokens::whole(amount));
            prop_assert_eq!(debt, Tokens::whole((amount * 12).div_ceil(10)));
            prop_assert_eq!(loan, Loan { borrowed: Tokens::whole(amount), debt });
        }

        #[test]
        fn p05_borrowed_never_exceeds_the_limit_nor_eats_the_reserve(
            asks in prop::collection::vec((1..6_000u64, 0..12_000u64), 1..50),
        ) {
            let mut loan = Loan::default();
            for (amount, spendable) in asks {
                let (amount, spendable) = (Tokens::whole(amount), Tokens::whole(spendable));
                let fits = loan.borrowed.plus(amount) <= TERMS.limit && amount <= spendable;
                let answer = loan.check(&TERMS, amount, spendable);
                prop_assert_eq!(answer.is_ok(), fits);
                if answer.is_ok() {
                    loan.lend(&TERMS, amount);
                }
                prop_assert!(loan.borrowed <= TERMS.limit);
                prop_assert!(loan.debt >= loan.borrowed);
            }
        }

        #[test]
        fn p13_repayment_lowers_both_in_proportion(amount in 1..=10_000u64, payments in prop::collection::vec(0..5_000_000_000u64, 1..20)) {
            let mut loan = Loan::default();
            loan.lend(&TERMS, Tokens::whole(amount));
            for payment in payments {
                let (before, payment) = (loan, Tokens::from_micros(payment));
                let repayment = loan.repay(payment);
                prop_assert_eq!(repayment.paid, payment.min(before.debt), "debt first, and never more than it");
                prop_assert_eq!(loan.debt.plus(repayment.paid), before.debt);
                prop_assert_eq!(loan.borrowed.plus(repayment.principal), before.borrowed);
                // Proportional, to within the millionth that is rounded down.
                let exact = u128::from(before.borrowed.micros()) * u128::from(repayment.paid.micros());
                let debt = u128::from(before.debt.micros().max(1));
                prop_assert_eq!(u128::from(repayment.principal.micros()), exact / debt);
            }
        }

        #[test]
        fn p13_paying_all_ends_the_loan(amount in 1..=10_000u64, extra in 0..100u64) {
            let mut loan = Loan::default();
            let debt = loan.lend(&TERMS, Tokens::whole(amount));
            loan.repay(debt.plus(Tokens::whole(extra)));
            prop_assert_eq!(loan, Loan::default());
        }
    }
}
