use super::saturate;
use core::fmt;
use core::iter::Sum;

/// An amount of tokens, held in millionths of a token.
///
/// Never negative and never above [`Tokens::MAX`]: every constructor and operation saturates there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(from = "u64", into = "u64"))]
pub struct Tokens(u64);

impl Tokens {
    /// No tokens.
    pub const ZERO: Self = Self(0);

    /// Four thousand million tokens: two such amounts still add up exactly in a double.
    pub const MAX: Self = Self(4_000_000_000 * Self::MICROS_PER_TOKEN);

    /// How many millionths make one token.
    pub const MICROS_PER_TOKEN: u64 = 1_000_000;

    /// `n` whole tokens.
    pub const fn whole(n: u64) -> Self {
        Self::from_micros(n.saturating_mul(Self::MICROS_PER_TOKEN))
    }

    /// `micros` millionths of a token.
    pub const fn from_micros(micros: u64) -> Self {
        if micros > Self::MAX.0 { Self::MAX } else { Self(micros) }
    }

    /// The amount in millionths of a token.
    pub const fn micros(self) -> u64 {
        self.0
    }

    /// The whole tokens in this amount; the fraction is dropped.
    pub const fn floor(self) -> u64 {
        self.0 / Self::MICROS_PER_TOKEN
    }

    /// The whole tokens that cover this amount.
    pub const fn ceil(self) -> u64 {
        self.0.div_ceil(Self::MICROS_PER_TOKEN)
    }

    /// Whether there is nothing.
    pub const fn is_zero(self) -> bool {
        self.0 == 0
    }

    /// The sum, at most [`Tokens::MAX`].
    #[must_use]
    pub const fn plus(self, other: Self) -> Self {
        Self::from_micros(self.0 + other.0)
    }

    /// The difference, at least zero.
    #[must_use]
    pub const fn minus(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }

    /// The difference, or `None` if `other` is more.
    pub const fn checked_minus(self, other: Self) -> Option<Self> {
        match self.0.checked_sub(other.0) {
            Some(rest) => Some(Self(rest)),
            None => None,
        }
    }

    /// `self * part / whole`, rounded down; zero if `whole` is.
    #[must_use]
    pub const fn proportion(self, part: Self, whole: Self) -> Self {
        if whole.0 == 0 {
            return Self::ZERO;
        }
        Self::from_micros(saturate(self.0 as u128 * part.0 as u128 / whole.0 as u128))
    }
}

impl Sum for Tokens {
    fn sum<I: Iterator<Item = Self>>(amounts: I) -> Self {
        amounts.fold(Self::ZERO, Self::plus)
    }
}

#[cfg(feature = "serde")]
impl From<u64> for Tokens {
    fn from(micros: u64) -> Self {
        Self::from_micros(micros)
    }
}

#[cfg(feature = "serde")]
impl From<Tokens> for u64 {
    fn from(value: Tokens) -> Self {
        value.micros()
    }
}

impl fmt::Display for Tokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (whole, mut micros) = (self.floor(), self.0 % Self::MICROS_PER_TOKEN);
        write!(f, "{whole}")?;
        if micros == 0 {
            return Ok(());
        }
        let mut width = 6;
        while micros % 10 == 0 {
            micros /= 10;
            width -= 1;
        }
        write!(f, ".{micros:0width$}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::format;

    #[test]
    fn arithmetic_stays_between_zero_and_max() {
        assert_eq!(Tokens::whole(u64::MAX), Tokens::MAX);
        assert_eq!(Tokens::MAX.plus(Tokens::MAX), Tokens::MAX);
        assert_eq!(Tokens::ZERO.minus(Tokens::MAX), Tokens::ZERO);
        assert_eq!(Tokens::whole(1).checked_minus(Tokens::whole(2)), None);
        assert_eq!(Tokens::MAX.proportion(Tokens::MAX, Tokens::from_micros(1)), Tokens::MAX);
        assert_eq!(Tokens::MAX.proportion(Tokens::whole(1), Tokens::ZERO), Tokens::ZERO);
    }

    #[test]
    fn two_amounts_add_up_exactly_in_a_double() {
        assert!(Tokens::MAX.micros() * 2 < 1 << 53);
    }

    #[test]
    fn displays_without_trailing_zeros() {
        assert_eq!(format!("{}", Tokens::whole(12)), "12");
        assert_eq!(format!("{}", Tokens::from_micros(12_500_000)), "12.5");
        assert_eq!(format!("{}", Tokens::from_micros(40)), "0.00004");
    }
}
