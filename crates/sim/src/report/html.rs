//! A page by itself: no scripts, nothing from elsewhere.

use super::svg::{Curve, escaped, plot};
use super::{Strategy, text};
use crate::chance::seconds;
use crate::measure::{AppSummary, STEP, Summary};
use crate::plan::Plan;
use crate::run::Outcome;
use crate::scenario::Scenario;
use std::fmt::Write;

/// Of how many applications there are curves.
const MOST_APPS: usize = 12;

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
    page.push_str("</html>\n");
    page
}

fn section(page: &mut String, heading: &str, body: &str) {
    let _ = write!(page, "<h2>{heading}</h2><pre>{}</pre>", escaped(body.trim_end()));
}

/// What was asked for, what passed, and what should have: over half a second each, so that curves can be read.
fn flow(app: &AppSummary, marks: &[(f64, String)]) -> String {
    const JOINED: usize = 5;
    let span = seconds(STEP) * 5.0;
    let curve = |i: usize| {
        app.curve.chunks(JOINED).map(|steps| steps.iter().map(|step| step[i]).sum::<f64>() / span).collect()
    };
    let curves = [
        Curve { name: "asked for", colour: "#bbb", values: curve(0) },
        Curve { name: "ideal", colour: "#e69f00", values: curve(2) },
        Curve { name: "passed", colour: "#0072b2", values: curve(1) },
    ];
    plot(&curves, span, marks)
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
