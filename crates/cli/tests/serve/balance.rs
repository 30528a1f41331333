//! Whatever is cancelled when, every token is accounted for.

use crate::support::{Tollgate, Upstream, ask, crowd, eventually, exchange, most_files, open, run};
use serde_json::Value;
use std::io::Write;
use tollgate_testkit::{RedisServer, free_port};

const APP: &str = "[[apps]]\nid = 'app'\nguaranteed_quota = 10_000\nburst_quota = 50_000\n";

/// What the ledger knows of the application once nobody holds anything of it any more.
fn audited(tollgate: &Tollgate, redis: &RedisServer) -> Value {
    let url = format!("ledger.url={}", redis.url());
    let output = run(&["audit", "--json", "--config", tollgate.config.to_str().unwrap(), "--set", &url]);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let audit: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(audit["balances"], true);
    audit["clusters"]["cluster-01"]["apps"]["app"].clone()
}

#[test]
fn cancelled_requests_cost_what_reached_the_server_and_no_more() {
    let redis = RedisServer::start().unwrap();
    let upstream = Upstream::start();
    let nobody = free_port().unwrap();
    let config = format!(
        "[ledger]\nurl = '{}'\n{}[[upstreams]]\nid = 'gone'\nservers = ['http://127.0.0.1:{nobody}']\n\
         [[routes]]\npath = '/gone'\nupstream = 'gone'\n{APP}",
        redis.url(),
        upstream.route()
    );
    let mut tollgate = Tollgate::start(&config);
    let send = |text: &str| {
        let mut stream = open(tollgate.gateway);
        stream.write_all(text.as_bytes()).unwrap();
        stream
    };
    let head = |line: &str| format!("{line} HTTP/1.1\r\nhost: h\r\nx-tollgate-app: app\r\n");
    for _ in 0..5 {
        // In the middle of the head: nobody knows whose it is.
        drop(send(&head("GET /")));
        // No server can be reached.
        let answer = ask(tollgate.gateway, "PUT /gone", &["x-tollgate-app: app"], "body");
        assert_eq!(answer.status, 502, "{answer:?}");
        // Refused with its body still to come.
        let waiting = send(&(head("PUT /gone") + "expect: 100-continue\r\ncontent-length: 1000\r\n\r\n"));
        drop(waiting);
    }
    assert_eq!(upstream.requests(), 0);
    let mut expected = 0;
    for round in 1..=5 {
        // While the server thinks: 1.
        let waiting = send(&(head("GET /hang") + "\r\n"));
        // In the middle of a body of known size, 70,000 bytes: 5 + 2.
        let unfinished = send(&(head("PUT /") + "content-length: 70000\r\n\r\n" + &"x".repeat(1_000)));
        // In the middle of the response: 1.
        let half = send(&(head("GET /break") + "\r\n"));
        // Of unknown size, 100,000 bytes as it turns out: 5 + 2, though 1 MiB was reckoned with.
        let mut stream = open(tollgate.gateway);
        let piece = format!("{:x}\r\n{}\r\n", 100_000, "x".repeat(100_000));
        stream.write_all((head("PUT /") + "transfer-encoding: chunked\r\n\r\n" + &piece).as_bytes()).unwrap();
        stream.write_all(b"0\r\n\r\n").unwrap();
        let answered = exchange(&mut stream, "GET /", &["x-tollgate-app: app"], "").unwrap();
        assert_eq!(answered.status, 200);
        // And one that is answered on the same connection: 1.
        expected += 1 + 7 + 1 + 7 + 1;
        eventually("all of them", || upstream.requests() == 5 * round);
        drop((waiting, unfinished, half));
    }
    // What a body of unknown size did not need came back; if it had been reported by then, these spend it first.
    for _ in 0..20 {
        assert_eq!(ask(tollgate.gateway, "GET /", &["x-tollgate-app: app"], "").status, 200);
        expected += 1;
    }
    assert_eq!(tollgate.stop(), Some(0));
    let line = audited(&tollgate, &redis);
    assert_eq!(line["spent"], f64::from(expected), "{line}");
    assert_eq!(line["outstanding"], 0.0, "leases were given back: {line}");
    assert_eq!(line["expired"], 0.0);
}

