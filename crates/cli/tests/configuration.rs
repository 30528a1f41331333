//! Commands that need nothing to be running, run as a user would.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::Command;

struct Answer {
    code: Option<i32>,
    out: String,
    err: String,
}

fn tollgate(arguments: &[&str]) -> Answer {
    let output = Command::new(env!("CARGO_BIN_EXE_tollgate")).args(arguments).output().unwrap();
    Answer {
        code: output.status.code(),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

/// A file that is gone when the test is over.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str, text: &str) -> Self {
        let path = std::env::temp_dir().join(format!("tollgate-{}-{name}", std::process::id()));
        std::fs::write(&path, text).unwrap();
        Self(path)
    }

    fn path(&self) -> &str {
        self.0.to_str().unwrap()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

fn example() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/tollgate.toml");
    path.to_str().unwrap().to_owned()
}

#[test]
fn the_example_is_valid() {
    let answer = tollgate(&["validate", &example()]);
    assert_eq!(answer.code, Some(0), "{}", answer.err);
    let summary = "cluster-01: capacity 1000000/s, 3 applications, guarantees 35000/s of at most 900000/s\n";
    assert!(answer.out.ends_with(summary), "{}", answer.out);
    assert_eq!(answer.err, "");
}

#[test]
fn the_summary_can_be_json() {
    let answer = tollgate(&["validate", "--json", &example()]);
    let value: Value = serde_json::from_str(&answer.out).unwrap();
    let expected = json!({"capacity": 1_000_000, "promisable": 900_000, "promised": 35_000, "apps": 3});
    assert_eq!((&value["valid"], &value["clusters"]["cluster-01"]), (&json!(true), &expected));
}

#[test]
fn every_error_is_a_line() {
    let file =
        Scratch::new("wrong.yaml", "apps:\n- {id: a, guaranteed_quota: 5, burst_quota: 4, priority: 9}\n");
    let answer = tollgate(&["validate", file.path()]);
    assert_eq!((answer.code, answer.out.as_str()), (Some(2), ""));
    let expected = format!(
        "apps[0].priority: out of range (got 9, expected a whole number from 0 to 3)\n\
         apps[0].burst_quota: less than guaranteed_quota (got 4, expected at least 5)\n\
         {}: 2 errors\n",
        file.path()
    );
    assert_eq!(answer.err, expected);
}

#[test]
fn errors_can_be_json() {
    let file = Scratch::new("wrong.toml", "[ledger]\nurl = 'ftp://u:hunter2@h'\n");
    let answer = tollgate(&["validate", file.path(), "--json"]);
    assert_eq!((answer.code, answer.err.as_str()), (Some(2), ""));
    let value: Value = serde_json::from_str(&answer.out).unwrap();
    assert_eq!(value["valid"], json!(false));
    assert_eq!(value["errors"][0]["path"], json!("ledger.url"));
    assert_eq!(value["errors"][0]["kind"], json!("malformed"));
    assert!(!answer.out.contains("hunter2"));
}

#[test]
fn a_syntax_error_is_found() {
    let file = Scratch::new("syntax.toml", "[node]\nid =\n");
    let answer = tollgate(&["validate", file.path()]);
    assert_eq!(answer.code, Some(2));
    assert!(answer.err.starts_with("line 2, column 5: "), "{}", answer.err);
}

#[test]
fn a_file_that_is_not_there_is_a_wrong_call() {
    let answer = tollgate(&["validate", "/nowhere/tollgate.toml"]);
    assert_eq!(answer.code, Some(2));
    assert!(answer.err.starts_with("cannot be read: "), "{}", answer.err);
}

#[test]
fn the_environment_does_not_change_what_a_file_says() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tollgate"));
    let status =
        command.args(["validate", &example()]).env("TOLLGATE_NODE__ID", "no good").output().unwrap().status;
    assert_eq!(status.code(), Some(0));
}

#[test]
fn a_difference_is_shown_and_told_by_the_exit_code() {
    let app = |burst: u32| format!("[[apps]]\nid = 'a'\nguaranteed_quota = 10\nburst_quota = {burst}\n");
    let old = Scratch::new("old.toml", &app(20));
    let new =
        Scratch::new("new.toml", &(app(30) + "[[apps]]\nid = 'b'\nguaranteed_quota = 1\nburst_quota = 1\n"));
    let same = tollgate(&["diff", old.path(), old.path()]);
    assert_eq!((same.code, same.out.as_str(), same.err.as_str()), (Some(0), "", ""));
    let other = tollgate(&["diff", old.path(), new.path()]);
    assert_eq!((other.code, other.out.as_str()), (Some(1), "~ apps.a.burst_quota: 20 -> 30\n+ apps.b\n"));
    let json = tollgate(&["diff", "--json", old.path(), new.path()]);
    let value: Value = serde_json::from_str(&json.out).unwrap();
    assert_eq!(json.code, Some(1));
    assert_eq!(
        value["changes"][0],
        json!({"change": "changed", "path": "apps.a.burst_quota", "before": 20, "after": 30})
    );
}

