//! What came of a run, for people and for programs.

mod html;
mod json;
mod svg;
mod text;

pub use html::html;
pub use json::{failure_value, outcome_value, strategies_value};
pub use text::{expectations, failure_text, strategies_text, summary_text};

use crate::measure::Summary;
use crate::scenario::{Expectation, Measure, Scenario};

/// What is compared in one line: how somebody else would have done it.
#[derive(Clone, Debug)]
pub struct Strategy {
    /// What it is called.
    pub name: &'static str,
    /// How it goes.
    pub about: &'static str,
    /// What came of it.
    pub summary: Summary,
}

/// An expectation, for people.
fn sentence(expected: &Expectation, scenario: &Scenario) -> String {
    let whose = expected.app.map(|app| format!(" of {}", scenario.apps()[app])).unwrap_or_default();
    let way = if expected.is_least { "least" } else { "most" };
    format!("{}{whose} at {way} {}", expected.measure, expected.measure.show(expected.bound))
}

/// What was measured, for people.
fn found(measure: Measure, value: Option<f64>) -> String {
    value.map_or_else(|| "nothing to measure".to_owned(), |value| measure.show(value))
}
