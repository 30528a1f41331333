//! Who gets the slack when it is short.
//!
//! While there is plenty, first come first served. When less than half of it is left, every application that
//! asked for some in the last second gets a share of what there is by its weight, per second; what it leaves is
//! there for all in the next. That is weighted max-min fairness approached second by second, at a cost that does
//! not depend on how many applications there are.

use super::App;
use tollgate_core::pool::{self, Pool};
use tollgate_core::quota::Capacity;
use tollgate_core::units::{Millis, Rate, Ratio, Tokens};

/// The least share of what can be spent that anybody gets.
const FLOOR: Ratio = Ratio::percent(1);

/// The weights of all applications that asked for slack, this second and the one before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Contest {
    second: u64,
    weights: u64,
    before: u64,
}

impl Contest {
    /// An application asks for slack: enters it once a second.
    pub(super) fn enter(&mut self, app: &mut App, now: Millis) {
        let second = now.get() / 1_000;
        if second != self.second {
            self.before = if second == self.second + 1 { self.weights } else { 0 };
            self.weights = 0;
            self.second = second;
        }
        if app.slack_second != second {
            app.slack_second = second;
            app.slack_used = Tokens::ZERO;
            self.weights += app.policy.quota.priority.weight();
        }
    }

    /// What the application may still take in this second.
    pub(super) fn share(
        &self,
        app: &App,
        pool: &Pool,
        capacity: &Capacity,
        promised: Rate,
        now: Millis,
    ) -> Tokens {
        let spendable = pool.spendable(capacity);
        let most = pool::ceiling(capacity, promised).minus(capacity.reserve());
        if spendable.plus(spendable) >= most {
            return Tokens::MAX;
        }
        let weight = app.policy.quota.priority.weight();
        let weights = self.weights.max(self.before).max(weight);
        let supply = spendable.plus(capacity.rate.minus(promised).per_one_second());
        let fair = supply.proportion(Tokens::from_micros(weight), Tokens::from_micros(weights));
        let used = if app.slack_second == now.get() / 1_000 { app.slack_used } else { Tokens::ZERO };
        fair.max(FLOOR.of(spendable)).minus(used)
    }
}
