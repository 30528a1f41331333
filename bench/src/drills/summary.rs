//! All runs of a drill in a line.

use super::Runs;
use tollgate_drill::{Level, Outcome};

/// The worst of all runs, where there is a worst.
#[derive(Clone, Debug)]
pub(super) struct Summary<'a> {
    runs: &'a Runs,
    outcomes: &'a [Outcome],
    /// How often it was to be played.
    times: u32,
}

impl<'a> Summary<'a> {
    pub(super) const HEADINGS: [&'static str; 11] = [
        "drill",
        "as promised",
        "reached the server",
        "of the most",
        "meanwhile (1/s)",
        "failed, excused",
        "failed",
        "slowest (ms)",
        "ledger at worst",
        "well after (s)",
        "memory (MiB)",
    ];

    pub(super) fn of(runs: &'a Runs, times: u32) -> Option<Self> {
        (!runs.outcomes.is_empty()).then_some(Self { runs, outcomes: &runs.outcomes, times })
    }

    pub(super) fn row(&self) -> [String; 11] {
        let good = self.outcomes.iter().filter(|outcome| outcome.broken().is_empty()).count();
        let share = self.worst(|outcome| 100.0 * number(outcome.served) / outcome.most);
        let recovery = self.worst(|outcome| outcome.recovery.unwrap_or(f64::INFINITY));
        let mebibytes = |pick: fn(&Outcome) -> u64| self.worst(|outcome| number(pick(outcome)) / 1024.0);
        [
            self.runs.drill.into(),
            format!("{good} of {}", self.times),
            format!("{:.0}", self.worst(|outcome| number(outcome.served))),
            format!("{share:.0} %"),
            self.meanwhile(),
            format!("{:.0}", self.worst(|outcome| number(outcome.excused))),
            format!("{:.0}", self.worst(|outcome| number(outcome.wrong.values().sum()))),
            format!("{:.0}", self.worst(|outcome| number(outcome.slowest_ms))),
            self.outcomes.iter().map(|outcome| outcome.level).max().unwrap_or(Level::Normal).to_string(),
            format!("{recovery:.1}"),
            format!(
                "{:.0} to {:.0}",
                mebibytes(|outcome| outcome.memory_kib.0),
                mebibytes(|outcome| outcome.memory_kib.1)
            ),
        ]
    }

    /// What passed in a second while something was broken, where that was least.
    fn meanwhile(&self) -> String {
        let least = self.outcomes.iter().filter_map(|outcome| outcome.meanwhile).reduce(f64::min);
        least.map_or_else(|| "-".into(), |least| format!("{least:.0}"))
    }

    fn worst(&self, pick: impl Fn(&Outcome) -> f64) -> f64 {
        self.outcomes.iter().map(pick).fold(0.0, f64::max)
    }
}

fn number(count: u64) -> f64 {
    u32::try_from(count).map_or(f64::INFINITY, f64::from)
}
