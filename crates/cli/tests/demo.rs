//! `tollgate demo`: the numbers that must hold, and what a reader sees.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use serde_json::{Value, json};
use std::process::Command;

const NEIGHBOURS: [&str; 2] = ["video-service", "app-c"];

fn demo(arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_tollgate")).arg("demo").args(arguments).output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn data() -> Value {
    serde_json::from_str(&demo(&["--json"])).unwrap()
}

fn story(name: &str) -> Value {
    data()["stories"].as_array().unwrap().iter().find(|story| story["name"] == name).unwrap().clone()
}

fn seconds(story: &Value) -> &Vec<Value> {
    story["seconds"].as_array().unwrap()
}

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap()
}

#[test]
fn says_first_what_it_is_and_what_there_is_not() {
    let text = demo(&[]);
    let mut lines = text.lines();
    assert!(lines.next().unwrap().contains("the arithmetic of Tollgate and its limiter library"), "{text}");
    assert!(lines.next().unwrap().contains("not built yet"), "{text}");
}

#[test]
fn is_the_same_every_time() {
    assert_eq!(demo(&[]), demo(&[]));
    assert_eq!(demo(&["--json"]), demo(&["--json"]));
}

#[test]
fn fits_on_a_screen_and_ends_no_line_in_blanks() {
    for line in demo(&[]).lines() {
        assert!(line.len() <= 120 && line.trim_end() == line, "{line:?}");
    }
}

#[test]
fn prices_are_those_of_the_price_list() {
    let prices = data()["prices"].clone();
    let cost = |request: &str| {
        prices.as_array().unwrap().iter().find(|price| price["request"] == request).unwrap()["cost"].clone()
    };
    assert_eq!(cost("GET /photos/cat.jpg"), 2);
    assert_eq!(cost("PUT /photos/cat.jpg"), 6);
    assert_eq!(cost("PUT /films/a.mp4?partNumber=1&uploadId=7"), 4 + 128);
    assert_eq!(cost("GET /photos?%6Cist-type=2"), cost("GET /photos?list-type=2"));
}

#[test]
fn a_guarantee_is_never_refused_while_a_neighbour_bursts() {
    for story in [story("burst"), story("contention")] {
        for second in seconds(&story) {
            for app in NEIGHBOURS {
                let line = &second["apps"][app];
                assert_eq!(line["asked"], story["apps"][app]["guaranteed_quota"]);
                assert_eq!(line["granted"], line["asked"], "{app} in {second}");
                assert_eq!(line["refused"], Value::Null);
            }
        }
    }
}

#[test]
fn the_burst_is_limited_by_its_rights_where_there_is_room() {
    let story = story("burst");
    let app = &seconds(&story)[4]["apps"]["app-a"];
    assert!(app["granted"].as_u64() < app["asked"].as_u64());
    assert_eq!(app["refused"], "app_exhausted");
    let allowance: u64 = seconds(&story).iter().map(|s| number(&s["apps"]["app-a"]["allowance"])).sum();
    assert_eq!(allowance, 40_000, "burst_quota - guaranteed_quota, in one window");
}

#[test]
fn the_burst_is_limited_by_the_cluster_where_there_is_none() {
    let story = story("contention");
    assert_eq!(seconds(&story)[4]["apps"]["app-a"]["refused"], "cluster_exhausted");
    let mut granted = 0;
    for second in seconds(&story) {
        granted +=
            second["apps"].as_object().unwrap().values().map(|app| number(&app["granted"])).sum::<u64>();
        let elapsed = number(&second["second"]);
        assert!(granted <= number(&story["capacity"]) * elapsed + 48_000, "the capacity and its depth");
    }
}

#[test]
fn p06_an_emergency_leaves_all_half_and_a_tenth() {
    let story = story("emergency");
    let in_force = [("video-service", 100), ("app-a", 50), ("app-c", 10)];
    let (emergency, normal): (Vec<_>, Vec<_>) =
        seconds(&story).iter().partition(|second| second["emergency"] == true);
    assert_eq!((emergency.len(), normal.len()), (3, 5));
    for (app, percent) in in_force {
        let guarantee = number(&story["apps"][app]["guaranteed_quota"]);
        for second in &emergency {
            assert_eq!(number(&second["apps"][app]["granted"]), guarantee * percent / 100, "{app}");
            assert_eq!(second["apps"][app]["refused"], "emergency_quota_exceeded");
        }
        assert!(normal.iter().all(|second| second["apps"][app]["refused"].is_null()), "{app}");
    }
}

#[test]
fn every_token_granted_has_a_source() {
    for story in data()["stories"].as_array().unwrap() {
        for app in seconds(story).iter().flat_map(|second| second["apps"].as_object().unwrap().values()) {
            let sources: u64 = ["bucket", "allowance", "loan"].iter().map(|&part| number(&app[part])).sum();
            // Each is shown in whole tokens, so up to two may be lost in rounding down.
            assert!((sources..=sources + 2).contains(&number(&app["granted"])), "{app}");
            assert!(number(&app["granted"]) <= number(&app["asked"]));
        }
    }
}

#[test]
fn who_waits_as_long_as_told_is_let_through() {
    let visits = data()["limiter"].clone();
    let visits = visits.as_array().unwrap();
    let refused = visits.iter().position(|visit| visit["allowed"] == false).unwrap();
    assert_eq!((&visits[refused]["at_ms"], &visits[refused]["retry_after_ms"]), (&json!(100), &json!(150)));
    let later = visits[refused + 1..].iter().find(|visit| visit["key"] == visits[refused]["key"]).unwrap();
    assert_eq!((&later["at_ms"], &later["allowed"]), (&json!(250), &json!(true)));
}
