//! `CL.THROTTLE key max_burst count period [quantity]`

use crate::reply::Reply;
use std::time::Duration;
use tollgate_limiter::{Clock, Limit, Limiter};

/// The longest key, in bytes.
const MAX_KEY: usize = 1_024;

/// Takes tokens of a bucket that holds one more than `max_burst` and gets `count` every `period` seconds.
pub(crate) fn throttle<C: Clock>(limiter: &Limiter<C>, words: &[&[u8]]) -> Reply {
    match answer(limiter, words) {
        Ok(numbers) => Reply::Throttled(numbers),
        Err(why) => Reply::error(why),
    }
}

fn answer<C: Clock>(limiter: &Limiter<C>, words: &[&[u8]]) -> Result<[i64; 5], String> {
    let (key, numbers, quantity) = match words {
        [key, max_burst, count, period] => (key, [max_burst, count, period], 1),
        [key, max_burst, count, period, quantity] => {
            (key, [max_burst, count, period], number("quantity", quantity)?)
        }
        _ => {
            return Err(
                "wrong number of arguments, expected CL.THROTTLE key max_burst count period [quantity]"
                    .into(),
            );
        }
    };
    if key.is_empty() || key.len() > MAX_KEY {
        return Err(format!("a key of {} bytes, expected 1 to {MAX_KEY}", key.len()));
    }
    let [max_burst, count, period] = numbers;
    let burst = number("max_burst", max_burst)?.saturating_add(1);
    let period = Duration::from_secs(number("period", period)?);
    let limit = Limit::per(number("count", count)?, period).and_then(|limit| limit.with_burst(burst));
    let limit = limit.map_err(|error| error.to_string())?;
    let answer = match quantity {
        0 => limiter.peek(key, &limit),
        n => limiter.allow_n(key, &limit, n),
    };
    let answer = answer.map_err(|error| error.to_string())?;
    let allowed = answer.is_allowed();
    let retry_after = answer.retry_after().filter(|_| !allowed).map_or(-1, seconds);
    Ok([
        i64::from(!allowed),
        whole(burst),
        whole(answer.remaining()),
        retry_after,
        seconds(answer.reset_after()),
    ])
}

fn number(name: &str, word: &[u8]) -> Result<u64, String> {
    let text = std::str::from_utf8(word).ok();
    text.and_then(|text| text.parse().ok()).filter(|&number: &u64| i64::try_from(number).is_ok()).ok_or_else(
        || {
            let shown: String = String::from_utf8_lossy(word).chars().take(32).collect();
            format!("{name} is {shown:?}, expected a whole number that is not negative")
        },
    )
}

/// Rounded up: whoever comes back then must not be early.
fn seconds(time: Duration) -> i64 {
    whole(time.as_secs() + u64::from(time.subsec_nanos() > 0))
}

fn whole(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests;
