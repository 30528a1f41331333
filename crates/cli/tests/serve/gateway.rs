//! The gateway with the node as its gate.

use crate::support::{APPS, Reply, Tollgate, Upstream, ask, ask_on, eventually, open};
use std::io::{Read, Write};

#[test]
fn requests_pay_and_are_refused_with_everything_there_is_to_say() {
    let upstream = Upstream::start();
    // Closed in an outage: on a machine so busy that the ledger does not answer in time, nothing passes without it.
    let strict =
        "[[apps]]\nid = 'strict'\nguaranteed_quota = 1\nburst_quota = 3\nborrow = false\noutage = 'closed'\n";
    let tollgate = Tollgate::start(&format!("{}{APPS}{strict}", upstream.route()));
    let mut stream = open(tollgate.gateway);
    let passed = ask_on(&mut stream, "GET /a", &["x-tollgate-app: large"]);
    assert_eq!((passed.status, passed.header("x-ratelimit-cost")), (200, "1"));
    assert_eq!(passed.header("ratelimit-policy"), r#""app";q=500000;qu="tokens";pk=:bGFyZ2U=:"#);
    assert!(passed.header("ratelimit").starts_with(r#""app";r="#));
    let answers: Vec<_> =
        (0..10).map(|_| ask_on(&mut stream, "PUT /a", &["x-tollgate-app: strict"])).collect();
    let refused = answers.iter().find(|answer| answer.status == 429).unwrap();
    assert_eq!((refused.header("x-ratelimit-cost"), refused.header("x-ratelimit-limit")), ("5", "3"));
    assert_eq!(refused.json()["error"], "rate_limit_exceeded");
    assert_eq!(refused.json()["reason"], "app_exhausted");
    let stranger = ask_on(&mut stream, "GET /", &[]);
    assert_eq!((stranger.status, stranger.json()["reason"].as_str()), (403, Some("unknown_app")));
    assert_eq!(upstream.requests(), 1);
}

#[test]
fn who_waits_as_long_as_told_is_let_in() {
    let upstream = Upstream::start();
    let tollgate = Tollgate::start(&format!("{}{APPS}", upstream.route()));
    let get = || ask(tollgate.gateway, "GET /", &["x-tollgate-app: tiny"], "");
    let refused = (0..50).map(|_| get()).find(|answer| answer.status == 429).unwrap();
    let seconds = refused.number("retry-after");
    assert_eq!(refused.json()["retry_after"], seconds);
    std::thread::sleep(std::time::Duration::from_secs(seconds));
    let again = get();
    let explain = |reply: &Reply| {
        let path = format!("GET /v1/decisions/{}", reply.header("x-tollgate-decision"));
        ask(tollgate.check, &path, &[], "").text()
    };
    assert_eq!(again.status, 200, "{} then {}", explain(&refused), explain(&again));
}

#[test]
fn strangers_are_counted_as_whoever_was_named_for_them() {
    let upstream = Upstream::start();
    let config = format!("{}[identity]\nstrangers = 'tiny'\n{APPS}", upstream.route());
    let tollgate = Tollgate::start(&config);
    let answer = ask(tollgate.gateway, "GET /", &["x-tollgate-app: who-knows"], "");
    assert_eq!((answer.status, answer.header("x-ratelimit-limit")), (200, "3"));
}

/// What is told about the decision that an answer names.
fn explain(tollgate: &Tollgate, answer: &Reply) -> serde_json::Value {
    let path = format!("GET /v1/decisions/{}", answer.header("x-tollgate-decision"));
    let explained = ask(tollgate.check, &path, &[], "");
    assert_eq!(explained.status, 200, "{explained:?} of {answer:?}");
    explained.json()
}

#[test]
fn shadow_mode_lets_pass_and_marks() {
    let upstream = Upstream::start();
    let app = "[[apps]]\nid = 'ghost'\nguaranteed_quota = 1\nburst_quota = 1\nborrow = false\nshadow = true\n\
               max_connections = 1\nburst_connections = 1\n";
    let tollgate = Tollgate::start(&format!("{}{app}", upstream.route()));
    let get = || ask(tollgate.gateway, "PUT /", &["x-tollgate-app: ghost"], "");
    let mut first = open(tollgate.gateway);
    first.write_all(b"GET /hang HTTP/1.1\r\nhost: h\r\nx-tollgate-app: ghost\r\n\r\n").unwrap();
    eventually("the hanging request", || upstream.requests() == 1);
    let crowded = get();
    assert_eq!((crowded.status, crowded.header("x-tollgate-shadow")), (200, "app_limit_exceeded"));
    let page = ask(tollgate.admin, "GET /metrics", &[], "").text();
    let mut counted: Vec<&str> = page
        .lines()
        .filter(|line| line.contains("app=\"ghost\"") && line.contains("result=\"shadowed\""))
        .collect();
    counted.extend(page.lines().filter(|line| line.starts_with("tollgate_shadowed_total{app=\"ghost\"}")));
    assert_eq!(
        counted,
        [
            "tollgate_decisions_total{app=\"ghost\",result=\"shadowed\",reason=\"app_limit_exceeded\"} 1",
            "tollgate_shadowed_total{app=\"ghost\"} 1",
        ]
    );
    drop(first);
    let mut marked = get();
    eventually("there is room, and nothing to pay with", || {
        marked = get();
        (marked.status, marked.header("x-tollgate-shadow")) == (200, "app_exhausted")
    });
    for (answer, reason) in [(marked, "app_exhausted"), (crowded, "app_limit_exceeded")] {
        let explained = explain(&tollgate, &answer);
        assert_eq!(
            (&explained["reason"], &explained["allowed"]),
            (&reason.into(), &true.into()),
            "{explained}"
        );
        assert_eq!(explained["app"], "ghost");
    }
}

#[test]
fn connections_are_limited_and_freed() {
    let upstream = Upstream::start();
    let app = "[[apps]]\nid = 'narrow'\nguaranteed_quota = 1000\nburst_quota = 5000\n\
               max_connections = 2\nburst_connections = 2\n";
    let tollgate = Tollgate::start(&format!("{}{app}", upstream.route()));
    let hang = || {
        let mut stream = open(tollgate.gateway);
        stream.write_all(b"GET /hang HTTP/1.1\r\nhost: h\r\nx-tollgate-app: narrow\r\n\r\n").unwrap();
        stream
    };
    let (first, second) = (hang(), hang());
    eventually("both", || upstream.requests() == 2);
    let get = || ask(tollgate.gateway, "GET /", &["x-tollgate-app: narrow"], "");
    let refused = get();
    assert_eq!((refused.status, refused.header("retry-after")), (429, "1"), "{refused:?}");
    assert_eq!(refused.header("x-connection-limit"), "2");
    assert_eq!(refused.header("x-connection-current"), "2");
    assert_eq!(refused.header("x-connection-remaining"), "0");
    assert_eq!(refused.json()["reason"], "app_limit_exceeded");
    assert_eq!(refused.json()["decision_id"], refused.header("x-tollgate-decision"));
    let explained = explain(&tollgate, &refused);
    assert_eq!((&explained["reason"], &explained["allowed"]), (&"app_limit_exceeded".into(), &false.into()));
    assert_eq!((&explained["app"], &explained["retry_after_ms"]), (&"narrow".into(), &1_000.into()));
    drop((first, second));
    eventually("room again", || get().status == 200);
}

#[test]
fn streams_of_a_gibibyte_pass_in_little_memory() {
    const GIB: u64 = 1 << 30;
    let upstream = Upstream::start();
    let config = format!("[gateway]\nthreads = 1\n{}{APPS}", upstream.route());
    let tollgate = Tollgate::start(&config);
    let mut stream = open(tollgate.gateway);
    stream
        .write_all(
            format!("GET /bytes/{GIB} HTTP/1.1\r\nhost: h\r\nx-tollgate-app: large\r\n\r\n").as_bytes(),
        )
        .unwrap();
    let mut buffer = vec![0; 1 << 20];
    let mut received = 0;
    while received < GIB {
        let count = stream.read(&mut buffer).unwrap();
        assert!(count > 0, "broke off after {received}");
        received += count as u64;
    }
    let mut stream = open(tollgate.gateway);
    stream
        .write_all(
            format!("PUT / HTTP/1.1\r\nhost: h\r\nx-tollgate-app: large\r\ncontent-length: {GIB}\r\n\r\n")
                .as_bytes(),
        )
        .unwrap();
    for _ in 0..GIB >> 20 {
        stream.write_all(&buffer).unwrap();
    }
    let mut answer = [0; 12];
    stream.read_exact(&mut answer).unwrap();
    assert_eq!(&answer, b"HTTP/1.1 200");
    assert_eq!(upstream.bytes(), GIB);
    assert!(tollgate.peak_memory() < 100 * 1024, "{} KiB", tollgate.peak_memory());
}
