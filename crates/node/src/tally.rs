//! What was spent on which operation, counted beside the purse.

use std::sync::atomic::{AtomicU64, Ordering};
use tollgate_core::cost::{Operation, Price};

/// Requests and their cost by operation since it was last emptied. A cell holds both, so that counting is one
/// addition: the requests in the upper 24 bits, whole tokens in the lower 40. It is emptied many times before
/// either could overflow.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    cells: [AtomicU64; Operation::COUNT],
}

/// What was spent on one operation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spending {
    /// How many requests.
    pub requests: u64,
    /// What they cost, in whole tokens.
    pub cost: u64,
}

const COST_BITS: u32 = 40;

impl Tally {
    /// Counts one request.
    #[inline]
    pub(crate) fn count(&self, price: &Price) {
        let one = 1 << COST_BITS | price.cost();
        self.cells[price.operation.index()].fetch_add(one, Ordering::Relaxed);
    }

    /// Counts tokens for a request that has been counted.
    pub(crate) fn add_cost(&self, operation: Operation, cost: u64) {
        self.cells[operation.index()].fetch_add(cost, Ordering::Relaxed);
    }

    /// What was counted since it was last emptied.
    pub(crate) fn peek(&self) -> [Spending; Operation::COUNT] {
        std::array::from_fn(|i| Spending::unpack(self.cells[i].load(Ordering::Relaxed)))
    }

    /// Requests since it was last emptied.
    pub(crate) fn requests(&self) -> u64 {
        self.cells.iter().map(|cell| cell.load(Ordering::Relaxed) >> COST_BITS).sum()
    }

    /// Whether nothing was counted since it was last emptied.
    pub(crate) fn is_empty(&self) -> bool {
        self.cells.iter().all(|cell| cell.load(Ordering::Relaxed) == 0)
    }

    /// Empties it.
    pub(crate) fn drain(&self) -> [Spending; Operation::COUNT] {
        std::array::from_fn(|i| {
            let cell = &self.cells[i];
            // Most are empty: reading is cheaper than swapping.
            let packed = if cell.load(Ordering::Relaxed) == 0 { 0 } else { cell.swap(0, Ordering::Relaxed) };
            Spending::unpack(packed)
        })
    }
}

impl Spending {
    const fn unpack(packed: u64) -> Self {
        Self { requests: packed >> COST_BITS, cost: packed & ((1 << COST_BITS) - 1) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_requests_and_cost_by_operation() {
        let tally = Tally::default();
        tally.count(&Price::named(Operation::Put, 6));
        tally.count(&Price::named(Operation::Put, 1_000_000));
        tally.count(&Price::named(Operation::Get, 0));
        assert_eq!(tally.requests(), 3);
        let spent = tally.drain();
        assert_eq!(spent[Operation::Put.index()], Spending { requests: 2, cost: 1_000_006 });
        assert_eq!(spent[Operation::Get.index()], Spending { requests: 1, cost: 0 });
        assert_eq!(tally.drain(), <[Spending; Operation::COUNT]>::default());
    }
}
