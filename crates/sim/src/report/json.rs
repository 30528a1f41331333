//! The same for programs.

use super::{Strategy, found, sentence};
use crate::chance::seconds;
use crate::check::Extra;
use crate::measure::{AppSummary, Summary};
use crate::run::{Failure, Outcome};
use crate::sabotage::Sabotage;
use crate::scenario::{Measure, Scenario};
use serde_json::{Map, Value, json};

/// What came of a run.
pub fn outcome_value(scenario: &Scenario, outcome: &Outcome) -> Value {
    json!({
        "scenario": scenario.name,
        "seed": outcome.seed,
        "events": outcome.events,
        "summary": summary_value(&outcome.summary),
        "expectations": expectation_values(scenario, &outcome.summary),
        "failure": outcome.failure.as_ref().map(failure_value),
    })
}

/// A rule that was broken.
pub fn failure_value(failure: &Failure) -> Value {
    json!({
        "rule": failure.violation.rule.name(),
        "at_s": seconds(failure.violation.at),
        "event": failure.violation.event,
        "what": failure.violation.what,
        "ledger": failure.staging.ledger.name(),
        "sabotage": failure.staging.sabotage.map(Sabotage::name),
        "faults": failure.faults.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "trace": failure.trace,
    })
}

/// How others would have done.
pub fn strategies_value(strategies: &[Strategy]) -> Value {
    let value = |strategy: &Strategy| {
        json!({
            "strategy": strategy.name,
            "about": strategy.about,
            "summary": summary_value(&strategy.summary),
        })
    };
    strategies.iter().map(value).collect()
}

fn expectation_values(scenario: &Scenario, summary: &Summary) -> Value {
    let value = |expected: &crate::scenario::Expectation| {
        let value = summary.measure(expected.measure, expected.app);
        json!({
            "expected": sentence(expected, scenario),
            "found": found(expected.measure, value),
            "value": value,
            "met": value.is_some_and(|value| expected.holds(value)),
        })
    };
    scenario.expectations.iter().map(value).collect()
}

fn summary_value(summary: &Summary) -> Value {
    json!({
        "requests": summary.requests,
        "calls": summary.calls,
        "bytes": summary.bytes,
        "busy": summary.busy,
        "seconds": summary.seconds,
        "calls_per_1000": summary.measure(Measure::Calls, None),
        "convergence_s": summary.measure(Measure::Convergence, None),
        "shifts_s": summary.shifts.iter().map(|(_, time)| *time).collect::<Vec<_>>(),
        "apps": summary.apps.iter().map(app_value).collect::<Vec<_>>(),
    })
}

fn app_value(app: &AppSummary) -> Value {
    let extras: Map<String, Value> =
        Extra::ALL.into_iter().map(|extra| (extra.name().to_owned(), json!(app.extra(extra)))).collect();
    json!({
        "app": app.app,
        "rate": app.rate,
        "requests": app.requests,
        "asked": app.asked,
        "passed": app.passed,
        "ideal": app.ideal,
        "utilisation": app.utilisation(),
        "over_admission_s": app.over_admission,
        "fairness": app.fairness,
        "refused": app.refused,
        "extras": extras,
    })
}
