//! What the slices come to.

use super::relay::{Slice, Track};
use crate::spread::{Quartiles, at};
use serde::Serialize;

/// What one contender did, over all rounds.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Performance {
    pub(super) name: String,
    /// In each call; none if its calls are not about leases.
    pub(super) applications: u32,
    pub(super) calls_per_second: Quartiles,
    pub(super) leases_per_second: Quartiles,
    /// What the server worked on a call.
    pub(super) server_micros: Quartiles,
    pub(super) latency_micros: Latency,
}

/// How long calls took from the client's side, over all rounds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(super) struct Latency {
    pub(super) p50: f64,
    pub(super) p99: f64,
    pub(super) max: f64,
}

/// A number that is to be reached.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Goal {
    pub(super) what: String,
    pub(super) bound: Bound,
    /// The median over all rounds of the ratio within a round.
    pub(super) measured: Quartiles,
    pub(super) is_met: bool,
}

/// Which side of a number is good.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Bound {
    AtLeast(f64),
    AtMost(f64),
}

impl Performance {
    pub(super) fn of(track: &Track) -> Self {
        Self {
            name: track.name.clone(),
            applications: track.applications,
            calls_per_second: track.over(Slice::rate),
            leases_per_second: track.over(|slice| slice.rate() * f64::from(track.applications)),
            server_micros: track.over(Slice::server_micros),
            latency_micros: Latency::of(track),
        }
    }
}

impl Latency {
    fn of(track: &Track) -> Self {
        let latencies = track.slices.iter().flat_map(|slice| &slice.latencies);
        let mut micros: Vec<f64> = latencies.map(|latency| latency.as_secs_f64() * 1e6).collect();
        micros.sort_by(f64::total_cmp);
        Self { p50: at(&micros, 50, 100), p99: at(&micros, 99, 100), max: at(&micros, 1, 1) }
    }
}

impl Goal {
    pub(super) fn new(what: impl Into<String>, bound: Bound, measured: Quartiles) -> Self {
        let is_met = match bound {
            Bound::AtLeast(least) => measured.median >= least,
            Bound::AtMost(most) => measured.median <= most,
        };
        Self { what: what.into(), bound, measured, is_met }
    }
}

impl Track {
    pub(super) fn over(&self, value: impl Fn(&Slice) -> f64) -> Quartiles {
        Quartiles::of(self.slices.iter().map(value))
    }

    /// The ratio of ours to theirs within each round.
    pub(super) fn ratio_to(&self, theirs: &Self, value: impl Fn(&Slice) -> f64) -> Quartiles {
        let pairs = self.slices.iter().zip(&theirs.slices);
        Quartiles::of(pairs.map(|(ours, theirs)| value(ours) / value(theirs)))
    }
}

impl Slice {
    /// Calls per second, of all clients together.
    pub(super) fn rate(&self) -> f64 {
        f64::from(self.calls) / self.took.as_secs_f64()
    }

    /// Wall clock per call, of all clients together.
    pub(super) fn micros(&self) -> f64 {
        1e6 / self.rate()
    }

    pub(super) fn server_micros(&self) -> f64 {
        self.server.as_secs_f64() * 1e6 / f64::from(self.calls)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn track(calls: [u32; 3]) -> Track {
        let slice = |calls| Slice {
            calls,
            took: Duration::from_secs(1),
            server: Duration::from_millis(500),
            latencies: (1..=100).map(Duration::from_micros).collect(),
        };
        Track { name: "t".into(), applications: 16, slices: calls.map(slice).to_vec() }
    }

    #[test]
    fn a_call_counts_for_each_of_its_applications() {
        let performance = Performance::of(&track([100, 200, 300]));
        assert_eq!(performance.calls_per_second, Quartiles { low: 150.0, median: 200.0, high: 250.0 });
        assert!((performance.leases_per_second.median - 3_200.0).abs() < 1e-9);
        assert!((performance.server_micros.median - 2_500.0).abs() < 1e-9);
    }

    #[test]
    fn ratios_are_taken_within_a_round() {
        let ratio = track([100, 10, 30]).ratio_to(&track([200, 20, 60]), Slice::rate);
        assert_eq!(ratio, Quartiles { low: 0.5, median: 0.5, high: 0.5 });
    }

    #[test]
    fn latencies_are_those_of_all_rounds() {
        let latency = Latency::of(&track([1, 1, 1]));
        assert!((latency.p50 - 50.5).abs() < 1.0 && (latency.p99 - 99.0).abs() < 1.0, "{latency:?}");
        assert!((latency.max - 100.0).abs() < 1e-6, "{latency:?}");
    }

    #[test]
    fn a_goal_is_met_on_its_good_side() {
        let met = |bound| Goal::new("g", bound, Quartiles::of([0.5])).is_met;
        assert!(met(Bound::AtLeast(0.5)) && met(Bound::AtMost(0.5)));
        assert!(!met(Bound::AtLeast(0.6)) && !met(Bound::AtMost(0.4)));
    }
}
