//! The stories in `scenarios/`, played with a few seeds each: nothing is broken, and all that is expected comes true.
#![allow(clippy::unwrap_used, reason = "tests")]

use std::path::Path;
use tollgate_sim::{LedgerKind, Sabotage, Scenario};

fn scenario(name: &str) -> Scenario {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios").join(name);
    Scenario::parse(name, &std::fs::read_to_string(path).unwrap()).unwrap()
}

fn play(name: &str, seeds: std::ops::RangeInclusive<u64>, ledger: LedgerKind) {
    for seed in seeds {
        let outcome = scenario(name).run(seed, ledger).unwrap();
        assert!(outcome.failure.is_none(), "{name} with seed {seed}: {:?}", outcome.failure);
    }
}

#[test]
fn whatever_goes_wrong_no_rule_is_broken() {
    play("mixed.sim", 1..=8, LedgerKind::Memory);
}

#[test]
fn nor_by_the_shipped_scripts() {
    play("mixed.sim", 1..=1, LedgerKind::Lua);
}

#[test]
fn a_rule_that_is_broken_on_purpose_is_noticed() {
    let scenario = scenario("mixed.sim");
    let is_caught = |seed| scenario.run_sabotaged(seed, Sabotage::AnswerTwice).unwrap().failure.is_some();
    assert!((1..=100).any(is_caught));
}
