//! What happened to an application's requests at this node, for metrics: written where it happens, read whenever.

use crate::tally::Spending;
use std::sync::atomic::{AtomicU64, Ordering};
use tollgate_core::cost::Operation;
use tollgate_core::reason::Reason;
use tollgate_core::units::Tokens;

/// Sums since the node started.
#[derive(Debug)]
pub(crate) struct Counters {
    spent: [[AtomicU64; 2]; Operation::COUNT],
    refused: [AtomicU64; Reason::ALL.len()],
    shadowed: [AtomicU64; Reason::ALL.len()],
    /// In millionths.
    refused_cost: AtomicU64,
    misses: AtomicU64,
    rolled_back: AtomicU64,
}

/// A copy of the sums.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// What was let through and paid for, in the order of [`Operation::ALL`].
    pub spent: [Spending; Operation::COUNT],
    /// Refusals by reason, in the order of [`Reason::ALL`].
    pub refused: [u64; Reason::ALL.len()],
    /// Requests that shadow mode let through although they would have been refused, by reason in the same order.
    pub shadowed: [u64; Reason::ALL.len()],
    /// What was asked for in vain, in whole tokens, shadow mode included.
    pub refused_cost: u64,
    /// Requests that had to ask the ledger.
    pub misses: u64,
    /// Requests whose cost was given back.
    pub rolled_back: u64,
}

impl Counts {
    /// Everything that was let through and paid for.
    pub fn passed(&self) -> Spending {
        self.spent.iter().fold(Spending::default(), |sum, spending| Spending {
            requests: sum.requests + spending.requests,
            cost: sum.cost + spending.cost,
        })
    }

    /// How often a request was refused for that reason.
    pub fn refused_for(&self, reason: Reason) -> u64 {
        Reason::ALL.iter().position(|&r| r == reason).map_or(0, |i| self.refused[i])
    }

    pub(crate) fn add(&mut self, spent: &[Spending; Operation::COUNT]) {
        for (sum, spending) in self.spent.iter_mut().zip(spent) {
            sum.requests += spending.requests;
            sum.cost += spending.cost;
        }
    }
}

impl Default for Counters {
    fn default() -> Self {
        Self {
            spent: Default::default(),
            refused: [const { AtomicU64::new(0) }; Reason::ALL.len()],
            shadowed: [const { AtomicU64::new(0) }; Reason::ALL.len()],
            refused_cost: AtomicU64::new(0),
            misses: AtomicU64::new(0),
            rolled_back: AtomicU64::new(0),
        }
    }
}

impl Counters {
    pub(crate) fn spent(&self, spent: &[Spending; Operation::COUNT]) {
        // A request that was reported before it turned out to cost more leaves a cost and nothing else.
        let is_any = |spending: &Spending| spending.requests > 0 || spending.cost > 0;
        for (sums, spending) in self.spent.iter().zip(spent).filter(|(_, spending)| is_any(spending)) {
            sums[0].fetch_add(spending.requests, Ordering::Relaxed);
            sums[1].fetch_add(spending.cost, Ordering::Relaxed);
        }
    }

    pub(crate) fn refused(&self, reason: Reason, cost: Tokens, is_shadow: bool) {
        self.refused_cost.fetch_add(cost.micros(), Ordering::Relaxed);
        let sums = if is_shadow { &self.shadowed } else { &self.refused };
        if let Some(i) = Reason::ALL.iter().position(|&r| r == reason) {
            sums[i].fetch_add(1, Ordering::Relaxed);
        }
    }

    pub(crate) fn missed(&self) {
        self.misses.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn rolled_back(&self) {
        self.rolled_back.fetch_add(1, Ordering::Relaxed);
    }

    /// What was asked for in vain, in millionths; wraps around.
    pub(crate) fn refused_cost(&self) -> u64 {
        self.refused_cost.load(Ordering::Relaxed)
    }

    pub(crate) fn counts(&self) -> Counts {
        let read = |cell: &AtomicU64| cell.load(Ordering::Relaxed);
        Counts {
            spent: std::array::from_fn(|i| Spending {
                requests: read(&self.spent[i][0]),
                cost: read(&self.spent[i][1]),
            }),
            refused: std::array::from_fn(|i| read(&self.refused[i])),
            shadowed: std::array::from_fn(|i| read(&self.shadowed[i])),
            refused_cost: read(&self.refused_cost) / Tokens::MICROS_PER_TOKEN,
            misses: read(&self.misses),
            rolled_back: read(&self.rolled_back),
        }
    }
}
