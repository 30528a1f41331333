//! Stories, played as a user would.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use serde_json::{Value, json};
use std::path::PathBuf;
use std::process::{Command, Output};

/// Small enough to be played many times.
const STORY: &str = "\
# Three nodes share a little.
nodes 3
run 10s
measure from 1s
network latency 0.3ms duplicates 20% reorder 1%
cluster main capacity 10000
app one guaranteed 2000 burst 4000 priority 1 borrows nothing
app other guaranteed 1000 burst 2000 priority 2 borrows nothing
load one poisson 300/s cost 1 to 9
load other poisson 200/s cost 1 to 5
at 3s slow the store by 20ms for 1s
at 6s crash 1 node for 1s
";

/// A folder with a story in it, which is gone when the test is over. Its name has to be quoted.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("tollgate's {name} {}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        std::fs::write(path.join("small.sim"), STORY).unwrap();
        Self(path)
    }

    fn simulate(&self, arguments: &[&str]) -> Answer {
        let story = self.0.join("small.sim");
        Command::new(env!("CARGO_BIN_EXE_tollgate"))
            .arg("simulate")
            .arg(story)
            .args(arguments)
            .output()
            .unwrap()
            .into()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

struct Answer {
    code: Option<i32>,
    out: String,
    err: String,
}

impl From<Output> for Answer {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code(),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

/// What a shell makes of a command that was printed.
fn shell(command: &str) -> Answer {
    let folder = PathBuf::from(env!("CARGO_BIN_EXE_tollgate")).parent().unwrap().to_owned();
    let path = format!("{}:{}", folder.display(), std::env::var("PATH").unwrap_or_default());
    Command::new("sh").args(["-c", command]).env("PATH", path).output().unwrap().into()
}

fn again(out: &str) -> &str {
    out.lines().find_map(|line| line.strip_prefix("again: ")).unwrap()
}

#[test]
fn a_story_that_goes_well_says_so_and_how_far_it_has_got() {
    let folder = Folder::new("well");
    let answer = folder.simulate(&["--seed", "7"]);
    assert_eq!(answer.code, Some(0), "{}", answer.out);
    assert!(answer.out.starts_with("small, seed 7: 3 nodes, 2 applications, 10s, "), "{}", answer.out);
    assert!(answer.out.ends_with("every rule held\n"), "{}", answer.out);
    assert!(answer.err.contains("] 10/10 virtual seconds"), "{}", answer.err);
}

#[test]
fn a_broken_rule_is_told_with_what_led_to_it_and_can_be_played_again() {
    let folder = Folder::new("broken");
    for ledger in ["memory", "lua"] {
        let answer = folder.simulate(&["--seed", "3", "--sabotage", "grant-twice", "--ledger", ledger]);
        assert_eq!(answer.code, Some(1), "{}", answer.out);
        let (_, told) = answer.out.split_once("seed 3 of small broke a rule: ").unwrap();
        assert!(told.contains("\nno fault is needed for that\n"), "{told}");
        assert!(told.contains("\nthe last events:\n"), "{told}");

        let command = again(&answer.out);
        assert_eq!(command.contains(" --ledger lua"), ledger == "lua", "{command}");
        let replayed = shell(command);
        assert_eq!(
            (replayed.code, replayed.out),
            (Some(1), answer.out.clone()),
            "{command}: {}",
            replayed.err
        );
    }
}

#[test]
fn each_of_many_seeds_that_broke_a_rule_can_be_played_again() {
    let folder = Folder::new("many");
    let answer = folder.simulate(&["--seeds", "3", "--sabotage", "grant-twice"]);
    assert_eq!(answer.code, Some(1), "{}", answer.out);
    assert!(answer.out.starts_with("small: 3 seeds, 3 broke a rule\n"), "{}", answer.out);
    assert!(answer.err.contains("] 3/3 seeds"), "{}", answer.err);
    for command in answer.out.lines().filter_map(|line| line.strip_prefix("again: ")) {
        let replayed = shell(command);
        assert_eq!(replayed.code, Some(1), "{command}");
        let (_, failure) = replayed.out.split_once("\nseed ").unwrap();
        assert!(answer.out.contains(failure), "{failure}");
    }
}

#[test]
fn a_broken_rule_can_be_json() {
    let folder = Folder::new("json");
    let answer = folder.simulate(&["--sabotage", "grant-twice", "--json"]);
    assert_eq!(answer.code, Some(1));
    let failure = &serde_json::from_str::<Value>(&answer.out).unwrap()["failure"];
    assert_eq!((&failure["sabotage"], &failure["ledger"]), (&json!("grant-twice"), &json!("memory")));
    let trace = failure["trace"].as_array().unwrap();
    let number = trace.last().unwrap().as_str().unwrap().split_whitespace().nth(1).unwrap();
    assert_eq!(failure["event"].to_string(), number, "the last event is the one that broke it");
}

#[test]
fn a_page_has_the_curves_of_every_tier() {
    let folder = Folder::new("page");
    let file = folder.0.join("page.html");
    let answer = folder.simulate(&["--compare", "--html", file.to_str().unwrap()]);
    assert_eq!(answer.code, Some(0), "{}", answer.out);
    let page = std::fs::read_to_string(&file).unwrap();
    let headings = [
        "one: tokens a second",
        "other: tokens a second",
        "What the tiers hold, in tokens",
        "L1, what all applications got and gave back, tokens a second",
        "L2, what one got and gave back, tokens a second",
        "L2, what other got and gave back, tokens a second",
        "L3, what came to all nodes and went from them, tokens a second",
    ];
    for heading in headings {
        let (_, after) = page.split_once(&format!("<h2>{heading}</h2>")).unwrap();
        let (plot, _) = after.split_once("</svg>").unwrap();
        assert!(plot.starts_with("<svg"), "{heading}");
        let curves = plot.split("<polyline points=\"").skip(1).map(|curve| curve.split('"').next().unwrap());
        assert!(curves.clone().count() >= 3, "{heading}");
        assert!(curves.clone().all(|curve| curve.split(' ').count() >= 15), "{heading}");
        assert!(plot.contains("slow the store by 0.02s for 1s"), "{heading}: faults are marked");
    }
    for name in ["granted", "spent", "returned"] {
        assert_eq!(page.matches(&format!(">{name}</text>")).count(), 4, "{name}");
    }
    assert!(page.contains("<h2>Other strategies, same story</h2>"));
}

#[test]
fn other_strategies_play_the_same_story() {
    let names = ["tollgate", "per request", "fixed split", "optimistic", "naive fallback"];
    let folder = Folder::new("compare");
    let answer = folder.simulate(&["--compare"]);
    assert_eq!(answer.code, Some(0), "{}", answer.out);
    for name in names {
        assert!(answer.out.lines().any(|line| line.starts_with(name)), "{name}: {}", answer.out);
    }
    let answer = folder.simulate(&["--compare", "--json"]);
    let value: Value = serde_json::from_str(&answer.out).unwrap();
    let strategies = value["strategies"].as_array().unwrap();
    assert_eq!(strategies.iter().map(|one| one["strategy"].as_str().unwrap()).collect::<Vec<_>>(), names);
    let asked = |one: &Value| {
        one["summary"]["apps"].as_array().unwrap().iter().map(|app| app["asked"].clone()).collect()
    };
    let asked: Vec<Vec<Value>> = strategies.iter().map(asked).collect();
    assert!(asked.windows(2).all(|pair| pair[0] == pair[1]), "{asked:?}");
}

#[test]
fn a_wrong_call_is_told_from_a_broken_rule() {
    let folder = Folder::new("wrong");
    assert_eq!(folder.simulate(&["--sabotage", "nothing-of-the-kind"]).code, Some(2));
    std::fs::write(folder.0.join("small.sim"), "network latency 1ms reorder twice\n").unwrap();
    let answer = folder.simulate(&[]);
    assert_eq!(answer.code, Some(2));
    assert!(answer.err.contains("line 1: \"twice\", expected a share such as 5%"), "{}", answer.err);
}
