use tollgate_core::quota::Quota;
use tollgate_core::units::{Millis, Nanos, Rate, Tokens};

/// A plain token bucket.
#[derive(Clone, Debug)]
pub(super) struct Bucket {
    rate: Rate,
    burst: Tokens,
    tokens: Tokens,
    at: Millis,
}

impl Bucket {
    /// One of `share` equal parts of what was promised, full.
    pub(super) fn new(quota: &Quota, share: u64) -> Self {
        let rate = Rate::from_millis(quota.guaranteed.millis() / share);
        let burst = Tokens::from_micros(quota.burst.micros() / share);
        let tokens = rate.per_one_second().min(burst);
        Self { rate, burst, tokens, at: Millis::ZERO }
    }

    pub(super) fn take(&mut self, cost: Tokens, now: Nanos) -> bool {
        self.refill(now);
        let Some(left) = self.tokens.checked_minus(cost) else { return false };
        self.tokens = left;
        true
    }

    /// Takes what there is.
    pub(super) fn take_up_to(&mut self, most: Tokens, now: Nanos) {
        self.refill(now);
        self.tokens = self.tokens.minus(most);
    }

    pub(super) const fn fill(&mut self) {
        self.tokens = self.burst;
    }

    pub(super) const fn put(&mut self, amount: Tokens) {
        self.tokens = self.tokens.plus(amount);
    }

    pub(super) fn left(&mut self, now: Nanos) -> Tokens {
        self.refill(now);
        self.tokens
    }

    fn refill(&mut self, now: Nanos) {
        let now = Millis::new(now.get() / 1_000_000);
        self.tokens = self.tokens.plus(self.rate.over(now.since(self.at))).min(self.burst);
        self.at = now;
    }
}
