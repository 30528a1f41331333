//! A page by itself: no scripts, nothing from elsewhere.

use super::svg::{Curve, escaped, plot};
use super::{Strategy, text};
use crate::chance::seconds;
use crate::measure::{AppSummary, Moved, STEP, Summary};
use crate::plan::Plan;
use crate::run::Outcome;
use crate::scenario::Scenario;
use std::fmt::Write;

/// Of how many applications there are curves.
const MOST_APPS: usize = 12;

/// How many steps of a curve are joined, so that it can be read, and how many seconds that are.
const JOINED: usize = 5;
const SPAN: f64 = 0.5;

const STYLE: &str = "body{font:15px/1.5 system-ui,sans-serif;max-width:920px;margin:2em auto;padding:0 1em;color:#222}\
pre{background:#f4f4f2;padding:1em;overflow-x:auto;font-size:13px}svg{width:100%;height:auto}\
svg text{font:11px system-ui,sans-serif;fill:#555}.grid{stroke:#e4e4e0}.mark{stroke:#c33;stroke-dasharray:3 3;stroke-width:1.5}\
h1{font-size:1.5em}h2{font-size:1.1em;margin-top:2em}.bad{color:#b00}@media(prefers-color-scheme:dark){\
body{background:#191919;color:#ddd}pre{background:#242424}svg text{fill:#aaa}.grid{stroke:#333}}";

/// A run as a page: what is told, what was found, and curves.
pub fn html(scenario: &Scenario, path: &str, outcome: &Outcome, strategies: &[Strategy]) -> String {
    let summary = &outcome.summary;
    let plan = Plan::new(scenario, outcome.seed);
    let marks: Vec<(f64, String)> =
        plan.faults.iter().map(|planned| (seconds(planned.at), planned.to_string())).collect();
    let title = format!("{}, seed {}", scenario.name, outcome.seed);
    let mut page = format!(
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><meta name=\"viewport\" \
         content=\"width=device-width\"><title>{0}</title><style>{STYLE}</style><h1>{0}</h1><p>{1}</p>",
        escaped(&title),
        escaped(&scenario.about).replace('\n', "<br>"),
    );
    section(&mut page, "Summary", &text::summary_text(scenario, outcome));
    section(&mut page, "Expectations", &text::expectations(scenario, summary));
    if let Some(failure) = &outcome.failure {
        section(&mut page, "Broken rule", &text::failure_text(scenario, path, outcome.seed, failure));
    }
    if !marks.is_empty() {
        let faults: Vec<String> = marks.iter().map(|(_, name)| name.clone()).collect();
        section(&mut page, "What went wrong", &faults.join("\n"));
    }
    if !strategies.is_empty() {
        section(&mut page, "Other strategies, same story", &text::strategies_text(strategies));
    }
    for app in summary.apps.iter().take(MOST_APPS) {
        let _ = write!(page, "<h2>{}: tokens a second</h2>{}", escaped(&app.app), flow(app, &marks));
    }
    let _ = write!(page, "<h2>What the tiers hold, in tokens</h2>{}", tiers(summary, &marks));
    let moving = |page: &mut String, whose: &str, steps: &[Moved]| {
        let _ = write!(page, "<h2>{}, tokens a second</h2>{}", escaped(whose), moved(steps, &marks));
    };
    moving(&mut page, "L1, what all applications got and gave back", &together(summary));
    for app in summary.apps.iter().take(MOST_APPS) {
        moving(&mut page, &format!("L2, what {} got and gave back", app.app), &app.at_ledger);
    }
    moving(&mut page, "L3, what came to all nodes and went from them", &summary.at_nodes);
    page.push_str("</html>\n");
    page
}

fn section(page: &mut String, heading: &str, body: &str) {
    let _ = write!(page, "<h2>{heading}</h2><pre>{}</pre>", escaped(body.trim_end()));
}

/// What was asked for, what passed, and what should have.
fn flow(app: &AppSummary, marks: &[(f64, String)]) -> String {
    let curve = |i: usize| a_second(&app.curve, |step| step[i]);
    let curves = [
        Curve { name: "asked for", colour: "#bbb", values: curve(0) },
        Curve { name: "ideal", colour: "#e69f00", values: curve(2) },
        Curve { name: "passed", colour: "#0072b2", values: curve(1) },
    ];
    plot(&curves, SPAN, marks)
}

/// What moved of all applications.
fn together(summary: &Summary) -> Vec<Moved> {
    let steps = summary.apps.iter().map(|app| app.at_ledger.len()).max().unwrap_or_default();
    let at = |step: usize| {
        let moved = summary.apps.iter().filter_map(|app| app.at_ledger.get(step));
        moved.fold(Moved::default(), |sum, moved| Moved {
            granted: sum.granted + moved.granted,
            spent: sum.spent + moved.spent,
            returned: sum.returned + moved.returned,
        })
    };
    (0..steps).map(at).collect()
}

fn moved(steps: &[Moved], marks: &[(f64, String)]) -> String {
    let curve = |of: fn(&Moved) -> f64| a_second(steps, of);
    let curves = [
        Curve { name: "granted", colour: "#009e73", values: curve(|moved| moved.granted) },
        Curve { name: "spent", colour: "#0072b2", values: curve(|moved| moved.spent) },
        Curve { name: "returned", colour: "#cc79a7", values: curve(|moved| moved.returned) },
    ];
    plot(&curves, SPAN, marks)
}

/// A sum for each step as a rate, over several steps each, so that curves can be read.
fn a_second<T>(steps: &[T], of: impl Fn(&T) -> f64) -> Vec<f64> {
    steps.chunks(JOINED).map(|steps| steps.iter().map(&of).sum::<f64>() / SPAN).collect()
}

fn tiers(summary: &Summary, marks: &[(f64, String)]) -> String {
    let tiers = &summary.tiers;
    let curves = [
        Curve { name: "slack (L1)", colour: "#bbb", values: tiers.iter().map(|tiers| tiers.slack).collect() },
        Curve {
            name: "rights (L2)",
            colour: "#e69f00",
            values: tiers.iter().map(|tiers| tiers.rights).collect(),
        },
        Curve {
            name: "leased (L2)",
            colour: "#009e73",
            values: tiers.iter().map(|tiers| tiers.outstanding).collect(),
        },
        Curve {
            name: "held (L3)",
            colour: "#0072b2",
            values: tiers.iter().map(|tiers| tiers.held).collect(),
        },
    ];
    plot(&curves, seconds(STEP), marks)
}
