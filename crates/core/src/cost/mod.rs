//! What a request costs: one price for operations and bandwidth.
//!
//! `cost = base(operation) + ceil(bytes / quantum) * coefficient`
//!
//! ```
//! use tollgate_core::cost::{Operation, PriceList};
//!
//! let prices = PriceList::default();
//! assert_eq!(prices.price(Operation::Get, 1024).cost(), 2);
//! assert_eq!(prices.price(Operation::Put, 10 * 1024).cost(), 6);
//! ```

mod operation;
pub mod s3;

pub use operation::Operation;

use crate::units::{Ratio, Tokens};
use core::num::NonZeroU64;

/// No request costs more tokens than this.
pub const MAX_COST: u64 = 1_000_000;

/// Bytes that one unit of bandwidth covers, unless configured otherwise.
pub const DEFAULT_QUANTUM: NonZeroU64 = NonZeroU64::new(65_536).unwrap();

/// What each operation and each unit of bandwidth costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PriceList {
    base: [u32; Operation::COUNT],
    quantum: NonZeroU64,
    coefficient: Ratio,
}

impl PriceList {
    /// The default table with another quantum and coefficient.
    pub const fn new(quantum: NonZeroU64, coefficient: Ratio) -> Self {
        let mut base = [0; Operation::COUNT];
        let mut i = 0;
        while i < base.len() {
            base[i] = Operation::ALL[i].default_base();
            i += 1;
        }
        Self { base, quantum, coefficient }
    }

    /// This table with another base for one operation, at most [`MAX_COST`].
    #[must_use]
    pub fn with_base(mut self, operation: Operation, base: u64) -> Self {
        self.base[operation.index()] = u32::try_from(base.min(MAX_COST)).unwrap_or(u32::MAX);
        self
    }

    /// What an operation costs before its bytes.
    pub const fn base(&self, operation: Operation) -> u64 {
        self.base[operation.index()] as u64
    }

    /// Bytes that one unit of bandwidth covers.
    pub const fn quantum(&self) -> NonZeroU64 {
        self.quantum
    }

    /// What one unit of bandwidth costs.
    pub const fn coefficient(&self) -> Ratio {
        self.coefficient
    }

    /// Prices a request, with its working. Never above [`MAX_COST`].
    pub const fn price(&self, operation: Operation, bytes: u64) -> Price {
        let units = bytes.div_ceil(self.quantum.get());
        let bandwidth = self.bandwidth(units);
        Price { operation, bytes, units, base: self.base(operation), bandwidth }
    }

    /// A fraction of a token is charged as a whole one: costs are whole tokens.
    const fn bandwidth(&self, units: u64) -> u64 {
        // Beyond this many units even the smallest coefficient reaches the cap.
        let units =
            if units > MAX_COST * Ratio::SCALE as u64 { MAX_COST * Ratio::SCALE as u64 } else { units };
        let exact = (units * self.coefficient.parts() as u64).div_ceil(Ratio::SCALE as u64);
        if exact > MAX_COST { MAX_COST } else { exact }
    }
}

impl Default for PriceList {
    fn default() -> Self {
        Self::new(DEFAULT_QUANTUM, Ratio::ONE)
    }
}

/// The price of one request and how it was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Price {
    /// The operation that was priced.
    pub operation: Operation,
    /// The size that was priced.
    pub bytes: u64,
    /// Units of bandwidth in that size.
    pub units: u64,
    /// Tokens for the operation.
    pub base: u64,
    /// Tokens for the bandwidth.
    pub bandwidth: u64,
}

impl Price {
    /// A price somebody else named: the whole of it stands as the base.
    pub const fn named(operation: Operation, cost: u64) -> Self {
        Self { operation, bytes: 0, units: 0, base: cost, bandwidth: 0 }
    }

    /// The cost in whole tokens, at most [`MAX_COST`].
    pub const fn cost(&self) -> u64 {
        let sum = self.base.saturating_add(self.bandwidth);
        if sum > MAX_COST { MAX_COST } else { sum }
    }

    /// The cost as an amount of tokens.
    pub const fn tokens(&self) -> Tokens {
        Tokens::whole(self.cost())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn any_operation() -> impl Strategy<Value = Operation> {
        prop::sample::select(&Operation::ALL[..])
    }

    #[test]
    fn the_default_table() {
        let expected = [
            ("GET", 1),
            ("HEAD", 1),
            ("PUT", 5),
            ("POST", 5),
            ("PATCH", 3),
            ("DELETE", 2),
            ("LIST", 3),
            ("COPY", 6),
            ("MULTIPART_INIT", 2),
            ("MULTIPART_UPLOAD", 4),
            ("MULTIPART_COMPLETE", 8),
            ("MULTIPART_ABORT", 3),
            ("OPTIONS", 1),
        ];
        for (name, base) in expected {
            assert_eq!(PriceList::default().price(Operation::parse(name), 0).cost(), base, "{name}");
        }
    }

    #[test]
    fn the_working_adds_up() {
        let price = PriceList::default().price(Operation::Put, 65_537);
        assert_eq!((price.base, price.units, price.bandwidth, price.cost()), (5, 2, 2, 7));
    }

    #[test]
    fn a_fraction_of_a_token_is_charged_as_one() {
        let half = PriceList::new(DEFAULT_QUANTUM, Ratio::percent(50));
        assert_eq!(half.price(Operation::Get, 1).cost(), 2);
        assert_eq!(half.price(Operation::Get, 2 * 65_536).cost(), 2);
        assert_eq!(half.price(Operation::Get, 3 * 65_536).cost(), 3);
    }

    proptest! {
        #[test]
        fn p01_cost_is_the_formula_and_capped(
            operation in any_operation(),
            bytes in prop_oneof![any::<u64>(), 0..10_000_000u64],
            quantum in prop_oneof![Just(65_536u64), 1..=u64::MAX],
            coefficient in 0..=100u32,
        ) {
            let prices = PriceList::new(NonZeroU64::new(quantum).unwrap(), Ratio::percent(coefficient * 100));
            let price = prices.price(operation, bytes);
            let units = u128::from(bytes).div_ceil(u128::from(quantum));
            let formula = u128::from(operation.default_base()) + units * u128::from(coefficient);
            prop_assert_eq!(u128::from(price.cost()), formula.min(1_000_000));
        }

        #[test]
        fn p01_more_bytes_never_cost_less(operation in any_operation(), a in any::<u64>(), b in any::<u64>()) {
            let prices = PriceList::default();
            let (less, more) = (a.min(b), a.max(b));
            prop_assert!(prices.price(operation, less).cost() <= prices.price(operation, more).cost());
        }

        #[test]
        fn p01_a_named_price_is_capped(cost in any::<u64>()) {
            prop_assert_eq!(Price::named(Operation::Other, cost).cost(), cost.min(MAX_COST));
        }
    }
}
