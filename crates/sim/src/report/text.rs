//! Tables for terminals.

use super::{Strategy, found, sentence};
use crate::chance::seconds;
use crate::check::Extra;
use crate::measure::{AppSummary, Summary};
use crate::run::{Failure, LedgerKind, Outcome, Staging};
use crate::scenario::{Measure, Scenario};
use std::fmt::Write;

/// Of how many applications a table shows.
const MOST_APPS: usize = 20;

/// What a run came to, as a table.
pub fn summary_text(scenario: &Scenario, outcome: &Outcome) -> String {
    let Outcome { seed, events, summary, .. } = outcome;
    let time = seconds(scenario.duration);
    let (name, nodes, apps) = (&scenario.name, scenario.nodes, summary.apps.len());
    let mut text =
        format!("{name}, seed {seed}: {nodes} nodes, {apps} applications, {time}s, {events} events\n\n");
    let head = ["application", "promised", "asked", "passed", "ideal", "use", "over", "fair", "refused"];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    rows.extend(summary.apps.iter().take(MOST_APPS).map(row));
    text.push_str(&table(&rows));
    if summary.apps.len() > MOST_APPS {
        let _ = writeln!(text, "and {} more", summary.apps.len() - MOST_APPS);
    }
    text.push('\n');
    text.push_str(&load_text(summary));
    text
}

/// What is expected and what was found.
pub fn expectations(scenario: &Scenario, summary: &Summary) -> String {
    let lines = scenario.expectations.iter().map(|expected| {
        let value = summary.measure(expected.measure, expected.app);
        let is_met = value.is_some_and(|value| expected.holds(value));
        let mark = if is_met { "yes" } else { "NO " };
        format!("{mark}  {}: {}\n", sentence(expected, scenario), found(expected.measure, value))
    });
    lines.collect()
}

/// A rule that was broken, and what led to it.
pub fn failure_text(scenario: &Scenario, path: &str, seed: u64, failure: &Failure) -> String {
    let mut text = format!("seed {seed} of {} broke a rule: {}\n", scenario.name, failure.violation);
    if failure.faults.is_empty() {
        text.push_str("no fault is needed for that\n");
    } else {
        text.push_str("these faults are enough:\n");
    }
    for planned in &failure.faults {
        let _ = writeln!(text, "  {planned}");
    }
    if !failure.trace.is_empty() {
        text.push_str("the last events:\n");
    }
    for line in &failure.trace {
        let _ = writeln!(text, "  {}", shortened(line));
    }
    let _ = writeln!(text, "again: {}", again(path, seed, failure.staging));
    text
}

/// The command that plays it again.
fn again(path: &str, seed: u64, staging: Staging) -> String {
    let mut command = format!("tollgate simulate {} --seed {seed}", quoted(path));
    if staging.ledger != LedgerKind::default() {
        let _ = write!(command, " --ledger {}", staging.ledger.name());
    }
    if let Some(sabotage) = staging.sabotage {
        let _ = write!(command, " --sabotage {}", sabotage.name());
    }
    command
}

/// A path as a shell takes it for one word.
fn quoted(path: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-".contains(c);
    if path.chars().all(is_plain) { path.to_owned() } else { format!("'{}'", path.replace('\'', "'\\''")) }
}

/// How others would have done.
pub fn strategies_text(strategies: &[Strategy]) -> String {
    let head = ["strategy", "use", "over", "fair", "refused", "calls/1000"];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    for Strategy { name, summary, .. } in strategies {
        let measure = |measure| found(measure, summary.measure(measure, None));
        let calls = summary.measure(Measure::Calls, None).unwrap_or_default();
        rows.push(vec![
            (*name).to_owned(),
            format!("{:.2}%", total_use(summary) * 100.0),
            measure(Measure::OverAdmission),
            measure(Measure::Fairness),
            measure(Measure::Refusals),
            format!("{calls:.1}"),
        ]);
    }
    let mut text = table(&rows);
    text.push('\n');
    for Strategy { name, about, .. } in strategies {
        let _ = writeln!(text, "{name}: {about}");
    }
    text
}

/// What passed of all that should have.
#[allow(clippy::cast_precision_loss, reason = "for people")]
fn total_use(summary: &Summary) -> f64 {
    let sum = |of: fn(&AppSummary) -> u64| summary.apps.iter().map(of).sum::<u64>() as f64;
    let ideal = sum(|app| app.ideal);
    if ideal == 0.0 { 1.0 } else { sum(|app| app.passed) / ideal }
}

fn row(app: &AppSummary) -> Vec<String> {
    let reasons = app.refused.iter().map(|(reason, count)| format!("{reason} {count}"));
    vec![
        app.app.clone(),
        format!("{:.0}/s", app.rate),
        app.asked.to_string(),
        app.passed.to_string(),
        app.ideal.to_string(),
        format!("{:.2}%", app.utilisation() * 100.0),
        format!("{:.3}s", app.over_admission),
        format!("{:.4}", app.fairness),
        reasons.collect::<Vec<_>>().join(", "),
    ]
}

#[allow(clippy::cast_precision_loss, reason = "for people")]
fn load_text(summary: &Summary) -> String {
    let Summary { requests, calls, bytes, busy, seconds, .. } = summary;
    let per_second = |count: u64| count as f64 / seconds.max(1e-9);
    let mut text = format!(
        "{requests} requests, {calls} ledger calls ({}), {:.0} calls/s, {:.1} kB/s, busiest shard {:.1}%\n",
        found(Measure::Calls, summary.measure(Measure::Calls, None)),
        per_second(*calls),
        per_second(*bytes) / 1e3,
        busy * 100.0,
    );
    if let Some(convergence) = summary.measure(Measure::Convergence, None) {
        let _ =
            writeln!(text, "convergence within {convergence:.1}s (p99 of {} shifts)", summary.shifts.len());
    }
    let extras = Extra::ALL
        .into_iter()
        .map(|extra| (extra, summary.apps.iter().map(|app| app.extra(extra)).sum::<f64>()));
    let extras =
        extras.filter(|(_, sum)| *sum > 0.0).map(|(extra, sum)| format!("{} {sum:.0}", extra.name()));
    let extras: Vec<String> = extras.collect();
    if !extras.is_empty() {
        let _ = writeln!(text, "on top of rate and burst, in tokens: {}", extras.join(", "));
    }
    text
}

/// Columns as wide as they have to be; numbers to the right.
fn table(rows: &[Vec<String>]) -> String {
    let columns = rows.first().map_or(0, Vec::len);
    let width = |column: usize| rows.iter().map(|row| row[column].len()).max().unwrap_or_default();
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let line = |row: &Vec<String>| {
        let cells = row.iter().zip(&widths).enumerate().map(|(i, (cell, &width))| {
            let is_text = i == 0 || i + 1 == columns && columns > 6;
            if is_text { format!("{cell:<width$}") } else { format!("{cell:>width$}") }
        });
        format!("{}\n", cells.collect::<Vec<_>>().join("  ").trim_end())
    };
    rows.iter().map(line).collect()
}

fn shortened(line: &str) -> String {
    const MOST: usize = 400;
    if line.chars().count() <= MOST {
        line.to_owned()
    } else {
        line.chars().take(MOST).chain("...".chars()).collect()
    }
}