#[test]
fn two_gateways_on_one_redis_share_one_limit() {
    let redis = RedisServer::start().unwrap();
    let upstream = Upstream::start();
    let app = "[[apps]]\nid = 'app'\nguaranteed_quota = 20\nburst_quota = 40\nborrow = false\n";
    let config = format!("[ledger]\nurl = '{}'\n{}{app}", redis.url(), upstream.route());
    let mut both = [Tollgate::start(&config), Tollgate::start(&config)];
    let start = std::time::Instant::now();
    let mut passed = [0, 0];
    for _ in 0..150 {
        for (tollgate, passed) in both.iter().zip(&mut passed) {
            let answer = ask(tollgate.gateway, "GET /", &["x-tollgate-app: app"], "");
            assert!([200, 429].contains(&answer.status), "{answer:?}");
            *passed += u64::from(answer.status == 200);
        }
    }
    let seconds = start.elapsed().as_secs_f64();
    assert!(passed[0] > 0 && passed[1] > 0, "{passed:?}");
    // The burst and its allowance for this window, and the guarantee for as long as it took.
    let most = 40.0 + 20.0 + 20.0 * (seconds + 1.0);
    let all = passed[0] + passed[1];
    assert!(f64::from(u32::try_from(all).unwrap()) <= most, "{passed:?} in {seconds} s");
    assert!(both.iter_mut().all(|tollgate| tollgate.stop() == Some(0)));
    let line = audited(&both[0], &redis);
    assert_eq!(line["spent"].as_f64(), Some(f64::from(u32::try_from(all).unwrap())), "{line}");
    assert_eq!(line["outstanding"], 0.0);
}

#[test]
fn responses_are_charged_where_the_application_says_so() {
    let redis = RedisServer::start().unwrap();
    let upstream = Upstream::start();
    let app = format!("{APP}charge_response = true\n");
    let config = format!("[ledger]\nurl = '{}'\n{}{app}", redis.url(), upstream.route());
    let mut tollgate = Tollgate::start(&config);
    // 1 for the GET, and 4 for as many units of 64 KiB as were begun.
    for _ in 0..3 {
        let answer = ask(tollgate.gateway, "GET /bytes/200000", &["x-tollgate-app: app"], "");
        assert_eq!((answer.status, answer.body.len()), (200, 200_000));
    }
    assert_eq!(tollgate.stop(), Some(0));
    let line = audited(&tollgate, &redis);
    assert_eq!(line["spent"], 15.0, "{line}");
}

/// Ten thousand, or as many as this process may have open. A connection without a request has no buffers of its own: with some it
/// would take several times as much.
#[test]
fn ten_thousand_connections_can_idle_and_take_little() {
    const KIB_EACH: u64 = 12;
    let count = 10_000.min(most_files().saturating_sub(500));
    let _crowd = crowd();
    let redis = RedisServer::start().unwrap();
    let upstream = Upstream::start();
    // Those that are asked last have waited for all others.
    let waits = "[gateway.timeouts]\nheader_ms = 600_000\nidle_ms = 600_000\n";
    let config = format!("[ledger]\nurl = '{}'\n{waits}{}{APP}", redis.url(), upstream.route());
    let mut tollgate = Tollgate::start(&config);
    let before = tollgate.peak_memory();
    let mut idle: Vec<_> = (0..count).map(|_| open(tollgate.gateway)).collect();
    // Any of them can go on, those that never spoke before and those that did.
    let mut asked = 0;
    for step in [1, count / 100] {
        for stream in idle.iter_mut().step_by(step) {
            let answer = exchange(stream, "GET /", &["x-tollgate-app: app"], "").unwrap();
            assert_eq!(answer.status, 200, "{answer:?}");
            asked += 1;
        }
    }
    let taken = tollgate.grown_since(before);
    assert!(taken < KIB_EACH * count as u64, "{taken} KiB for {count} connections");
    drop(idle);
    assert_eq!(tollgate.stop(), Some(0));
    let line = audited(&tollgate, &redis);
    assert_eq!(line["spent"], f64::from(asked), "{line}");
}
