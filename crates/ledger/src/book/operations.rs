//! What was spent on which operation, in all.

use crate::protocol::{OperationTotal, OperationUse};
use tollgate_core::cost::Operation;
use tollgate_core::units::Tokens;

/// Counts stop here, where a script's numbers are still exact.
pub(super) const MAX_COUNT: u64 = 9_000_000_000_000_000;

/// The most that one report may count: more is no report.
const MAX_REPORT: u64 = 1 << 52;

/// Totals by operation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
pub struct Operations([Total; Operation::COUNT]);

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
struct Total {
    requests: u64,
    consumed: u64,
    /// The fraction of a token beyond `consumed`.
    rest: Tokens,
}

impl Operations {
    pub(super) fn count(&mut self, spent: &[OperationUse]) {
        for OperationUse { operation, requests, cost } in spent {
            let total = &mut self.0[operation.index()];
            total.requests = add(total.requests, *requests);
            let sum = total.rest.plus(*cost);
            total.consumed = add(total.consumed, sum.floor());
            total.rest = sum.minus(Tokens::whole(sum.floor()));
        }
    }

    /// The totals of all operations that there were.
    pub(super) fn totals(&self) -> Vec<OperationTotal> {
        let totals = Operation::ALL.into_iter().zip(self.0);
        totals
            .filter(|(_, total)| total.requests > 0 || total.consumed > 0)
            .map(|(operation, Total { requests, consumed, .. })| OperationTotal {
                operation,
                requests,
                consumed,
            })
            .collect()
    }
}

/// Adds to a count that is kept forever.
pub(super) fn add(count: u64, more: u64) -> u64 {
    count.saturating_add(more.min(MAX_REPORT)).min(MAX_COUNT)
}
