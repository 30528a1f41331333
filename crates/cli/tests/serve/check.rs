//! The HTTP check and the commands that use it.

use crate::support::{APPS, Reply, Tollgate, ask, run};
use serde_json::json;

fn check(tollgate: &Tollgate, query: &str, body: &str) -> Reply {
    ask(tollgate.check, &format!("POST /v1/check{query}"), &[], body)
}

fn post(tollgate: &Tollgate, path: &str, body: &serde_json::Value) -> Reply {
    ask(tollgate.check, &format!("POST {path}"), &[], &body.to_string())
}

#[test]
fn a_check_is_answered_by_header_and_by_body() {
    let tollgate = Tollgate::start(APPS);
    let headers = ["x-tollgate-app: large", "x-tollgate-operation: PUT", "x-tollgate-bytes: 10240"];
    let by_header = ask(tollgate.check, "GET /v1/check", &headers, "");
    assert_eq!((by_header.status, by_header.header("x-ratelimit-cost")), (200, "6"));
    let by_body = check(&tollgate, "", r#"{"app": "large", "operation": "put", "bytes": 10240}"#);
    assert_eq!((by_body.status, by_body.json()["cost"].clone()), (200, json!(6)));
    let named = check(&tollgate, "", r#"{"app": "large", "cost": 123}"#);
    assert_eq!(named.json()["cost"], 123);
    let forwarded =
        ["x-tollgate-app: large", "x-forwarded-method: DELETE", "x-forwarded-uri: /a/b?uploadId=1"];
    assert_eq!(ask(tollgate.check, "GET /v1/check", &forwarded, "").header("x-ratelimit-cost"), "2");
    assert_eq!(ask(tollgate.check, "GET /health", &[], "").status, 200);
}

/// `pk` says whose the numbers beside it are.
#[test]
fn a_stranger_is_told_of_whoever_pays() {
    let stranger = r#"{"app": "who-knows", "cost": 1}"#;
    let dear = r#"{"app": "who-knows", "cost": 100}"#;
    let estimate = json!({"app": "who-knows", "estimate": 100});
    let ask_all = |tollgate: &Tollgate| {
        [
            check(tollgate, "", stranger),
            check(tollgate, "?dry_run=true", stranger),
            check(tollgate, "", dear),
            check(tollgate, "?dry_run=true", dear),
            post(tollgate, "/v1/reservations", &estimate),
        ]
    };
    let known = ask_all(&Tollgate::start(&format!("[identity]\nstrangers = 'tiny'\n{APPS}")));
    assert_eq!(known.each_ref().map(|answer| answer.status), [200, 200, 429, 429, 429]);
    for answer in known {
        for field in ["ratelimit", "ratelimit-policy"] {
            assert!(answer.header(field).ends_with(";pk=:dGlueQ==:"), "{answer:?}");
        }
    }
    for answer in ask_all(&Tollgate::start(APPS)) {
        assert_eq!(
            (answer.status, answer.header("ratelimit"), answer.header("ratelimit-policy")),
            (403, "", "")
        );
    }
}

#[test]
fn a_refusal_says_everything_and_its_status_can_be_chosen() {
    let tollgate = Tollgate::start(APPS);
    let question = r#"{"app": "tiny", "cost": 100}"#;
    let refused = check(&tollgate, "", question);
    assert_eq!(refused.status, 429);
    let content = refused.json();
    assert_eq!(content["reason"], "app_exhausted");
    assert_eq!(content["cost"], 100);
    assert_eq!(check(&tollgate, "?status=403", question).status, 403);
    assert_eq!(check(&tollgate, "?status=200", question).status, 400);
    let unknown = check(&tollgate, "", r#"{"app": "nobody"}"#);
    assert_eq!((unknown.status, unknown.json()["reason"].clone()), (403, json!("unknown_app")));

    let url = format!("http://{}", tollgate.check);
    let id = content["decision_id"].as_str().unwrap();
    let explained = run(&["explain", id, "--url", &url]);
    assert_eq!(explained.status.code(), Some(0));
    let text = String::from_utf8(explained.stdout).unwrap();
    assert!(text.starts_with("OTHER of tiny: refused: app_exhausted"), "{text}");
    assert!(text.contains("l3 passed it on, l2 refused it under policy version"), "{text}");
    assert_eq!(run(&["explain", &"0".repeat(32), "--url", &url]).status.code(), Some(1));
    assert_eq!(run(&["explain", "not-an-id", "--url", &url]).status.code(), Some(2));
    let allowed = run(&["check", "large", "--url", &url]);
    assert_eq!(allowed.status.code(), Some(0));
    assert!(String::from_utf8(allowed.stdout).unwrap().starts_with("passes for 1, "));
    assert_eq!(run(&["check", "tiny", "--cost", "100", "--url", &url, "--json"]).status.code(), Some(1));
    assert_eq!(run(&["check", "large", "--url", "http://127.0.0.1:1"]).status.code(), Some(2));
}

#[test]
fn asking_costs_nothing_and_a_check_is_taken_back_once() {
    let tollgate = Tollgate::start(APPS);
    let three = r#"{"app": "tiny", "cost": 3}"#;
    // A new application has one second of its guarantee, and gets the rest with time.
    crate::support::eventually("a full bucket", || check(&tollgate, "?dry_run=true", three).status == 200);
    for _ in 0..5 {
        let asked = check(&tollgate, "?dry_run=true", three);
        assert_eq!(asked.status, 200, "asking costs nothing: {asked:?}");
        assert!(asked.header("x-tollgate-decision").is_empty());
    }
    let paid = check(&tollgate, "", three);
    assert_eq!(paid.status, 200);
    let id = json!({"decision_id": paid.header("x-tollgate-decision")});
    let another = check(&tollgate, "", three);
    assert_eq!(another.status, 429, "{another:?}");
    assert_eq!(post(&tollgate, "/v1/rollback", &id).status, 200);
    assert_eq!(post(&tollgate, "/v1/rollback", &id).status, 404, "once");
    assert_eq!(check(&tollgate, "", three).status, 200, "it was given back");
    let refused = json!({"decision_id": another.header("x-tollgate-decision")});
    assert_eq!(post(&tollgate, "/v1/rollback", &refused).status, 404, "nothing was paid");
}

#[test]
fn reservations_are_made_and_ended_once() {
    let tollgate = Tollgate::start(APPS);
    let mut made = None;
    crate::support::eventually("rights", || {
        let reply = post(&tollgate, "/v1/reservations", &json!({"app": "writer", "estimate": 5}));
        made = (reply.status == 201).then_some(reply);
        made.is_some()
    });
    let made = made.unwrap().json();
    assert_eq!((&made["app"], &made["estimate"]), (&json!("writer"), &json!(5)));
    let id = made["id"].as_str().unwrap();
    let another = post(&tollgate, "/v1/reservations", &json!({"app": "writer", "estimate": 6}));
    assert_eq!((another.status, another.json()["reason"].clone()), (429, json!("app_exhausted")));
    let path = format!("/v1/reservations/{id}/complete");
    let done = post(&tollgate, &path, &json!({"actual": 2}));
    assert_eq!((done.status, done.json()["refund"].clone()), (200, json!(3)));
    assert_eq!(post(&tollgate, &path, &json!({"actual": 2})).status, 404, "once");
    let cancelled = ask(tollgate.check, &format!("POST /v1/reservations/{id}/cancel"), &[], "");
    assert_eq!(cancelled.status, 404);
    let again = post(&tollgate, "/v1/reservations", &json!({"app": "writer", "estimate": 1}));
    let id = again.json()["id"].as_str().unwrap().to_owned();
    let cancelled = ask(tollgate.check, &format!("POST /v1/reservations/{id}/cancel"), &[], "");
    assert_eq!((cancelled.status, cancelled.json()["refund"].clone()), (200, json!(1)));
}

#[test]
fn what_makes_no_sense_is_told() {
    let tollgate = Tollgate::start(APPS);
    let wrong = [
        ("{", "the body is not JSON"),
        ("[]", "the body is not a JSON object"),
        ("{}", "app: missing"),
        (r#"{"app": "a b"}"#, "app: a name that is"),
        (r#"{"app": 7}"#, "app: wrong type"),
        (r#"{"app": "a", "bytes": -1}"#, "bytes: wrong type"),
        (r#"{"app": "a", "cost": 1000001}"#, "cost: out of range"),
        (r#"{"app": "a", "prize": 1}"#, "prize: unknown key"),
        (&format!(r#"{{"app": "{}"}}"#, "x".repeat(20_000)), "more than 16384 bytes"),
    ];
    for (body, message) in wrong {
        let reply = check(&tollgate, "", body);
        assert_eq!((reply.status, reply.json()["reason"].clone()), (400, json!("invalid_input")));
        assert!(reply.json()["message"].as_str().unwrap().contains(message), "{}", reply.text());
    }
    assert_eq!(check(&tollgate, "?dry_run=yes", "").status, 400);
    let bytes = ["x-tollgate-app: large", "x-tollgate-bytes: many"];
    assert_eq!(ask(tollgate.check, "GET /v1/check", &bytes, "").status, 400);
    assert_eq!(ask(tollgate.check, "DELETE /v1/check", &[], "").status, 405);
    assert_eq!(ask(tollgate.check, "GET /v1/rollback", &[], "").status, 405);
    assert_eq!(ask(tollgate.check, "GET /", &[], "").status, 404);
    assert_eq!(ask(tollgate.check, "POST /v1/reservations/x/complete", &[], "{}").status, 404);
}
