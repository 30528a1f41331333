//! What the node holds for one application.

use crate::sync::{AtomicU8, AtomicU32, AtomicU64, Ordering};
use tollgate_core::cost::{Operation, PriceList};
use tollgate_core::units::Tokens;

/// Tokens that may be spent without asking anybody, in one word that only ever changes by compare-and-swap. What
/// was spent is never counted apart: it is what is missing, so nothing can be lost between two counters.
///
/// The prices of the commonest operations lie in it too: whoever pays looks at them in the same moment.
#[derive(Debug)]
pub(crate) struct Purse {
    word: AtomicU64,
    /// Less than this many whole tokens is low. Zero once somebody has said so: nothing is less.
    low_water: AtomicU32,
    /// Of operations without a body, but GET, whose price is in the word.
    bases: [AtomicU8; COMMON],
}

/// What a purse holds, in millionths of a token; how many plain GETs were paid for and have not been counted elsewhere; and what
/// each of those costs. One step takes the tokens and counts the request, where two would wait for each other. The price is part of
/// it so that all that are counted here cost the same, whenever prices change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Word(u64);

/// The first so many operations are common.
const COMMON: usize = 4;

/// Stands for a price that is no less than that.
const DEAR: u8 = u8::MAX;

impl Word {
    const HELD_BITS: u32 = 52;
    const BASE_AT: u32 = 56;
    const HELD: u64 = (1 << Self::HELD_BITS) - 1;
    const ONE: u64 = 1 << Self::HELD_BITS;
    const COUNTED: u64 = (1 << Self::BASE_AT) - Self::ONE;

    #[inline]
    const fn held(self) -> u64 {
        self.0 & Self::HELD
    }

    const fn with_held(self, micros: u64) -> Self {
        Self(self.0 & !Self::HELD | micros)
    }

    #[inline]
    const fn base(self) -> u64 {
        self.0 >> Self::BASE_AT
    }

    fn with_base(self, base: u8) -> Self {
        Self(self.0 & (Self::COUNTED | Self::HELD) | u64::from(base) << Self::BASE_AT)
    }

    const fn counted(self) -> u64 {
        (self.0 & Self::COUNTED) >> Self::HELD_BITS
    }

    const fn uncounted(self) -> Self {
        Self(self.0 & !Self::COUNTED)
    }

    /// After a plain GET was paid for and counted here, if there is enough for it and room to count it.
    #[inline]
    fn after_get(self) -> Option<Self> {
        let cost = self.base() * Tokens::MICROS_PER_TOKEN;
        let fits =
            self.held() >= cost && self.0 & Self::COUNTED != Self::COUNTED && self.base() != u64::from(DEAR);
        fits.then(|| Self(self.0 - cost + Self::ONE))
    }
}

const _: () = assert!(Tokens::MAX.micros() <= Word::HELD, "whatever there can be fits in");

impl Default for Purse {
    fn default() -> Self {
        let word = AtomicU64::new(Word(0).with_base(DEAR).0);
        Self { word, low_water: AtomicU32::default(), bases: Default::default() }
    }
}

impl Purse {
    /// Takes all of `cost` or nothing; returns what is left.
    #[inline]
    pub(crate) fn take(&self, cost: Tokens) -> Option<Tokens> {
        let mut word = self.read();
        loop {
            let left = word.held().checked_sub(cost.micros())?;
            match self.swap(word, word.with_held(left)) {
                Ok(()) => return Some(Tokens::from_micros(left)),
                Err(changed) => word = changed,
            }
        }
    }

    /// Pays for a GET without a body and counts it; returns what it cost and what is left. None if it has to be paid for and
    /// counted apart.
    #[inline]
    pub(crate) fn get(&self) -> Option<(u64, Tokens)> {
        let mut word = self.read();
        loop {
            let next = word.after_get()?;
            match self.swap(word, next) {
                Ok(()) => return Some((word.base(), Tokens::from_micros(next.held()))),
                Err(changed) => word = changed,
            }
        }
    }

    /// The GETs that were counted here, and what each cost. They are forgotten here.
    pub(crate) fn take_counted(&self) -> (u64, u64) {
        if self.read().counted() == 0 {
            return (0, 0);
        }
        let before = self.change(Word::uncounted);
        (before.counted(), before.base())
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
        let base = match operation {
            Operation::Get => self.read().base(),
            other => self.bases.get(other.index())?.load(Ordering::Relaxed).into(),
        };
        (base < u64::from(DEAR)).then_some(base)
    }

