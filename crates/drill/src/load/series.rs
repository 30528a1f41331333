use serde::Serialize;
use std::time::Duration;

/// How many requests passed, by the time they were answered.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Series(Vec<u32>);

impl Series {
    /// How long one count is.
    pub const STEP: Duration = Duration::from_millis(250);

    /// How many counts make a second.
    const A_SECOND: usize = 4;

    pub(super) fn count(&mut self, at: Duration) {
        let index = usize::try_from(at.as_millis() / Self::STEP.as_millis()).unwrap_or(usize::MAX);
        if index >= self.0.len() {
            self.0.resize(index + 1, 0);
        }
        self.0[index] += 1;
    }

    /// Seconds since the start, and how many passed in the second before: a sliding one.
    pub fn per_second(&self) -> Vec<(f64, f64)> {
        let step = Self::STEP.as_secs_f64();
        let sums = self.0.windows(Self::A_SECOND).map(|second| f64::from(second.iter().sum::<u32>()));
        (1_u32..).zip(sums).map(|(count, sum)| (f64::from(count) * step + 0.75, sum)).collect()
    }

    /// When the rate was at least this much again after that time, in seconds since the start.
    pub(crate) fn reaches(&self, rate: f64, after: f64) -> Option<f64> {
        // A second that lies behind that time as a whole.
        self.per_second().into_iter().find(|(at, sum)| *at >= after + 1.0 && *sum >= rate).map(|(at, _)| at - 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_slide_by_quarters() {
        let mut series = Series::default();
        for at in [0, 100, 300, 600, 900, 1_100] {
            series.count(Duration::from_millis(at));
        }
        assert_eq!(series.per_second(), [(1.0, 5.0), (1.25, 4.0)]);
        assert_eq!(series.reaches(4.0, 0.1), Some(0.25));
        assert_eq!(series.reaches(6.0, 0.0), None);
    }
}
