//! One story with many seeds.

use super::super::Outcome;
use super::Simulate;
use super::progress::Progress;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use tollgate_sim::scenario::Measure;
use tollgate_sim::{Failure, Scenario, Summary};

/// After how many broken rules it is enough.
const MOST_FAILURES: usize = 10;

/// What came of many runs.
#[derive(Default)]
pub(super) struct Many {
    pub(super) played: u64,
    pub(super) failures: BTreeMap<u64, Failure>,
    /// The first seeds that did not meet an expectation, and how many did not.
    pub(super) unmet: BTreeMap<String, (u64, u64)>,
    worst: BTreeMap<&'static str, (Measure, f64, u64)>,
}

/// Plays them, with a bar that grows.
pub(super) fn run(simulate: &Simulate, scenario: &Scenario) -> anyhow::Result<Outcome> {
    let seeds = simulate.seed..simulate.seed.saturating_add(simulate.seeds);
    let mut many = Many::default();
    let mut progress = Progress::new(simulate.seeds, " seeds");
    scenario.run_many(seeds, simulate.staging(), |outcome| {
        many.add(scenario, outcome.seed, &outcome.summary);
        if let Some(failure) = outcome.failure {
            let (seed, violation) = (outcome.seed, &failure.violation);
            progress.tell(&format!("seed {seed} broke a rule: {violation}"));
            many.failures.insert(seed, failure);
        }
        progress.show(many.played, &format!(", {} broke a rule", many.failures.len()));
        many.failures.len() < MOST_FAILURES
    })?;
    progress.end();
    simulate.print_many(&many, scenario)?;
    let is_well = many.failures.is_empty() && many.unmet.is_empty();
    Ok(if is_well { Outcome::Yes } else { Outcome::No })
}

impl Many {
    fn add(&mut self, scenario: &Scenario, seed: u64, summary: &Summary) {
        self.played += 1;
        for (expected, _) in summary.unmet(scenario) {
            let (first, count) = self.unmet.entry(expected.measure.name().to_owned()).or_insert((seed, 0));
            *first = seed.min(*first);
            *count += 1;
        }
        for measure in Measure::ALL {
            let Some(value) = summary.measure(measure, None) else { continue };
            let is_least = matches!(measure, Measure::Utilisation | Measure::Fairness);
            let worst = self.worst.entry(measure.name()).or_insert((measure, value, seed));
            if (value < worst.1) == is_least && (value.total_cmp(&worst.1).is_ne() || seed < worst.2) {
                *worst = (measure, value, seed);
            }
        }
    }

    pub(super) fn to_text(&self, scenario: &Scenario) -> String {
        let mut lines =
            vec![format!("{}: {} seeds, {} broke a rule", scenario.name, self.played, self.failures.len())];
        for (measure, value, seed) in self.worst.values() {
            lines.push(format!("worst {measure}: {} (seed {seed})", measure.show(*value)));
        }
        for (name, (first, count)) in &self.unmet {
            lines.push(format!(
                "NO   {name} was not as expected with {count} seeds, the first of them {first}"
            ));
        }
        lines.join("\n") + "\n"
    }

    pub(super) fn worst_values(&self) -> Value {
        let values = self.worst.values().map(|(measure, value, seed)| {
            (measure.name().to_owned(), json!({ "value": value, "seed": seed }))
        });
        Value::Object(values.collect())
    }
}
