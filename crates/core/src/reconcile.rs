//! Reconciliation: comparing what should be there with what is.

use crate::units::{Ratio, Tokens};

/// Drift beyond this is corrected.
pub const TOLERANCE: Ratio = Ratio::percent(10);

/// What a comparison found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finding {
    /// It differs by no more than the tolerance: left alone.
    Within(Ratio),
    /// It differed by this much: set to what was expected.
    Corrected(Ratio),
}

/// How far `actual` is from `expected`, as a share of what was expected.
pub const fn drift(expected: Tokens, actual: Tokens) -> Ratio {
    Ratio::of_parts(expected.micros().abs_diff(actual.micros()), expected.micros())
}

/// Corrects `actual` to `expected` if it drifted beyond the tolerance.
pub fn reconcile(expected: Tokens, actual: &mut Tokens) -> Finding {
    let drift = drift(expected, *actual);
    if drift <= TOLERANCE {
        return Finding::Within(drift);
    }
    *actual = expected;
    Finding::Corrected(drift)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn p14_drift_over_a_tenth_is_corrected(expected in 0..1_000_000u64, actual in 0..1_000_000u64) {
            let (mut value, expected, actual) = (Tokens::whole(actual), Tokens::whole(expected), Tokens::whole(actual));
            // Ratios are kept to a ten-thousandth, rounded down.
            let difference = u128::from(expected.micros().abs_diff(actual.micros()));
            let over = difference * 10_000 >= 1_001 * u128::from(expected.micros()) && difference > 0;
            match reconcile(expected, &mut value) {
                Finding::Corrected(_) => {
                    prop_assert!(over);
                    prop_assert_eq!(value, expected);
                }
                Finding::Within(_) => {
                    prop_assert!(!over);
                    prop_assert_eq!(value, actual);
                }
            }
        }
    }

    #[test]
    fn anything_where_nothing_was_expected_is_drift() {
        let mut actual = Tokens::whole(1);
        assert_eq!(reconcile(Tokens::ZERO, &mut actual), Finding::Corrected(Ratio::MAX));
        assert_eq!(reconcile(Tokens::ZERO, &mut actual), Finding::Within(Ratio::ZERO));
    }
}
