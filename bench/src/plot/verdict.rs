//! What a bar says of who is faster.

use crate::spread::Range;
use serde::Deserialize;

/// What a long bar means: the ratio is one of times, or one of rates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Sense {
    ShorterIsFaster,
    LongerIsFaster,
}

/// What a bar says, and what colour says it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Faster,
    /// The whisker reaches to both sides of one, whatever the median.
    Even,
    Slower,
}

impl Sense {
    pub(super) const fn words(self) -> &'static str {
        match self {
            Self::ShorterIsFaster => "shorter is faster",
            Self::LongerIsFaster => "longer is faster",
        }
    }
}

impl Verdict {
    pub(super) const ALL: [Self; 3] = [Self::Faster, Self::Even, Self::Slower];

    pub(super) fn on(ratio: Range, sense: Sense) -> Self {
        let (below, above) = match sense {
            Sense::ShorterIsFaster => (Self::Faster, Self::Slower),
            Sense::LongerIsFaster => (Self::Slower, Self::Faster),
        };
        match ratio {
            Range { max, .. } if max < 1.0 => below,
            Range { min, .. } if min > 1.0 => above,
            Range { .. } => Self::Even,
        }
    }

    pub(super) const fn class(self) -> &'static str {
        match self {
            Self::Faster => "faster",
            Self::Even => "even",
            Self::Slower => "slower",
        }
    }

    pub(super) fn meaning(self, spread: &str) -> String {
        match self {
            Self::Faster => format!("faster {spread}"),
            Self::Even => "no clear difference".into(),
            Self::Slower => format!("slower {spread}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn on(median: f64, sense: Sense) -> Verdict {
        Verdict::on(Range { min: median * 0.9, median, max: median * 1.1 }, sense)
    }

    #[test]
    fn only_what_holds_in_every_run_is_called_faster_or_slower() {
        let verdict = |median| on(median, Sense::ShorterIsFaster);
        assert_eq!(
            [0.5, 0.95, 1.05, 1.4].map(verdict),
            [Verdict::Faster, Verdict::Even, Verdict::Even, Verdict::Slower]
        );
    }

    #[test]
    fn of_rates_the_larger_one_is_faster() {
        let verdict = |median| on(median, Sense::LongerIsFaster);
        assert_eq!([0.5, 1.4].map(verdict), [Verdict::Slower, Verdict::Faster]);
    }
}
