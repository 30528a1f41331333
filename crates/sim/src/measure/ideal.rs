//! The ideal: one bucket that sees every request at once, with the same promise.

use tollgate_core::quota::Quota;
use tollgate_core::units::{Millis, Nanos, Tokens};

/// A bucket in one place. It knows neither nodes nor leases, and no request waits for another.
#[derive(Clone, Debug)]
pub(super) struct Ideal {
    quota: Quota,
    tokens: Tokens,
    at: Millis,
    drawn: Tokens,
    opened_at: Option<Millis>,
}

impl Ideal {
    pub(super) fn new(quota: Quota) -> Self {
        let tokens = quota.guaranteed.per_one_second().min(quota.burst);
        Self { quota, tokens, at: Millis::ZERO, drawn: Tokens::ZERO, opened_at: None }
    }

    /// Whether a request would pass.
    pub(super) fn pass(&mut self, cost: Tokens, now: Nanos) -> bool {
        let now = Millis::new(now.get() / 1_000_000);
        let minted = self.quota.guaranteed.over(now.since(self.at));
        self.tokens = self.tokens.plus(minted).min(self.quota.burst);
        self.at = now;
        if self.opened_at.is_some_and(|at| now.since(at) >= self.quota.burst_window) {
            (self.opened_at, self.drawn) = (None, Tokens::ZERO);
        }
        let missing = cost.minus(self.tokens);
        if missing > self.quota.allowance().minus(self.drawn) {
            return false;
        }
        if !missing.is_zero() {
            self.opened_at = self.opened_at.or(Some(now));
            self.drawn = self.drawn.plus(missing);
        }
        self.tokens = self.tokens.minus(cost);
        true
    }

    pub(super) const fn change(&mut self, quota: Quota) {
        self.quota = quota;
    }
}
