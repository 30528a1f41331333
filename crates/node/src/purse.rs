//! What the node holds for one application.

use crate::sync::{AtomicU8, AtomicU32, AtomicU64, Ordering};
use tollgate_core::cost::{Operation, PriceList};
use tollgate_core::units::Tokens;

/// Tokens that may be spent without asking anybody, in one word that only ever changes by compare-and-swap. What
/// was spent is never counted apart: it is what is missing, so nothing can be lost between two counters.
///
/// The prices of the commonest operations lie in it too: whoever pays looks at them in the same moment.
#[derive(Debug, Default)]
pub(crate) struct Purse {
    held: AtomicU64,
    /// Less than this many whole tokens is low. Zero once somebody has said so: nothing is less.
    low_water: AtomicU32,
    bases: [AtomicU8; COMMON],
}

/// The first so many operations are common.
const COMMON: usize = 4;

/// Stands for a price that is no less than that.
const DEAR: u8 = u8::MAX;

impl Purse {
    /// Takes all of `cost` or nothing; returns what is left.
    #[inline]
    pub(crate) fn take(&self, cost: Tokens) -> Option<Tokens> {
        let mut held = self.held.load(Ordering::Relaxed);
        loop {
            let left = held.checked_sub(cost.micros())?;
            match self.held.compare_exchange_weak(held, left, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => return Some(Tokens::from_micros(left)),
                Err(changed) => held = changed,
            }
        }
    }

    /// Whether `left` is low and the caller is the first to notice.
    #[inline]
    pub(crate) fn runs_low(&self, left: Tokens) -> bool {
        left < Tokens::whole(self.low_water.load(Ordering::Relaxed).into())
            && self.low_water.swap(0, Ordering::Relaxed) > 0
    }

    /// Sets what is low from now on, whether or not it was noticed before.
    pub(crate) fn watch(&self, low_water: Tokens) {
        self.low_water.store(u32::try_from(low_water.ceil()).unwrap_or(u32::MAX), Ordering::Relaxed);
    }

    /// What an operation without a body costs, if that can be told from here.
    #[inline]
    pub(crate) fn price(&self, operation: Operation) -> Option<u64> {
        let base = self.bases.get(operation.index())?.load(Ordering::Relaxed);
        (base < DEAR).then_some(base.into())
    }

    /// Sets what operations cost.
    pub(crate) fn set_prices(&self, prices: &PriceList) {
        for (cell, &operation) in self.bases.iter().zip(&Operation::ALL) {
            cell.store(u8::try_from(prices.base(operation)).unwrap_or(DEAR), Ordering::Relaxed);
        }
    }

    /// Takes what there is, up to `most`.
    pub(crate) fn take_up_to(&self, most: Tokens) -> Tokens {
        let mut taken = Tokens::ZERO;
        self.change(|held| {
            taken = held.min(most);
            held.minus(taken)
        });
        taken
    }

    /// Puts tokens in as far as it then holds no more than `cap`; returns what found room.
    pub(crate) fn put(&self, amount: Tokens, cap: Tokens) -> Tokens {
        let mut added = Tokens::ZERO;
        self.change(|held| {
            added = amount.min(cap.minus(held));
            held.plus(added)
        });
        added
    }

    /// What there is.
    #[inline]
    pub(crate) fn held(&self) -> Tokens {
        Tokens::from_micros(self.held.load(Ordering::Relaxed))
    }

    fn change(&self, mut step: impl FnMut(Tokens) -> Tokens) {
        let mut held = self.held.load(Ordering::Relaxed);
        loop {
            let new = step(Tokens::from_micros(held)).micros();
            match self.held.compare_exchange_weak(held, new, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => return,
                Err(changed) => held = changed,
            }
        }
    }
}

#[cfg(all(test, not(tollgate_loom)))]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[derive(Clone, Copy, Debug)]
    enum Step {
        Take(u64),
        TakeUpTo(u64),
        Put(u64),
    }

    fn any_step() -> impl Strategy<Value = Step> {
        prop_oneof![
            4 => (0..3_000u64).prop_map(Step::Take),
            1 => (0..3_000u64).prop_map(Step::TakeUpTo),
            2 => (0..3_000u64).prop_map(Step::Put),
        ]
    }

    proptest! {
        #[test]
        fn p10_a_purse_is_never_negative_and_takes_exactly(steps in prop::collection::vec(any_step(), 1..100)) {
            const CAP: u64 = 5_000;
            let purse = Purse::default();
            let mut model = 0u64;
            for step in steps {
                match step {
                    Step::Take(n) => {
                        let left = purse.take(Tokens::whole(n));
                        prop_assert_eq!(left.is_some(), model >= n);
                        model -= left.map_or(0, |_| n);
                    }
                    Step::TakeUpTo(n) => {
                        prop_assert_eq!(purse.take_up_to(Tokens::whole(n)), Tokens::whole(model.min(n)));
                        model -= model.min(n);
                    }
                    Step::Put(n) => {
                        let room = n.min(CAP - model);
                        prop_assert_eq!(purse.put(Tokens::whole(n), Tokens::whole(CAP)), Tokens::whole(room));
                        model += room;
                    }
                }
                prop_assert_eq!(purse.held(), Tokens::whole(model));
            }
        }

        #[test]
        fn p12_running_low_is_noticed_once(takes in prop::collection::vec(1..50u64, 1..60), low in 1..900u64) {
            let purse = Purse::default();
            purse.put(Tokens::whole(1_000), Tokens::MAX);
            purse.watch(Tokens::whole(low));
            let mut noticed = 0;
            for cost in takes {
                let Some(left) = purse.take(Tokens::whole(cost)) else { break };
                noticed += u32::from(purse.runs_low(left));
                prop_assert_eq!(noticed > 0, left < Tokens::whole(low), "as soon as it is");
                prop_assert!(noticed <= 1);
            }
        }
    }
}

#[cfg(all(test, tollgate_loom))]
mod model {
    use super::*;
    use loom::sync::Arc;
    use loom::thread;

    #[test]
    fn takes_and_puts_lose_nothing() {
        loom::model(|| {
            let purse = Arc::new(Purse::default());
            purse.put(Tokens::whole(5), Tokens::MAX);
            let taker = thread::spawn({
                let purse = Arc::clone(&purse);
                move || {
                    [3, 2].into_iter().filter(|&cost| purse.take(Tokens::whole(cost)).is_some()).sum::<u64>()
                }
            });
            let giver = thread::spawn({
                let purse = Arc::clone(&purse);
                move || purse.put(Tokens::whole(4), Tokens::whole(8)).floor()
            });
            let reported = purse.take_up_to(Tokens::whole(1)).floor();
            let (taken, given) = (taker.join().unwrap(), giver.join().unwrap());
            assert_eq!(purse.held().floor(), 5 + given - taken - reported);
        });
    }

    #[test]
    fn one_of_many_notices_that_it_runs_low() {
        loom::model(|| {
            let purse = Arc::new(Purse::default());
            purse.put(Tokens::whole(10), Tokens::MAX);
            purse.watch(Tokens::whole(9));
            let notices =
                |purse: &Purse| purse.take(Tokens::whole(2)).is_some_and(|left| purse.runs_low(left));
            let other = thread::spawn({
                let purse = Arc::clone(&purse);
                move || notices(&purse)
            });
            let noticed = u32::from(notices(&purse)) + u32::from(other.join().unwrap());
            assert_eq!(noticed, 1);
        });
    }
}
