//! What was spent on which operation, counted beside the purse.

use crate::sync::{AtomicU64, Ordering};
use tollgate_core::cost::Operation;

/// Requests of one operation and their cost since it was last emptied, in one word, so that counting is one addition: the
/// requests in the upper 24 bits, whole tokens in the lower 40. It is emptied before either could overflow, also while nothing can be
/// reported.
#[derive(Debug, Default)]
pub(crate) struct Cell(AtomicU64);

/// The cells of all operations.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tally<'a>(pub(crate) [&'a Cell; Operation::COUNT]);

/// What was spent on one operation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spending {
    /// How many requests.
    pub requests: u64,
    /// What they cost, in whole tokens.
    pub cost: u64,
}

const COST_BITS: u32 = 40;

/// The highest bit of the requests and that of the cost: half of what there is room for.
const HALVES: u64 = 1 << 63 | 1 << (COST_BITS - 1);

impl Cell {
    /// Counts one request.
    #[inline]
    pub(crate) fn count(&self, cost: u64) {
        self.count_all((1, cost));
    }

    /// Counts so many requests, each of which cost the same.
    #[inline]
    pub(crate) fn count_all(&self, (requests, cost): (u64, u64)) {
        if requests > 0 {
            self.0.fetch_add(requests << COST_BITS | (requests * cost), Ordering::Relaxed);
        }
    }

    /// Counts tokens for a request that has been counted.
    pub(crate) fn add_cost(&self, cost: u64) {
        self.0.fetch_add(cost, Ordering::Relaxed);
    }

    fn peek(&self) -> Spending {
        Spending::unpack(self.0.load(Ordering::Relaxed))
    }

    fn is_half_full(&self) -> bool {
        self.0.load(Ordering::Relaxed) & HALVES != 0
    }

    fn drain(&self) -> Spending {
        // Most are empty: reading is cheaper than swapping.
        if self.peek() == Spending::default() {
            return Spending::default();
        }
        Spending::unpack(self.0.swap(0, Ordering::Relaxed))
    }
}

impl Tally<'_> {
    /// What was counted since it was last emptied.
    pub(crate) fn peek(self) -> [Spending; Operation::COUNT] {
        self.0.map(Cell::peek)
    }

    /// Requests since it was last emptied.
    pub(crate) fn requests(self) -> u64 {
        self.0.iter().map(|cell| cell.peek().requests).sum()
    }

    /// Whether nothing was counted since it was last emptied.
    pub(crate) fn is_empty(self) -> bool {
        self.0.iter().all(|cell| cell.peek() == Spending::default())
    }

    /// Whether it should be emptied before there is too much in it.
    pub(crate) fn is_half_full(self) -> bool {
        self.0.iter().any(|cell| cell.is_half_full())
    }

    /// Empties it.
    pub(crate) fn drain(self) -> [Spending; Operation::COUNT] {
        self.0.map(Cell::drain)
    }
}

impl Spending {
    const fn unpack(packed: u64) -> Self {
        Self { requests: packed >> COST_BITS, cost: packed & ((1 << COST_BITS) - 1) }
    }
}

#[cfg(all(test, not(tollgate_loom)))]
mod tests {
    use super::*;

    #[test]
    fn counts_requests_and_cost_by_operation() {
        let cells: [Cell; Operation::COUNT] = Default::default();
        let tally = Tally(cells.each_ref());
        cells[Operation::Put.index()].count(6);
        cells[Operation::Put.index()].count(1_000_000);
        cells[Operation::Get.index()].count(0);
        assert_eq!(tally.requests(), 3);
        let spent = tally.drain();
        assert_eq!(spent[Operation::Put.index()], Spending { requests: 2, cost: 1_000_006 });
        assert_eq!(spent[Operation::Get.index()], Spending { requests: 1, cost: 0 });
        assert_eq!(tally.drain(), <[Spending; Operation::COUNT]>::default());
    }
}

#[cfg(all(test, tollgate_loom))]
mod model {
    use super::*;
    use loom::sync::Arc;
    use loom::thread;

    #[test]
    fn what_is_counted_is_drained_once() {
        loom::model(|| {
            let cell = Arc::new(Cell::default());
            let counting = [3, 4].map(|cost| {
                let cell = Arc::clone(&cell);
                thread::spawn(move || cell.count(cost))
            });
            let early = cell.drain();
            for thread in counting {
                thread.join().unwrap();
            }
            let late = cell.drain();
            let all = Spending { requests: early.requests + late.requests, cost: early.cost + late.cost };
            assert_eq!(all, Spending { requests: 2, cost: 7 });
        });
    }
}
