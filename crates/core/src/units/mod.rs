//! Quantities that cannot be mixed up.
//!
//! The three scales are chosen so that minting is one exact multiplication: a rate in thousandths of a token
//! per second, over a time in milliseconds, is an amount in millionths of a token. Nothing is rounded, so
//! nothing is lost however often a bucket is looked at; and every value and product stays below 2^53, so a
//! script that only knows doubles computes the same numbers.

mod rate;
mod ratio;
mod time;
mod tokens;

pub use rate::Rate;
pub use ratio::{Ratio, RatioError};
pub use time::{Millis, Nanos};
pub use tokens::Tokens;

/// The largest number there is room for, where a product needs more.
#[expect(clippy::cast_possible_truncation, reason = "checked to fit")]
const fn saturate(wide: u128) -> u64 {
    if wide > u64::MAX as u128 { u64::MAX } else { wide as u64 }
}
