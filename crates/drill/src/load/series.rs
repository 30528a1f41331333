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

    pub(crate) fn count(&mut self, at: Duration) {
        let index = usize::try_from(at.as_millis() / Self::STEP.as_millis()).unwrap_or(usize::MAX);
        if index >= self.0.len() {
            self.0.resize(index + 1, 0);
        }
        self.0[index] += 1;
    }

    /// Seconds since the start, and how many passed in the second before: a sliding one. What has only begun is left out.
    pub fn per_second(&self) -> Vec<(f64, f64)> {
        let complete = &self.0[..self.0.len().saturating_sub(1)];
        let sums = complete.windows(Self::A_SECOND).map(|second| f64::from(second.iter().sum::<u32>()));
        (0_u32..)
            .zip(sums)
            .map(|(count, sum)| (1.0 + f64::from(count) * Self::STEP.as_secs_f64(), sum))
            .collect()
    }

    /// How many passed from then to then, by the counts that lie between, and in how many seconds that was.
    pub(crate) fn between(&self, from: f64, to: f64) -> (f64, f64) {
        let step = Self::STEP.as_secs_f64();
        let (first, end) = ((from / step).ceil(), (to / step).floor());
        let starts = (0_u32..).map(f64::from);
        let within = starts.zip(&self.0).filter(|(start, _)| (first..end).contains(start));
        // Where nothing passes any more there are no counts, but time goes by.
        (within.map(|(_, count)| f64::from(*count)).sum(), (end - first).max(0.0) * step)
    }

    /// By how much more passed than at that rate, in whatever time that was most.
    pub(crate) fn beyond(&self, rate: f64) -> f64 {
        let at_most = rate * Self::STEP.as_secs_f64();
        let until_here = self.0.iter().scan(0.0_f64, |sum, count| {
            *sum = sum.max(0.0) + f64::from(*count) - at_most;
            Some(*sum)
        });
        until_here.fold(0.0, f64::max)
    }

    /// Whether as much passed in the last second before `now` that was counted, which must not be long ago.
    pub(crate) fn reaches(&self, rate: f64, now: f64) -> bool {
        let recent = now - 3.0 * Self::STEP.as_secs_f64();
        self.per_second().last().is_some_and(|(at, sum)| *at >= recent && *sum >= rate)
    }

    /// The end of the last second after `time` in which less passed; that time itself if there is none.
    pub(crate) fn short_until(&self, rate: f64, time: f64) -> f64 {
        let seconds = self.per_second().into_iter();
        seconds.filter(|(at, sum)| *at >= time + 1.0 && *sum < rate).map(|(at, _)| at).fold(time, f64::max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_slide_by_quarters_and_the_last_is_not_over() {
        let mut series = Series::default();
        for at in [0, 100, 300, 600, 900, 1_100, 1_400] {
            series.count(Duration::from_millis(at));
        }
        assert_eq!(series.per_second(), [(1.0, 5.0), (1.25, 4.0)]);
        assert!(series.reaches(4.0, 1.5) && !series.reaches(5.0, 1.5));
        assert!(!series.reaches(4.0, 9.0), "nothing has passed for a while");
    }

    #[test]
    fn what_passed_between_is_in_whole_counts() {
        let mut series = Series::default();
        for at in [0, 250, 300, 500, 750, 1_000] {
            series.count(Duration::from_millis(at));
        }
        let is = |(from, to): (f64, f64), (sum, seconds): (f64, f64)| {
            let seen = series.between(from, to);
            assert!((seen.0 - sum).abs() + (seen.1 - seconds).abs() < 1e-9, "{seen:?}");
        };
        is((0.0, 9.0), (6.0, 9.0));
        is((0.1, 0.9), (3.0, 0.5));
        is((0.6, 0.7), (0.0, 0.0));
    }

    #[test]
    fn the_time_counts_in_which_most_passed_beyond_the_rate() {
        let beyond = |counts: &[u32], rate| Series(counts.to_vec()).beyond(rate);
        let is = |counts: &[u32], expected: f64| (beyond(counts, 40.0) - expected).abs() < 1e-9;
        assert!(is(&[], 0.0) && is(&[10, 9, 1], 0.0));
        assert!(is(&[30, 0, 30, 5], 30.0), "{}", beyond(&[30, 0, 30, 5], 40.0));
        assert!(is(&[0, 0, 0, 0, 25, 12, 10, 0], 17.0), "what did not pass before is no room for it");
    }

    #[test]
    fn it_is_short_until_enough_passes() {
        let mut series = Series::default();
        for at in [0, 250, 500, 750, 2_000, 2_250, 2_500, 2_750, 3_000] {
            series.count(Duration::from_millis(at));
        }
        let is_at = |time: f64, expected: f64| (series.short_until(4.0, time) - expected).abs() < 1e-9;
        assert!(is_at(0.0, 2.75) && is_at(2.0, 2.0));
    }
}
