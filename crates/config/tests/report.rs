//! The report on a file in which almost everything is wrong, and the example in which nothing is.

use std::path::Path;
use tollgate_config::source::{Document, Format};

const WRONG: &str = include_str!("wrong.toml");
const EXPECTED: &str = include_str!("wrong.expected");

#[test]
fn everything_wrong_is_reported_at_once() {
    let errors = Document::parse(WRONG, Format::Toml).unwrap().read().unwrap_err();
    assert_eq!(format!("{errors}\n"), EXPECTED);
}

#[test]
fn no_report_repeats_a_secret() {
    assert!(WRONG.contains("hunter2") && !EXPECTED.contains("hunter2"));
}

#[test]
fn the_example_is_right() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/tollgate.toml");
    let mut config = Document::open(&path).unwrap().read().unwrap();
    assert_eq!(config.policy.apps().len(), 3);
    assert_eq!(config.policy.promised("cluster-01"), 35_000);
    let gateway = &mut config.settings.gateway;
    let storage = gateway.upstreams.remove("storage").unwrap();
    assert_eq!(storage.health, tollgate_config::gateway::Health::default());
    assert_eq!(gateway.routes.pop().unwrap().name(), "*/");
    assert_eq!(config.settings, tollgate_config::Settings::default());
}