    /// Sets what operations cost; returns the GETs that were counted here, and what each cost by then.
    pub(crate) fn set_prices(&self, prices: &PriceList) -> (u64, u64) {
        let base = |operation| u8::try_from(prices.base(operation)).unwrap_or(DEAR);
        for (cell, &operation) in self.bases.iter().zip(&Operation::ALL).skip(1) {
            cell.store(base(operation), Ordering::Relaxed);
        }
        let before = self.change(|word| word.uncounted().with_base(base(Operation::Get)));
        (before.counted(), before.base())
    }

    /// Takes what there is, up to `most`.
    pub(crate) fn take_up_to(&self, most: Tokens) -> Tokens {
        self.change_held(|held| held.minus(most)).min(most)
    }

    /// Puts tokens in as far as it then holds no more than `cap`; returns what found room.
    pub(crate) fn put(&self, amount: Tokens, cap: Tokens) -> Tokens {
        let room = |held: Tokens| amount.min(cap.minus(held));
        room(self.change_held(|held| held.plus(room(held))))
    }

    /// What there is.
    #[inline]
    pub(crate) fn held(&self) -> Tokens {
        Tokens::from_micros(self.read().held())
    }

    /// Changes what there is; returns what there was.
    fn change_held(&self, step: impl Fn(Tokens) -> Tokens) -> Tokens {
        let before = self.change(|word| word.with_held(step(Tokens::from_micros(word.held())).micros()));
        Tokens::from_micros(before.held())
    }

    /// Changes the word; returns what it was.
    fn change(&self, step: impl Fn(Word) -> Word) -> Word {
        let mut word = self.read();
        while let Err(changed) = self.swap(word, step(word)) {
            word = changed;
        }
        word
    }

    #[inline]
    fn read(&self) -> Word {
        Word(self.word.load(Ordering::Relaxed))
    }

    #[inline]
    fn swap(&self, old: Word, new: Word) -> Result<(), Word> {
        let swapped = self.word.compare_exchange_weak(old.0, new.0, Ordering::Relaxed, Ordering::Relaxed);
        swapped.map(drop).map_err(Word)
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

        /// GETs at their price are counted in the purse, until it is full of them or somebody asks; all others by whoever pays.
        #[test]
        fn p02_every_get_is_counted_once_at_what_it_cost(steps in prop::collection::vec((0..20u8, 0..4u64), 1..200)) {
            let purse = Purse::default();
            purse.put(Tokens::whole(100), Tokens::MAX);
            let (mut base, mut paid, mut counted) = (u64::from(DEAR), (0, 0), (0, 0));
            let add = |to: &mut (u64, u64), (requests, cost): (u64, u64)| {
                *to = (to.0 + requests, to.1 + requests * cost);
            };
            for (step, cost) in steps {
                match step {
                    0 => add(&mut counted, purse.take_counted()),
                    1 => {
                        add(&mut counted, purse.set_prices(&PriceList::default().with_base(Operation::Get, cost)));
                        base = cost;
                    }
                    _ if purse.get().is_some() => add(&mut paid, (1, base)),
                    _ if purse.price(Operation::Get).is_some_and(|cost| purse.take(Tokens::whole(cost)).is_some()) => {
                        add(&mut paid, (1, base));
                        add(&mut counted, (1, base));
                        add(&mut counted, purse.take_counted());
                    }
                    _ => {}
                }
            }
            add(&mut counted, purse.take_counted());
            prop_assert_eq!(paid, counted);
            prop_assert_eq!(purse.held(), Tokens::whole(100 - paid.1));
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
    fn a_get_is_counted_once_and_at_its_price_while_prices_change() {
        loom::model(|| {
            let prices = |base| PriceList::default().with_base(Operation::Get, base);
            let purse = Arc::new(Purse::default());
            purse.put(Tokens::whole(10), Tokens::MAX);
            purse.set_prices(&prices(2));
            let payer = thread::spawn({
                let purse = Arc::clone(&purse);
                move || [purse.get(), purse.get()].iter().flatten().count()
            });
            let (early, cheap) = purse.set_prices(&prices(3));
            let paid = payer.join().unwrap() as u64;
            let (late, dear) = purse.take_counted();
            assert_eq!((early + late, paid, cheap), (2, 2, 2));
            assert_eq!(purse.held().floor(), 10 - early * cheap - late * dear);
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
