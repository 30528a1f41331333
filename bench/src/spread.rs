//! What a heap of numbers comes to.

use serde::{Deserialize, Serialize};
use std::fmt;

/// The median and the quartiles.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(crate) struct Quartiles {
    pub(crate) low: f64,
    pub(crate) median: f64,
    pub(crate) high: f64,
}

/// The median and the extremes: for numbers too few to have quartiles.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Range {
    pub(crate) min: f64,
    pub(crate) median: f64,
    pub(crate) max: f64,
}

impl Quartiles {
    pub(crate) fn of(values: impl IntoIterator<Item = f64>) -> Self {
        let sorted = sorted(values);
        Self { low: at(&sorted, 1, 4), median: at(&sorted, 2, 4), high: at(&sorted, 3, 4) }
    }
}

impl Range {
    pub(crate) fn of(values: impl IntoIterator<Item = f64>) -> Self {
        let sorted = sorted(values);
        Self { min: at(&sorted, 0, 4), median: at(&sorted, 2, 4), max: at(&sorted, 4, 4) }
    }
}

/// `median [low high]`, to as many places as asked for.
impl fmt::Display for Quartiles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let places = f.precision().unwrap_or(2);
        write!(f, "{:.places$} [{:.places$} {:.places$}]", self.median, self.low, self.high)
    }
}

/// `median (min..max)`, to as many places as asked for.
impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let places = f.precision().unwrap_or(2);
        write!(f, "{:.places$} ({:.places$}..{:.places$})", self.median, self.min, self.max)
    }
}

fn sorted(values: impl IntoIterator<Item = f64>) -> Vec<f64> {
    let mut values: Vec<f64> = values.into_iter().collect();
    values.sort_by(f64::total_cmp);
    values
}

/// The value so many parts of the whole into the sorted values, between neighbours if it falls between; not a
/// number if there are none.
pub(crate) fn at(sorted: &[f64], part: u16, whole: u16) -> f64 {
    let (part, whole) = (usize::from(part), usize::from(whole));
    let place = sorted.len().saturating_sub(1) * part;
    let value = |index: usize| sorted.get(index).copied().unwrap_or(f64::NAN);
    let (below, above) = (value(place / whole), value(place.div_ceil(whole)));
    #[expect(clippy::cast_precision_loss, reason = "both are small")]
    let between = (place % whole) as f64 / whole as f64;
    below + (above - below) * between
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quartiles_of_an_odd_count_are_values() {
        assert_eq!(Quartiles::of([5.0, 1.0, 4.0, 2.0, 3.0]), Quartiles { low: 2.0, median: 3.0, high: 4.0 });
    }

    #[test]
    fn quartiles_of_an_even_count_lie_between() {
        assert_eq!(Quartiles::of([4.0, 1.0, 3.0, 2.0]), Quartiles { low: 1.75, median: 2.5, high: 3.25 });
    }

    #[test]
    fn one_value_is_all_of_them() {
        assert_eq!(Quartiles::of([7.0]), Quartiles { low: 7.0, median: 7.0, high: 7.0 });
        assert_eq!(Range::of([7.0]), Range { min: 7.0, median: 7.0, max: 7.0 });
    }

    #[test]
    fn a_percentile_lies_that_far_into_the_values() {
        let values: Vec<f64> = (0..=200).map(f64::from).collect();
        let found = [at(&values, 99, 100), at(&values, 1, 1), at(&values[..2], 1, 4)];
        assert!(found.iter().zip([198.0, 200.0, 0.25]).all(|(found, value)| (found - value).abs() < 1e-9));
    }

    #[test]
    fn nothing_has_no_median() {
        assert!(Quartiles::of([]).median.is_nan());
    }

    #[test]
    fn a_range_keeps_the_extremes() {
        let range = Range::of([0.9, 0.5, 0.7, 0.6, 2.0]);
        assert_eq!(range, Range { min: 0.5, median: 0.7, max: 2.0 });
        assert_eq!(format!("{range:.1}"), "0.7 (0.5..2.0)");
    }

    #[test]
    fn quartiles_are_printed_to_the_places_asked_for() {
        assert_eq!(format!("{:.1}", Quartiles::of([1.0, 2.0, 3.0])), "2.0 [1.5 2.5]");
    }
}
