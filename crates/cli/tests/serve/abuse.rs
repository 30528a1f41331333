//! Clients that mean no good meet a bound at every door, and whoever means well is served meanwhile.

use crate::support::{APPS, Tollgate, Upstream, ask, eventually, open, run};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};

fn start() -> (Upstream, Tollgate) {
    let upstream = Upstream::start();
    let admin = "[admin]\ncalls_per_second = 100_000\nlogins_per_minute = 1000\n";
    let tollgate = Tollgate::start(&format!("{admin}{}{APPS}", upstream.route()));
    (upstream, tollgate)
}

/// Everything that comes back to these bytes, which may not all be taken.
fn say(address: SocketAddr, bytes: &[u8]) -> String {
    let mut stream = open(address);
    let _ = stream.write_all(bytes);
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    String::from_utf8_lossy(&answer).into_owned()
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

#[test]
fn made_up_names_and_values_fill_neither_memory_nor_metrics() {
    let (_upstream, tollgate) = start();
    still_serves(&tollgate);
    let lines = || ask(tollgate.admin, "GET /metrics", &[], "").text().lines().count();
    let send = |numbers: std::ops::Range<u32>| {
        let requests = numbers.fold(String::new(), |mut requests, number| {
            write!(
                requests,
                "GET /{number} HTTP/1.1\r\nhost: h{number}\r\nx-tollgate-app: made-up-{number}\r\n\
                 x-api-key: {number}\r\nx-{number}: {number}\r\n\r\n"
            )
            .unwrap();
            requests
        });
        let (mut stream, count) = (open(tollgate.gateway), requests.matches("GET /").count());
        let mut reader = stream.try_clone().unwrap();
        let writer = std::thread::spawn(move || stream.write_all(requests.as_bytes()).map(|()| stream));
        let (mut answers, mut buffer) = (String::new(), [0; 8_192]);
        while answers.matches("HTTP/1.1 ").count() < count || !answers.ends_with('}') {
            let read = reader.read(&mut buffer).unwrap();
            assert_ne!(read, 0, "closed after {} answers", answers.matches("HTTP/1.1 ").count());
            answers.push_str(&String::from_utf8_lossy(&buffer[..read]));
        }
        drop(writer.join().unwrap());
        assert!(!answers.contains("HTTP/1.1 200") && !answers.contains("HTTP/1.1 5"), "refused, all of them");
    };
    send(0..2_000);
    let (memory, metrics) = (tollgate.peak_memory(), lines());
    for batch in 1..10 {
        send(batch * 2_000..(batch + 1) * 2_000);
    }
    let grown = tollgate.peak_memory() - memory;
    assert!(grown < 32 * 1024, "{grown} KiB for twenty thousand names");
    assert_eq!(lines(), metrics, "a name that nobody has makes no series");
    still_serves(&tollgate);
}

#[test]
fn heads_without_end_are_cut_at_every_door() {
    let (_upstream, tollgate) = start();
    let before = tollgate.peak_memory();
    let huge = "x".repeat(8 << 20);
    for door in [tollgate.gateway, tollgate.check, tollgate.admin] {
        for head in [
            format!("GET / HTTP/1.1\r\nhost: h\r\nx-large: {huge}\r\n\r\n"),
            format!("GET /{huge} HTTP/1.1\r\nhost: h\r\n\r\n"),
            format!("GET / HTTP/1.1\r\nhost: h\r\n{}\r\n", "a: b\r\n".repeat(200_000)),
        ] {
            let answer = say(door, head.as_bytes());
            assert!(
                answer.is_empty() || answer.starts_with("HTTP/1.1 4"),
                "{}",
                &answer[..answer.len().min(80)]
            );
        }
    }
    let grown = tollgate.peak_memory() - before;
    assert!(grown < 48 * 1024, "{grown} KiB");
    still_serves(&tollgate);
}

#[test]
fn nothing_that_is_sent_is_inflated() {
    let (_upstream, tollgate) = start();
    // Ten bytes of a header of gzip, and then anything: whoever inflated it would say so.
    let body = "\u{1f}\u{0}\u{8}bomb".repeat(100);
    for encoding in ["gzip", "deflate", "br", "zstd"] {
        let heads = [format!("content-encoding: {encoding}"), "content-type: application/json".into()];
        let heads: Vec<&str> = heads.iter().map(String::as_str).collect();
        let checked = ask(tollgate.check, "POST /v1/check", &heads, &body);
        assert_eq!(checked.status, 400, "{checked:?}");
        assert!(checked.text().contains("not JSON"), "{}", checked.text());
        let login = ask(tollgate.admin, "POST /api/v1/login", &heads, &body);
        assert!([400, 415, 422].contains(&login.status), "{login:?}");
    }
    still_serves(&tollgate);
}

#[test]
fn there_are_so_many_watchers_and_no_more() {
    let (_upstream, tollgate) = start();
    let token = token(&tollgate);
    let bearer = format!("authorization: Bearer {token}");
    let watch = || -> (TcpStream, u16) {
        let answer = ask(tollgate.admin, "POST /api/v1/ws/ticket", &[&bearer], "");
        let ticket = answer.json()["ticket"].as_str().unwrap_or_else(|| panic!("{answer:?}")).to_owned();
        let mut stream = open(tollgate.admin);
        let request = format!(
            "GET /api/v1/ws?ticket={ticket} HTTP/1.1\r\nhost: h\r\nconnection: upgrade\r\nupgrade: websocket\r\n\
             sec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
        );
        stream.write_all(request.as_bytes()).unwrap();
        let mut head = [0; 12];
        stream.read_exact(&mut head).unwrap();
        (stream, String::from_utf8_lossy(&head[9..]).parse().unwrap())
    };
    let watchers: Vec<(TcpStream, u16)> = (0..500).map(|_| watch()).collect();
    assert!(watchers.iter().all(|(_, status)| *status == 101));
    assert_eq!(watch().1, 429);
    still_serves(&tollgate);
    drop(watchers);
    eventually("a seat is free again", || watch().1 == 101);
}

#[test]
fn connections_to_the_console_that_say_nothing_leave_the_gateway_alone() {
    let (_upstream, tollgate) = start();
    // More than there is room for: the rest waits outside, without a place in the process.
    let silent: Vec<TcpStream> = (0..1_500).map(|_| open(tollgate.admin)).collect();
    let files = || std::fs::read_dir(format!("/proc/{}/fd", tollgate.id())).unwrap().count();
    eventually("some are let in", || files() > 900);
    std::thread::sleep(std::time::Duration::from_millis(300));
    assert!(files() < 1_200, "{} files for connections that say nothing", files());
    still_serves(&tollgate);
    drop(silent);
    eventually("there is room again", || TcpStream::connect(tollgate.admin).is_ok() && files() < 200);
    assert_eq!(ask(tollgate.admin, "GET /health", &[], "").status, 200);
}
