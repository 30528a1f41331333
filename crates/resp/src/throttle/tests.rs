use super::*;
use proptest::prelude::*;
use std::collections::HashMap;
use tollgate_limiter::{Algorithm, ManualClock};

fn limiter() -> (ManualClock, Limiter<ManualClock>) {
    let clock = ManualClock::default();
    (clock.clone(), Limiter::builder().algorithm(Algorithm::Gcra).build_with_clock(clock))
}

fn ask(limiter: &Limiter<ManualClock>, words: &str) -> Result<[i64; 5], String> {
    let words: Vec<&[u8]> = words.split(' ').map(str::as_bytes).collect();
    answer(limiter, &words)
}

/// The example that redis-cell is explained by: thirty in a minute, fifteen more than one at once.
#[test]
fn the_known_example_holds() {
    let (_, limiter) = limiter();
    assert_eq!(ask(&limiter, "user123 15 30 60 1"), Ok([0, 16, 15, -1, 2]));
    assert_eq!(ask(&limiter, "user123 15 30 60"), Ok([0, 16, 14, -1, 4]));
}

/// A bucket of five with one a second, at these moments: (milliseconds, quantity, limited, remaining, reset, retry).
#[test]
fn a_story_of_one_bucket() {
    let (clock, limiter) = limiter();
    let mut now = 0;
    for (at, quantity, expected) in [
        (0, 6, [1, 5, 5, -1, 0]),
        (0, 1, [0, 5, 4, -1, 1]),
        (0, 1, [0, 5, 3, -1, 2]),
        (0, 1, [0, 5, 2, -1, 3]),
        (0, 1, [0, 5, 1, -1, 4]),
        (0, 1, [0, 5, 0, -1, 5]),
        (0, 1, [1, 5, 0, 1, 5]),
        (3_000, 1, [0, 5, 2, -1, 3]),
        (3_100, 1, [0, 5, 1, -1, 4]),
        (4_000, 1, [0, 5, 1, -1, 4]),
        (8_000, 1, [0, 5, 4, -1, 1]),
        (9_500, 1, [0, 5, 4, -1, 1]),
        (9_500, 0, [0, 5, 4, -1, 1]),
        (9_500, 2, [0, 5, 2, -1, 3]),
        (9_500, 5, [1, 5, 2, 3, 3]),
    ] {
        clock.advance(Duration::from_millis(at - now));
        now = at;
        assert_eq!(ask(&limiter, &format!("foo 4 1 1 {quantity}")), Ok(expected), "at {at} ms, {quantity}");
    }
}

#[test]
fn what_makes_no_sense_is_refused_with_its_value() {
    let (_, limiter) = limiter();
    for (words, told) in [
        ("k 1 1", "wrong number of arguments"),
        ("k 1 1 1 1 1", "wrong number of arguments"),
        ("k -1 1 1", "max_burst is \"-1\""),
        ("k x 1 1", "max_burst is \"x\""),
        ("k 1 0 1", "the rate must be positive"),
        ("k 1 1 0", "the period must be positive"),
        ("k 1 1 1 -1", "quantity is \"-1\""),
        ("k 9223372036854775807 1 1", "at most 366 days"),
        ("k 1 1 99999999999999999999", "period is"),
        (" 1 1 1", "a key of 0 bytes"),
    ] {
        let error = ask(&limiter, words).unwrap_err();
        assert!(error.contains(told), "{words}: {error}");
    }
}

/// Theoretical arrival times in exact numbers: a nanosecond of one token is `count` parts of the period.
#[derive(Default)]
struct Model {
    arrivals: HashMap<(usize, usize), u128>,
}

/// Each with an interval of whole milliseconds, so that the answers are exact.
const LIMITS: [(u64, u64, u64); 4] = [(0, 1, 1), (4, 10, 60), (15, 30, 60), (2, 8, 3)];

impl Model {
    /// In parts of a nanosecond, `count` of which make one.
    fn ask(&mut self, key: usize, limit: usize, now: u64, n: u64) -> [i64; 5] {
        let (max_burst, count, period) = LIMITS[limit];
        let (burst, interval) = (u128::from(max_burst + 1), u128::from(period) * 1_000_000_000);
        let now = u128::from(now) * u128::from(count);
        let stored = self.arrivals.entry((key, limit)).or_insert(0);
        let next = now.max(*stored) + u128::from(n) * interval;
        let (latest, fits) = (now + burst * interval, u128::from(n) <= burst);
        let allowed = next <= latest;
        if allowed && n > 0 {
            *stored = next;
        }
        let ahead = (*stored).saturating_sub(now);
        let second = 1_000_000_000 * u128::from(count);
        let whole = |number: u128| i64::try_from(number).unwrap();
        let retry = if allowed || !fits { -1 } else { whole((next - latest).div_ceil(second)) };
        let left = whole((burst * interval - ahead.min(burst * interval)) / interval);
        [i64::from(!allowed), whole(burst), left, retry, whole(ahead.div_ceil(second))]
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 10_000, ..ProptestConfig::default() })]

    /// Whatever was asked before, the answer is that of the exact model.
    #[test]
    fn histories_agree_with_the_exact_model(
        history in prop::collection::vec((0..3usize, 0..LIMITS.len(), 0..30u64, 0..4u64), 1..40),
    ) {
        let (clock, limiter) = limiter();
        let (mut model, mut now) = (Model::default(), 0);
        for (key, limit, pause, n) in history {
            clock.advance(Duration::from_millis(pause * 100));
            now += pause * 100_000_000;
            let (max_burst, count, period) = LIMITS[limit];
            let told = ask(&limiter, &format!("key-{key} {max_burst} {count} {period} {n}"));
            prop_assert_eq!(told, Ok(model.ask(key, limit, now, n)));
        }
    }
}
