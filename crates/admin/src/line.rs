//! The lines to the ledgers: how long calls took of late, and how much of the time one was under way.

use std::collections::BTreeMap;
use tollgate_core::id::ClusterId;
use tollgate_core::units::Nanos;
use tollgate_node::Spans;
use tollgate_node::desk::Standing;

/// How far back is looked at least, in milliseconds; at most it is twice as far.
const WINDOW_MS: i64 = 300_000;

/// What is known of the lines to the ledgers at one time.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Line {
    /// How long the calls of the last five to ten minutes took.
    pub(crate) took: Spans,
    /// The share of the time since the last look in which a call was under way; of several lines the busiest. Calls count when
    /// they are over.
    pub(crate) usage: f64,
}

impl Line {
    /// What so many of a hundred calls stayed under, in milliseconds; 0 if there were none.
    pub(crate) fn latency(&self, percent: u64) -> f64 {
        self.took.percentile(percent).map_or(0.0, |span| span.get() as f64 / 1e6)
    }
}

/// Reads the lines, look by look.
#[derive(Debug, Default)]
pub(crate) struct Lines {
    /// What had been counted when the window before this one began, and when this one did.
    before: Spans,
    begun: Spans,
    begun_at: i64,
    /// How long each line had been in use at the last look, and when that was.
    used: BTreeMap<ClusterId, Nanos>,
    looked_at: i64,
}

impl Lines {
    pub(crate) fn look(&mut self, standing: &BTreeMap<ClusterId, Standing>, now: i64) -> Line {
        let all = standing.values().fold(Spans::default(), |sum, one| sum.plus(&one.calls.took));
        if now - self.begun_at >= WINDOW_MS {
            (self.before, self.begun, self.begun_at) = (self.begun, all, now);
        }
        Line { took: all.since(&self.before), usage: self.usage(standing, now) }
    }

    fn usage(&mut self, standing: &BTreeMap<ClusterId, Standing>, now: i64) -> f64 {
        let passed = (now - self.looked_at).max(1) as f64 * 1e6;
        let used: BTreeMap<_, _> =
            standing.iter().map(|(id, one)| (id.clone(), one.calls.took.total)).collect();
        // What was there before anybody looked was not in this time.
        let known = used.iter().filter_map(|(id, total)| Some(total.since(*self.used.get(id)?)));
        let busiest = known.max().unwrap_or(Nanos::ZERO);
        (self.used, self.looked_at) = (used, now);
        (busiest.get() as f64 / passed).min(1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tollgate_core::degrade::Level;
    use tollgate_core::units::Ratio;
    use tollgate_node::SPAN_BOUNDS;
    use tollgate_node::desk::Calls;

    /// One that has made so many calls of a millisecond and so many of 40.
    fn standing(quick: u64, slow: u64) -> BTreeMap<ClusterId, Standing> {
        let mut took = Spans::default();
        let bucket =
            |millis: u64| SPAN_BOUNDS.partition_point(|bound| *bound < Nanos::new(millis * 1_000_000));
        (took.counts[bucket(1)], took.counts[bucket(40)]) = (quick, slow);
        took.total = Nanos::new((quick + 40 * slow) * 1_000_000);
        let calls = Calls { made: quick + slow, took, ..Calls::default() };
        let standing = Standing {
            level: Level::Normal,
            is_cut_off: false,
            is_emergency: false,
            cut: Ratio::ZERO,
            version: 1,
            epoch: 1,
            leases: 0,
            calls,
        };
        BTreeMap::from([(ClusterId::new("c").unwrap(), standing)])
    }

    fn shown(line: &Line, percent: u64) -> String {
        line.latency(percent).to_string()
    }

    #[test]
    fn every_call_counts_and_not_one_in_a_second() {
        let mut lines = Lines::default();
        lines.look(&standing(0, 0), 1_000_000);
        let line = lines.look(&standing(95, 5), 1_001_000);
        assert_eq!([50, 95, 99].map(|percent| shown(&line, percent)), ["1", "1", "40"]);
        // 95 ms and 200 ms of the second.
        assert!((line.usage - 0.295).abs() < 1e-9, "{}", line.usage);
        assert!(lines.look(&standing(95, 5), 1_002_000).usage.abs() < 1e-9);
    }

    #[test]
    fn what_was_slow_long_ago_is_forgotten() {
        let mut lines = Lines::default();
        let start = 1_000_000;
        lines.look(&standing(0, 0), start);
        let slow = lines.look(&standing(0, 10), start + 1_000);
        assert_eq!(shown(&slow, 99), "40");
        let later = lines.look(&standing(1, 10), start + WINDOW_MS);
        assert_eq!(shown(&later, 99), "40", "not before twice the window");
        let last = lines.look(&standing(2, 10), start + 2 * WINDOW_MS);
        assert_eq!((shown(&last, 99).as_str(), last.took.count()), ("1", 1));
        assert_eq!(shown(&Line::default(), 50), "0");
    }
}
