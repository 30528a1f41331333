//! governor implements GCRA independently: on any history both must decide alike, to the nanosecond.

use core::num::NonZeroU32;
use core::time::Duration;
use governor::clock::{Clock, FakeRelativeClock};
use governor::{Quota, RateLimiter};
use proptest::prelude::*;
use tollgate_core::algorithm::{Limit, Word, gcra};
use tollgate_core::units::Nanos;

/// Intervals of whole nanoseconds, as governor keeps no fractions.
fn any_limit() -> impl Strategy<Value = (u64, u32)> {
    (prop_oneof![1..1_000u64, 1..1_000_000_000u64], 1..500u32)
}

fn any_history() -> impl Strategy<Value = Vec<(u64, u32)>> {
    let gap = prop_oneof![Just(0u64), 0..2_000u64, 0..1_000_000_000u64, 0..100_000_000_000u64];
    let n = prop_oneof![Just(1u32), 1..20u32, 1..600u32];
    prop::collection::vec((gap, n), 1..200)
}

proptest! {
    #[test]
    fn decides_as_governor_does((interval, burst) in any_limit(), history in any_history()) {
        let interval = Duration::from_nanos(interval);
        let limit = Limit::per(1, interval).unwrap().with_burst(burst.into()).unwrap();
        let clock = FakeRelativeClock::default();
        let quota = Quota::with_period(interval).unwrap().allow_burst(NonZeroU32::new(burst).unwrap());
        let oracle = RateLimiter::direct_with_clock(quota, clock.clone());

        let (mut word, mut now) = (Word::FRESH, Nanos::ZERO);
        for (gap, n) in history {
            clock.advance(Duration::from_nanos(gap));
            now = now.plus(Nanos::new(gap));
            let theirs: Option<Nanos> = match oracle.check_n(NonZeroU32::new(n).unwrap()) {
                Ok(Ok(())) => Some(Nanos::ZERO),
                Ok(Err(until)) => Some(until.wait_time_from(clock.now()).into()),
                Err(_) => None,
            };
            let wait = gcra::wait(&limit, word, now, n.into());
            let taken = gcra::take(&limit, word, now, n.into());
            prop_assert_eq!(wait, theirs, "{} of {} at {}", n, limit, now);
            prop_assert_eq!(taken.is_some(), theirs == Some(Nanos::ZERO));
            word = taken.unwrap_or(word);
        }
    }
}
