//! The stories in `scenarios/`: nothing is broken, and all that is expected comes true.
#![allow(clippy::unwrap_used, reason = "tests")]

use std::fs;
use std::path::{Path, PathBuf};
use tollgate_sim::{LedgerKind, Sabotage, Scenario, Staging, report};

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

/// A node was cut off while it left, nodes were replaced, a request was given up while its node said goodbye, and a call took
/// nearly as long as anybody waits for its answer.
#[test]
fn seeds_that_broke_a_rule_once_break_none_now() {
    for seed in [1846, 1964, 4001, 6515] {
        let outcome = scenario("mixed.sim").run(seed, LedgerKind::Memory).unwrap();
        assert!(outcome.failure.is_none(), "seed {seed}: {:#?}", outcome.failure);
    }
}

#[test]
fn nor_by_the_shipped_scripts() {
    play("mixed.sim", 5, LedgerKind::Lua);
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
    for sabotage in Sabotage::ALL {
        // Among many faults hardly anybody is switched off while all is well.
        let story = if sabotage == Sabotage::IgnoreSwitch { "switch.sim" } else { "mixed.sim" };
        let scenario = scenario(story);
        let staging = Staging { sabotage: Some(sabotage), ..Staging::default() };
        let is_caught = |seed| scenario.run(seed, staging).unwrap().failure.is_some();
        assert!((1..=SOON).any(is_caught), "{sabotage:?}");
    }
}

/// A store that starts full after it was wiped matters only if it is wiped; the other faults have nothing to do with it.
#[test]
fn what_is_told_of_a_broken_rule_is_the_shortest_that_breaks_it() {
    let story = "nodes 4\nrun 20s\nnetwork latency 0.3ms duplicates 5% reorder 1%\ncluster main capacity 20000\n\
        app a guaranteed 2000 burst 2000 borrows nothing window 3600s\nload a poisson 1500/s cost 1 to 5\n\
        at 3s crash 1 node for 1s\nat 6s slow the store by 5ms for 1s\nat 9s wipe the store\n\
        at 12s set the clock back 10ms\n";
    let scenario = Scenario::parse("story", story).unwrap();
    let staging = Staging { sabotage: Some(Sabotage::OpenFull), ..Staging::default() };
    let outcome = scenario.run(5, staging).unwrap();
    let failure = outcome.failure.unwrap();
    assert_eq!(failure.staging, staging);
    assert_eq!(failure.faults, [scenario.faults[2]]);
    assert!((9.0..10.5).contains(&seconds(failure.violation.at)), "{}", failure.violation);
    let last = failure.trace.last().unwrap().split_whitespace().nth(1).unwrap();
    assert_eq!(last, failure.violation.event.to_string(), "{:?}", failure.trace);
    let text = report::failure_text(&scenario, "a story.sim", 5, &failure);
    assert!(text.starts_with("seed 5 of story broke a rule: "), "{text}");
    assert!(text.contains("these faults are enough:\n  at 9s wipe the store\n"), "{text}");
    assert!(
        text.ends_with("again: tollgate simulate 'a story.sim' --seed 5 --sabotage open-full\n"),
        "{text}"
    );
}

#[allow(clippy::cast_precision_loss, reason = "small")]
fn seconds(time: tollgate_core::units::Nanos) -> f64 {
    time.get() as f64 / 1e9
}
