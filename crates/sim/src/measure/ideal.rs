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

    /// From now on it has what somebody else has: so much in the bucket, and so much drawn in a window that opened so long
    /// ago. Who was slower until then has saved more, and would seem to be better than the best from here on.
    pub(super) fn take_over(&mut self, tokens: Tokens, drawn: Option<(Tokens, Millis)>, now: Nanos) {
        self.at = Millis::new(now.get() / 1_000_000);
        self.tokens = tokens.min(self.quota.burst);
        self.drawn = drawn.map(|(drawn, _)| drawn).unwrap_or_default();
        self.opened_at = drawn.map(|(_, ago)| Millis::new(self.at.since(ago).get()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tollgate_core::priority::Priority;
    use tollgate_core::quota::LoanTerms;
    use tollgate_core::units::Rate;

    fn ideal() -> Ideal {
        Ideal::new(Quota {
            guaranteed: Rate::per_second(10),
            burst: Tokens::whole(50),
            burst_window: Millis::from_secs(60),
            priority: Priority::P1,
            loan: LoanTerms::default(),
        })
    }

    /// What passes of requests of one token each that come all at once.
    fn passes(ideal: &mut Ideal, now: Nanos) -> usize {
        (0..1_000).filter(|_| ideal.pass(Tokens::whole(1), now)).count()
    }

    #[test]
    fn lets_pass_a_second_and_the_allowance_to_start_with() {
        let mut ideal = ideal();
        assert_eq!(passes(&mut ideal, Nanos::ZERO), 10 + 40);
        assert_eq!(passes(&mut ideal, Nanos::from_secs(2)), 20);
    }

    /// It has used its allowance up; the system has not, and will.
    #[test]
    fn what_somebody_else_has_saved_may_pass_later() {
        let now = Nanos::from_secs(30);
        let mut ideal = ideal();
        passes(&mut ideal, now);
        ideal.take_over(Tokens::whole(20), Some((Tokens::whole(15), Millis::from_secs(5))), now);
        assert_eq!(passes(&mut ideal, now), 20 + 25);
        assert_eq!(passes(&mut ideal, Nanos::from_secs(84)), 50, "the window is open for another second");
        assert_eq!(passes(&mut ideal, Nanos::from_secs(85)), 10 + 40);
    }

    #[test]
    fn nobody_has_saved_more_than_the_burst() {
        let mut ideal = ideal();
        ideal.take_over(Tokens::whole(500), None, Nanos::ZERO);
        assert_eq!(passes(&mut ideal, Nanos::ZERO), 50 + 40);
    }
}
