//! Whether an application stays within its guarantee.

use tollgate_core::units::{Nanos, Rate, Tokens};

/// How much of a second an application may be ahead of its guarantee and still be within it.
const AHEAD_MS: u64 = 200;

/// Follows what is asked for of one application.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Guarantee {
    rate: Rate,
    /// How far it is ahead, in millionths of a token.
    ahead: u64,
    at: Nanos,
    /// When it last asked for more than its guarantee.
    exceeded_at: Option<Nanos>,
}

impl Guarantee {
    pub(crate) const fn new(rate: Rate) -> Self {
        Self { rate, ahead: 0, at: Nanos::ZERO, exceeded_at: None }
    }

    pub(crate) fn ask(&mut self, cost: Tokens, now: Nanos) {
        let fallen = u128::from(self.rate.millis()) * u128::from(now.since(self.at).get()) / 1_000_000;
        self.ahead = self.ahead.saturating_sub(u64::try_from(fallen).unwrap_or(u64::MAX)) + cost.micros();
        self.at = now;
        if self.ahead > self.rate.millis() * AHEAD_MS {
            self.exceeded_at = Some(now);
        }
    }

    /// It has got more than what passed: its guarantee is used for that first.
    pub(crate) const fn exceed(&mut self, now: Nanos) {
        self.exceeded_at = Some(now);
    }

    pub(crate) const fn change(&mut self, rate: Rate, now: Nanos) {
        self.rate = rate;
        self.exceeded_at = Some(now);
    }

    /// Whether it has been within its guarantee for as long as `time`.
    pub(crate) fn is_within(&self, time: Nanos, now: Nanos) -> bool {
        self.exceeded_at.is_none_or(|at| now.since(at) >= time)
    }
}
