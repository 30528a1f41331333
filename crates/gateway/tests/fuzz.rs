//! What strangers may send to the HTTP check, over a real socket.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may panic")]

use std::collections::BTreeSet;
use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tollgate_config::source::{Document, Format};
use tollgate_core::id::NodeId;
use tollgate_gateway::Check;
use tollgate_ledger::MemoryLedger;
use tollgate_listen::Listeners;
use tollgate_node::{Node, Setup};
use tollgate_testkit::Fuzz;

const CONFIG: &str = "
[identity]
order = ['header', 'host', 'path']
hosts = { 'a.example' = 'app' }
paths = { '/p' = 'app' }
[[apps]]
id = 'app'
guaranteed_quota = 100000
burst_quota = 500000
[[apps]]
id = 'alive'
guaranteed_quota = 100000
burst_quota = 500000
";

/// What ends whatever it comes behind: a head, a body that is as large as a body may be, and then the connection. A client that closed
/// its side instead would be taken for one that has gone, and its request for one that nobody waits for.
fn ending() -> Vec<u8> {
    let last = "GET /the-end HTTP/1.1\r\nhost: h\r\nconnection: close\r\n\r\n";
    format!("\r\n\r\n{}", last.repeat(24 * 1024 / last.len())).into_bytes()
}

/// What answers say when something was done to what was there.
const DONE: [&str; 4] = ["rolled_back", "refund", "owed", "trace"];

/// Everything that comes back to these bytes and what ends them.
fn say(address: SocketAddr, input: &[u8], ending: &[u8]) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(15))).unwrap();
    // It may be closed before all was said.
    let _ = stream.write_all(&[input, ending].concat());
    let mut answers = Vec::new();
    let ended = stream.read_to_end(&mut answers);
    let waits = ended.is_err_and(|error| error.kind() == ErrorKind::WouldBlock);
    assert!(!waits, "it waits for more: {}", String::from_utf8_lossy(&answers));
    String::from_utf8_lossy(&answers).into_owned()
}

/// The same as a message that can be read: most mutations of bytes end at the first of them that is out of place, and what is behind
/// it would never get to whoever decides.
fn mended(input: &[u8]) -> Vec<u8> {
    let end = input.windows(4).position(|bytes| bytes == b"\r\n\r\n").unwrap_or(input.len());
    let (head, body) = (&input[..end], input.get(end + 4..).unwrap_or_default());
    let is_framing = |line: &&[u8]| {
        let line = String::from_utf8_lossy(line).to_ascii_lowercase();
        ["content-length", "transfer-encoding", "connection", "host", "expect", "upgrade"]
            .iter()
            .any(|name| line.starts_with(name))
    };
    let mut lines = head.split(|byte| matches!(byte, b'\r' | b'\n')).filter(|line| !line.is_empty());
    let mut words = lines.next().unwrap_or_default().split(|byte| *byte == b' ');
    let method = words.next().filter(|word| [&b"GET"[..], b"POST"].contains(word)).unwrap_or(b"POST");
    let target: Vec<u8> =
        words.next().unwrap_or_default().iter().copied().filter(u8::is_ascii_graphic).collect();
    let target = if target.starts_with(b"/") { target } else { b"/v1/check".to_vec() };
    let mut message = [method, b" ", target.as_slice(), b" HTTP/1.1\r\nhost: h\r\n"].concat();
    for line in lines.filter(|line| !is_framing(line)).take(32) {
        let (name, value) = line.split_at(line.iter().position(|byte| *byte == b':').unwrap_or(line.len()));
        let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'-';
        let is_value = |byte: &u8| *byte == b'\t' || *byte >= b' ' && *byte != 127;
        if !name.is_empty() && !value.is_empty() && name.iter().all(is_name) && value.iter().all(is_value) {
            message.extend_from_slice(line);
            message.extend_from_slice(b"\r\n");
        }
    }
    message.extend_from_slice(format!("content-length: {}\r\n\r\n", body.len()).as_bytes());
    message.extend_from_slice(body);
    message
}

/// Words that stand for something that is there while an input is tried: nobody could guess what it is called.
const RESERVATION: &str = "RESERVATION";
const DECISION: &str = "DECISION";

