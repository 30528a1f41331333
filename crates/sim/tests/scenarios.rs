//! The stories in `scenarios/`: nothing is broken, and all that is expected comes true.
#![allow(clippy::unwrap_used, reason = "tests")]

use std::fs;
use std::path::{Path, PathBuf};
use tollgate_sim::{LedgerKind, Sabotage, Scenario, report};

/// Seeds of the story in which everything goes wrong; many more with `TOLLGATE_SEEDS`.
const SEEDS: u64 = 200;

/// Within so many seeds a rule that is broken on purpose has to be missed.
const SOON: u64 = 100;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios")
}

fn scenario(name: &str) -> Scenario {
    Scenario::parse(name, &fs::read_to_string(folder().join(name)).unwrap()).unwrap()
}

fn play(name: &str, seeds: u64, ledger: LedgerKind) {
    let failures = &mut Vec::new();
    let each = |outcome: tollgate_sim::Outcome| {
        failures.extend(outcome.failure.map(|failure| (outcome.seed, failure)));
        failures.is_empty()
    };
    scenario(name).run_many(1..seeds + 1, ledger, each).unwrap();
    assert!(failures.is_empty(), "{name} with seed {}: {:#?}", failures[0].0, failures[0].1);
}

#[test]
fn whatever_goes_wrong_no_rule_is_broken() {
    let seeds = std::env::var("TOLLGATE_SEEDS").map_or(SEEDS, |seeds| seeds.parse().unwrap());
    play("mixed.sim", seeds, LedgerKind::Memory);
}

#[test]
fn nor_by_the_shipped_scripts() {
    play("mixed.sim", 3, LedgerKind::Lua);
}

#[test]
fn what_stories_expect_comes_true() {
    let stories = fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path());
    let mut names: Vec<PathBuf> = stories.filter(|path| path.is_file()).collect();
    names.sort();
    assert!(names.len() > 10);
    for path in names {
        let name = path.file_name().unwrap().to_str().unwrap();
        let scenario = scenario(name);
        let outcome = scenario.run(1, LedgerKind::Memory).unwrap();
        assert!(outcome.failure.is_none(), "{name}: {:#?}", outcome.failure);
        let unmet = outcome.summary.unmet(&scenario);
        assert!(unmet.is_empty(), "{name}:\n{}", report::expectations(&scenario, &outcome.summary));
    }
}

#[test]
fn every_rule_that_is_broken_on_purpose_is_missed() {
    let scenario = scenario("mixed.sim");
    for sabotage in Sabotage::ALL {
        let is_caught = |seed| scenario.run_sabotaged(seed, sabotage).unwrap().failure.is_some();
        assert!((1..=SOON).any(is_caught), "{sabotage:?}");
    }
}
