use super::{Millis, Ratio, Tokens};
use core::fmt;

/// A steady flow of tokens, held in thousandths of a token per second.
///
/// Never above [`Rate::MAX`]; constructors saturate there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(from = "u64", into = "u64"))]
pub struct Rate(u64);

impl Rate {
    /// Nothing flows.
    pub const ZERO: Self = Self(0);

    /// A thousand million tokens per second.
    pub const MAX: Self = Self(1_000_000_000 * Self::MILLIS_PER_TOKEN);

    const MILLIS_PER_TOKEN: u64 = 1_000;

    /// `n` whole tokens per second.
    pub const fn per_second(n: u64) -> Self {
        Self::from_millis(n.saturating_mul(Self::MILLIS_PER_TOKEN))
    }

    /// `millis` thousandths of a token per second.
    pub const fn from_millis(millis: u64) -> Self {
        if millis > Self::MAX.0 { Self::MAX } else { Self(millis) }
    }

    /// The rate in thousandths of a token per second.
    pub const fn millis(self) -> u64 {
        self.0
    }

    /// The whole tokens per second; the fraction is dropped.
    pub const fn floor(self) -> u64 {
        self.0 / Self::MILLIS_PER_TOKEN
    }

    /// Whether nothing flows.
    pub const fn is_zero(self) -> bool {
        self.0 == 0
    }

    /// The sum, at most [`Rate::MAX`].
    #[must_use]
    pub const fn plus(self, other: Self) -> Self {
        Self::from_millis(self.0 + other.0)
    }

    /// The difference, at least zero.
    #[must_use]
    pub const fn minus(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }

    /// This rate cut or raised to `ratio` of itself.
    #[must_use]
    pub const fn scaled(self, ratio: Ratio) -> Self {
        Self::from_millis(ratio.apply(self.0))
    }

    /// What one second mints.
    pub const fn per_one_second(self) -> Tokens {
        self.over(Millis::from_secs(1))
    }

    /// What this rate mints over `elapsed`: exact, up to [`Tokens::MAX`].
    pub const fn over(self, elapsed: Millis) -> Tokens {
        Tokens::from_micros(self.0.saturating_mul(elapsed.get()))
    }

    /// How long it takes to mint `amount`, rounded up; `None` if it never will.
    pub const fn time_to_mint(self, amount: Tokens) -> Option<Millis> {
        if amount.is_zero() {
            return Some(Millis::ZERO);
        }
        if self.is_zero() { None } else { Some(Millis::new(amount.micros().div_ceil(self.0))) }
    }
}

#[cfg(feature = "serde")]
impl From<u64> for Rate {
    fn from(millis: u64) -> Self {
        Self::from_millis(millis)
    }
}

#[cfg(feature = "serde")]
impl From<Rate> for u64 {
    fn from(value: Rate) -> Self {
        value.millis()
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/s", self.per_one_second())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn minting_saturates_instead_of_wrapping() {
        assert_eq!(Rate::MAX.over(Millis::new(u64::MAX)), Tokens::MAX);
        assert_eq!(Rate::ZERO.over(Millis::new(u64::MAX)), Tokens::ZERO);
        assert_eq!(Rate::ZERO.time_to_mint(Tokens::whole(1)), None);
    }

    proptest! {
        /// Splitting a span into any pieces mints the same: no fraction is lost at any call rate.
        #[test]
        fn minting_is_exact_however_time_is_cut(
            rate in 0..=1_000_000_000u64, cuts in prop::collection::vec(0..1_000u64, 1..50),
        ) {
            let rate = Rate::from_millis(rate);
            let whole = rate.over(Millis::new(cuts.iter().sum()));
            let pieces: Tokens = cuts.iter().map(|&ms| rate.over(Millis::new(ms))).sum();
            prop_assert_eq!(whole, pieces);
        }

        #[test]
        fn time_to_mint_is_the_first_moment_it_is_there(rate in 1..=1_000_000_000u64, want in 1..1_000_000_000u64) {
            let (rate, want) = (Rate::from_millis(rate), Tokens::from_micros(want));
            let wait = rate.time_to_mint(want).unwrap();
            prop_assert!(rate.over(wait) >= want);
            prop_assert!(rate.over(Millis::new(wait.get() - 1)) < want);
        }
    }
}