/// The same with those words replaced by the id of a reservation that is open and of a check that can be taken back, both of an
/// application that inputs do not name, as what they name may have nothing left.
fn alive(address: SocketAddr, input: &[u8]) -> Vec<u8> {
    let Ok(text) = std::str::from_utf8(input) else { return input.to_vec() };
    let mut text = text.to_owned();
    if text.contains(RESERVATION) {
        let body = r#"{"app": "alive", "estimate": 10, "timeout_s": 10}"#;
        text = text.replace(RESERVATION, &made(address, "/v1/reservations", body, "\"id\":\""));
    }
    if text.contains(DECISION) {
        let body = r#"{"app": "alive", "cost": 1}"#;
        text = text.replace(DECISION, &made(address, "/v1/check", body, "x-tollgate-decision: "));
    }
    text.into_bytes()
}

/// What stands behind a word in the answer to a request that makes something. It may have to pay back first what an input made it owe.
fn made(address: SocketAddr, path: &str, body: &str, word: &str) -> String {
    let length = body.len();
    let request = format!(
        "POST {path} HTTP/1.1\r\nhost: h\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n{body}"
    );
    for _ in 0..1_000 {
        let answer = say(address, request.as_bytes(), b"");
        if let Some((_, rest)) = answer.split_once(word).filter(|_| !answer.starts_with("HTTP/1.1 429")) {
            let is_part = |letter: &char| letter.is_ascii_alphanumeric() || "-_.".contains(*letter);
            return rest.chars().take_while(is_part).collect();
        }
        assert!(answer.starts_with("HTTP/1.1 429"), "no {word} in {answer}");
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("there is never enough for {body}");
}

/// How many threads panicked since: a task that does so takes its connection with it, and nobody else is told.
fn panics() -> Arc<AtomicUsize> {
    let count = Arc::new(AtomicUsize::new(0));
    let (counting, before) = (Arc::clone(&count), std::panic::take_hook());
    std::panic::set_hook(Box::new(move |panic| {
        counting.fetch_add(1, Ordering::SeqCst);
        before(panic);
    }));
    count
}

#[test]
fn fuzz_check_request() {
    let config = Document::parse(CONFIG, Format::Toml).unwrap().read().unwrap();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let check = runtime.block_on(async {
        let setup = Setup::new(NodeId::new("node-01").unwrap());
        let node = Node::start(MemoryLedger::new(), setup, &config.policy);
        let settings = &config.settings;
        Check::start(
            "127.0.0.1:0".parse().unwrap(),
            &settings.check,
            &settings.gateway.identity,
            node,
            &Listeners::default(),
        )
        .unwrap()
    });
    let fuzz = Fuzz {
        target: "check-request",
        words: &[
            "GET /v1/check",
            "POST /v1/check",
            "?dry_run=true",
            "&status=403",
            "/v1/reservations",
            "/complete",
            "/cancel",
            RESERVATION,
            DECISION,
            "\"actual\": ",
            "/v1/rollback",
            "{\"app\": ",
            "\"app\"",
            "\"cost\": ",
            "\"bytes\": ",
            "\"estimate\": ",
            "x-tollgate-app: ",
            "x-tollgate-bytes: ",
            "x-original-uri: ",
            "x-forwarded-uri: ",
            "\r\n",
            "content-length: 0\r\n",
            "transfer-encoding: chunked\r\n",
            "[[[[[[[[",
            "\\ud800",
            "1e400",
            "\u{0}",
        ],
        mutations: 6_000,
    };
    let (ending, panics) = (ending(), panics());
    let (mut decided, mut done) = (0, BTreeSet::new());
    let mut end = |message: &[u8]| {
        let answers = say(check.local_addr(), message, &ending);
        done.extend(DONE.into_iter().filter(|word| answers.contains(word)));
        assert_eq!(panics.load(Ordering::SeqCst), 0, "a handler panicked");
        let statuses: Vec<&str> = answers
            .match_indices("HTTP/1.1 ")
            .filter_map(|(at, word)| answers.get(at + word.len()..at + word.len() + 3))
            .collect();
        assert!(!statuses.iter().any(|status| status.starts_with('5')), "a failure of ours: {answers}");
        decided += usize::from(statuses.iter().any(|status| ["200", "201", "429"].contains(status)));
        // A message says what was wrong, in words that have no numbers of their own.
        let message: String =
            answers.split("\"message\":").nth(1).unwrap_or_default().chars().take(30).collect();
        (statuses.len().min(4), statuses.first().map(|status| (*status).to_owned()), message)
    };
    let address = check.local_addr();
    fuzz.run(|input| (end(&alive(address, input)), end(&mended(&alive(address, input))))).unwrap();
    if std::env::var_os("FUZZ_INPUT").is_none() {
        assert!(decided >= 100, "only {decided} got as far as a decision");
        assert!(done.len() == DONE.len(), "nothing that was tried did more than {done:?}");
    }
}
