//! Clients that mean no good meet a bound at every door, and whoever means well is served meanwhile.

mod bytes;
mod floods;

use crate::support::{APPS, Tollgate, Upstream, ask, eventually, open, run};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::io::{Read, Write};
use std::net::SocketAddr;

fn start() -> (Upstream, Tollgate) {
    start_with("")
}

fn start_with(more: &str) -> (Upstream, Tollgate) {
    let upstream = Upstream::start();
    let admin = "[admin]\ncalls_per_second = 100_000\nlogins_per_minute = 1000\n";
    let tollgate = Tollgate::start(&format!("{more}{admin}{}{APPS}", upstream.route()));
    (upstream, tollgate)
}

/// Everything that comes back to these bytes, which may not all be taken.
fn say(address: SocketAddr, bytes: &[u8]) -> Vec<u8> {
    let mut stream = open(address);
    let _ = stream.write_all(bytes);
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    answer
}

fn still_serves(tollgate: &Tollgate) {
    let answer = ask(tollgate.gateway, "GET /", &["x-tollgate-app: large"], "");
    assert_eq!(answer.status, 200, "{answer:?}");
}

/// An access token of the first account, as whoever has the database gets one.
fn token(tollgate: &Tollgate) -> String {
    let config = tollgate.config.to_str().unwrap();
    let folder = tollgate.config.parent().unwrap();
    let database = format!("admin.database={}", folder.join("tollgate.db").display());
    let reset = run(&["user", "reset-password", "admin", "--json", "--config", config, "--set", &database]);
    let password: Value = serde_json::from_slice(&reset.stdout).unwrap();
    let call = |line: &str, token: &str, body: &Value| {
        let bearer = format!("authorization: Bearer {token}");
        ask(tollgate.admin, line, &["content-type: application/json", &bearer], &body.to_string()).json()
    };
    let login = json!({"username": "admin", "password": password["password"]});
    let session = call("POST /api/v1/login", "", &login);
    let change = json!({"current": password["password"], "new": "another password"});
    let session = call("PUT /api/v1/me/password", session["access_token"].as_str().unwrap(), &change);
    session["access_token"].as_str().unwrap().to_owned()
}

/// How many names are made up, and connections opened; `make soak` asks for a million.
fn made_up() -> u32 {
    std::env::var("ABUSE_NAMES").map_or(20_000, |count| count.parse().unwrap())
}

/// Asks once under each of these names on one connection: everything that is answered.
fn ask_under(gateway: SocketAddr, names: std::ops::Range<u32>) -> String {
    let last = names.end - 1;
    let requests = names.fold(String::new(), |mut requests, number| {
        let end = if number == last { "connection: close\r\n" } else { "" };
        // By name, by key and by host in turn.
        let who = match number % 3 {
            0 => format!("x-tollgate-app: made-up-{number}\r\n"),
            1 => format!("x-api-key: {number}\r\n"),
            _ => String::new(),
        };
        write!(
            requests,
            "GET /{number} HTTP/1.1\r\nhost: h{number}\r\n{who}x-{number}: {number}\r\n{end}\r\n"
        )
        .unwrap();
        requests
    });
    let mut stream = open(gateway);
    let mut reader = stream.try_clone().unwrap();
    let writer = std::thread::spawn(move || stream.write_all(requests.as_bytes()));
    let mut answers = String::new();
    reader.read_to_string(&mut answers).unwrap();
    writer.join().unwrap().unwrap();
    answers
}

#[test]
fn made_up_names_and_values_fill_neither_memory_nor_metrics() {
    const BATCH: u32 = 2_000;
    let upstream = Upstream::start();
    let known = "[identity]\norder = ['header', 'api_key', 'host']\nhosts = { 'tollgate.test' = 'large' }\n\
                 [[identity.api_keys]]\nsecret = 'a-key-that-is-known'\napp = 'large'\n";
    let tollgate = Tollgate::start(&format!("{known}{}{APPS}", upstream.route()));
    // Each is looked for, and found where it is one of ours; the host that is asked for is.
    for known in [&["x-api-key: a-key-that-is-known"][..], &[]] {
        assert_eq!(ask(tollgate.gateway, "GET /", known, "").status, 200, "{known:?}");
    }
    still_serves(&tollgate);
    let lines = || ask(tollgate.admin, "GET /metrics", &[], "").text().lines().count();
    let send = |batch: u32| {
        let answers = ask_under(tollgate.gateway, batch * BATCH..(batch + 1) * BATCH);
        let refusals = answers.matches("HTTP/1.1 403").count();
        assert_eq!(u32::try_from(refusals), Ok(BATCH), "refused, all of them");
    };
    // What is looked at once a second was looked at.
    eventually("everything is told", || {
        let page = ask(tollgate.admin, "GET /metrics", &[], "").text();
        page.contains("tollgate_app_tokens{") && page.contains("tollgate_reconciliations_total{")
    });
    send(0);
    let (memory, metrics, names) = (tollgate.peak_memory(), lines(), made_up());
    for batch in 1..names / BATCH {
        send(batch);
    }
    let grown = tollgate.grown_since(memory);
    assert!(grown < 32 * 1024, "{grown} KiB for {names} names");
    assert_eq!(lines(), metrics, "a name that nobody has makes no series");
    still_serves(&tollgate);
}
