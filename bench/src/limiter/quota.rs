//! The same quota in both sides' words.

use crate::race::Outcome;
use anyhow::Context;
use governor::Quota;
use std::num::NonZeroU32;
use std::time::Duration;
use tollgate_limiter::Limit;

/// A rate that is never used up, yet below the one at which governor's interval, whole nanoseconds, rounds to
/// nothing; and a divisor of a second, so that both sides' intervals are exact.
const PLENTY: NonZeroU32 = NonZeroU32::new(500_000_000).unwrap();

/// A quota that always comes out like that, once the first token is gone.
pub(super) fn quota(outcome: Outcome) -> anyhow::Result<(Limit, Quota)> {
    let (amount, period) = match outcome {
        Outcome::Allowed => (PLENTY, Duration::from_secs(1)),
        Outcome::Refused => (NonZeroU32::MIN, Duration::from_hours(1)),
    };
    let ours = Limit::per(amount.get().into(), period)?;
    let theirs = Quota::with_period(period / amount.get()).context("a period of nothing")?;
    Ok((ours, theirs.allow_burst(amount)))
}
