use super::{Tokens, saturate};
use core::fmt;

/// A share of something, held in ten-thousandths: `0.1` is 1,000 of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Ratio(u32);

/// Why a number is not a ratio.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RatioError {
    /// The number that was offered.
    pub value: f64,
}

impl Ratio {
    /// None of it.
    pub const ZERO: Self = Self(0);

    /// All of it.
    pub const ONE: Self = Self(Self::SCALE);

    /// A hundred times as much.
    pub const MAX: Self = Self(100 * Self::SCALE);

    /// How many parts make one.
    pub const SCALE: u32 = 10_000;

    /// `parts` ten-thousandths, at most [`Ratio::MAX`].
    pub const fn from_parts(parts: u32) -> Self {
        if parts > Self::MAX.0 { Self::MAX } else { Self(parts) }
    }

    /// `percent` hundredths.
    pub const fn percent(percent: u32) -> Self {
        Self::from_parts(percent.saturating_mul(100))
    }

    /// The ratio nearest to `value`, which must be a number between 0 and 100.
    pub fn from_f64(value: f64) -> Result<Self, RatioError> {
        let parts = value * f64::from(Self::SCALE);
        if !(0.0..=f64::from(Self::MAX.0)).contains(&parts) {
            return Err(RatioError { value });
        }
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked to be in range")]
        Ok(Self((parts + 0.5) as u32))
    }

    /// `part / whole`, rounded down, at most [`Ratio::MAX`]. With nothing to compare to: zero of nothing is
    /// zero, anything of nothing is the maximum.
    pub const fn of_parts(part: u64, whole: u64) -> Self {
        if whole == 0 {
            return if part == 0 { Self::ZERO } else { Self::MAX };
        }
        match saturate(part as u128 * Self::SCALE as u128 / whole as u128) {
            #[expect(clippy::cast_possible_truncation, reason = "below MAX, which is of this type")]
            parts if parts < Self::MAX.0 as u64 => Self(parts as u32),
            _ => Self::MAX,
        }
    }

    /// The ratio in ten-thousandths.
    pub const fn parts(self) -> u32 {
        self.0
    }

    /// The ratio as a floating-point number, for showing.
    pub fn as_f64(self) -> f64 {
        f64::from(self.0) / f64::from(Self::SCALE)
    }

    /// The difference, at least zero.
    #[must_use]
    pub const fn minus(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }

    /// The sum, at most [`Ratio::MAX`].
    #[must_use]
    pub const fn plus(self, other: Self) -> Self {
        Self::from_parts(self.0 + other.0)
    }

    /// This share of `amount`, rounded down.
    pub const fn of(self, amount: Tokens) -> Tokens {
        Tokens::from_micros(self.apply(amount.micros()))
    }

    /// This share of `amount`, rounded up to a whole token.
    pub const fn of_rounded_up(self, amount: Tokens) -> Tokens {
        let scale = Self::SCALE as u128 * Tokens::MICROS_PER_TOKEN as u128;
        Tokens::whole(saturate((amount.micros() as u128 * self.0 as u128).div_ceil(scale)))
    }

    /// This share of a plain number, rounded down and saturating.
    pub const fn apply(self, value: u64) -> u64 {
        saturate(value as u128 * self.0 as u128 / Self::SCALE as u128)
    }
}

impl fmt::Display for Ratio {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.as_f64())
    }
}

impl fmt::Display for RatioError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is not a ratio between 0 and {}", self.value, Ratio::MAX)
    }
}

impl core::error::Error for RatioError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refuses_what_is_not_a_share() {
        for value in [f64::NAN, f64::INFINITY, -0.1, 100.1, f64::MAX] {
            assert!(Ratio::from_f64(value).is_err(), "{value}");
        }
        assert_eq!(Ratio::from_f64(0.1), Ok(Ratio::percent(10)));
        assert_eq!(Ratio::from_f64(-0.0), Ok(Ratio::ZERO));
        assert_eq!(Ratio::from_f64(100.0), Ok(Ratio::MAX));
    }

    #[test]
    fn applies_without_overflow() {
        assert_eq!(Ratio::MAX.apply(u64::MAX), u64::MAX);
        assert_eq!(Ratio::MAX.of(Tokens::MAX), Tokens::MAX);
        assert_eq!(Ratio::percent(120).of_rounded_up(Tokens::whole(1)), Tokens::whole(2));
        assert_eq!(Ratio::percent(120).of_rounded_up(Tokens::whole(10_000)), Tokens::whole(12_000));
    }

    #[test]
    fn compares_to_nothing() {
        assert_eq!(Ratio::of_parts(0, 0), Ratio::ZERO);
        assert_eq!(Ratio::of_parts(1, 0), Ratio::MAX);
        assert_eq!(Ratio::of_parts(19, 20), Ratio::percent(95));
    }
}