#[test]
fn the_same_in_another_format_is_no_difference() {
    let toml = Scratch::new("same.toml", "[[apps]]\nid = 'a'\nguaranteed_quota = 1\nburst_quota = 1\n");
    let yaml =
        Scratch::new("same.yaml", "apps: [{id: a, guaranteed_quota: 1, burst_quota: 1, priority: 2}]\n");
    assert_eq!(tollgate(&["diff", toml.path(), yaml.path()]).code, Some(0));
}

#[test]
fn a_wrong_file_has_no_difference() {
    let wrong = Scratch::new("nonsense.toml", "colour = 'red'\n");
    let answer = tollgate(&["diff", &example(), wrong.path()]);
    assert_eq!((answer.code, answer.out.as_str()), (Some(2), ""));
    assert!(answer.err.starts_with("colour: unknown key"), "{}", answer.err);
    assert_eq!(tollgate(&["diff", "--json", wrong.path(), &example()]).code, Some(2));
}

#[test]
fn the_admin_api_is_described() {
    let answer = tollgate(&["openapi"]);
    let document: Value = serde_json::from_str(&answer.out).unwrap();
    assert_eq!((answer.code, document["openapi"].as_str().unwrap().split_at(3).0), (Some(0), "3.1"));
    assert!(document["paths"]["/api/v1/apps"]["get"].is_object());
}

#[test]
fn accounts_need_a_database_that_is_there() {
    let answer = tollgate(&["user", "list", "--set", "admin.database=/nowhere/tollgate.db"]);
    assert_eq!((answer.code, answer.out.as_str()), (Some(2), ""));
    assert!(answer.err.contains("/nowhere/tollgate.db"), "{}", answer.err);
}

#[test]
fn demand_is_played_under_two_files() {
    let app = |burst: u32| {
        format!("[[apps]]\nid = 'a'\nguaranteed_quota = 10\nburst_quota = {burst}\nborrow = false\n")
    };
    let small = Scratch::new("small.toml", &app(10));
    let large = Scratch::new("large.toml", &app(1000));
    let demand = Scratch::new("demand.csv", "second,app,tokens\n1790000000,a,500\n1790000001,a,5\n");
    let play = |after: &Scratch, before: &Scratch| {
        let files = ["--demand", demand.path(), "--before", before.path()];
        tollgate(&[&["replay", after.path(), "--json"][..], &files].concat())
    };
    let better = play(&large, &small);
    let value: Value = serde_json::from_str(&better.out).unwrap();
    let (before, after) = (&value["apps"][0]["before"], &value["apps"][0]["after"]);
    assert_eq!((better.code, &after["refused"], &after["demanded"]), (Some(0), &json!(0), &json!(505)));
    assert!(before["refused"].as_u64().unwrap() > 400, "{value}");
    assert_eq!(play(&small, &large).code, Some(1));
    let wrong = Scratch::new("wrong.csv", "1790000000,stranger,500\n");
    let answer = tollgate(&["replay", small.path(), "--demand", wrong.path()]);
    assert_eq!(answer.code, Some(2));
    assert!(answer.err.contains("demand of stranger"), "{}", answer.err);
}

#[test]
fn a_wrong_call_ends_with_two_and_help_with_zero() {
    assert_eq!(tollgate(&["validate"]).code, Some(2));
    assert_eq!(tollgate(&["dance"]).code, Some(2));
    assert_eq!(tollgate(&[]).code, Some(2));
    for arguments in [&["--version"][..], &["--help"], &["user", "reset-password", "--help"]] {
        assert_eq!(tollgate(arguments).code, Some(0), "{arguments:?}");
    }
    let commands = [
        "serve",
        "demo",
        "check",
        "explain",
        "audit",
        "validate",
        "diff",
        "apply",
        "replay",
        "import",
        "simulate",
        "user",
        "openapi",
        "reference",
        "completions",
        "man",
    ];
    for command in commands {
        let help = tollgate(&[command, "--help"]);
        assert_eq!(help.code, Some(0), "{command}");
        assert!(help.out.contains(&format!("Usage: tollgate {command}")), "{}", help.out);
    }
}
