//! The dashboard for Grafana, on a real Prometheus that looks at the real binary.

use crate::support::{APPS, Tollgate, Upstream, ask};
use serde_json::Value;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};
use tollgate_testkit::Prometheus;

/// How long it may take until every panel shows something: rates need some looks.
const PATIENCE: Duration = Duration::from_secs(90);

fn deploy(path: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../deploy").join(path)
}

/// Every expression of the dashboard, and one of the rules.
fn expressions() -> Vec<String> {
    let dashboard = std::fs::read(deploy("grafana/tollgate.json")).unwrap();
    let dashboard: Value = serde_json::from_slice(&dashboard).unwrap();
    let panels = dashboard["panels"].as_array().unwrap();
    let targets = panels.iter().flat_map(|panel| panel["targets"].as_array().unwrap());
    let expressions = targets.map(|target| target["expr"].as_str().unwrap().to_owned());
    expressions.chain(["app:tollgate_refusal_ratio:rate1m".to_owned()]).collect()
}

/// Some that pass and some that do not, at both doors.
fn traffic(tollgate: &Tollgate) {
    for app in ["large", "tiny"] {
        for operation in ["GET", "PUT", "LIST"] {
            let question = format!(r#"{{"app": "{app}", "operation": "{operation}", "bytes": 600000}}"#);
            ask(tollgate.check, "POST /v1/check", &["content-type: application/json"], &question);
        }
        ask(tollgate.gateway, "GET /", &[&format!("x-tollgate-app: {app}")], "");
    }
}

fn escaped(text: &str) -> String {
    let escape = |byte: u8| match byte {
        plain if plain.is_ascii_alphanumeric() => char::from(plain).to_string(),
        other => format!("%{other:02X}"),
    };
    text.bytes().map(escape).collect()
}

#[test]
fn every_panel_of_the_dashboard_has_something_to_show() {
    let upstream = Upstream::start();
    let tollgate = Tollgate::start(&format!("{}\n{APPS}", upstream.route()));
    let prometheus = Prometheus::start(tollgate.admin, &deploy("prometheus/rules.yml")).unwrap();
    let mut missing = expressions();
    assert!(missing.len() > 25);
    let start = Instant::now();
    while !missing.is_empty() {
        assert!(start.elapsed() < PATIENCE, "nothing to show for {missing:#?}");
        traffic(&tollgate);
        missing.retain(|expression| {
            let line = format!("GET /api/v1/query?query={}", escaped(expression));
            let answer = ask(prometheus.address(), &line, &[], "");
            let answer: Value = serde_json::from_slice(&answer.body).unwrap_or_default();
            answer["data"]["result"].as_array().is_none_or(Vec::is_empty)
        });
        thread::sleep(Duration::from_millis(500));
    }
}
