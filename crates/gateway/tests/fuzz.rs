//! What strangers may send to the HTTP check, over a real socket.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
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
";

/// Everything that comes back to these bytes.
fn say(address: SocketAddr, input: &[u8]) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(15))).unwrap();
    // It may be closed before all was said.
    let _ = stream.write_all(input).and_then(|()| stream.shutdown(Shutdown::Write));
    let mut answers = Vec::new();
    let _ = stream.read_to_end(&mut answers);
    String::from_utf8_lossy(&answers).into_owned()
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
    fuzz.run(|input| {
        let answers = say(check.local_addr(), input);
        let statuses: Vec<&str> = answers
            .match_indices("HTTP/1.1 ")
            .filter_map(|(at, word)| answers.get(at + word.len()..at + word.len() + 3))
            .collect();
        assert!(!statuses.iter().any(|status| status.starts_with('5')), "a failure of ours: {answers}");
        // A message says what was wrong, in words that have no numbers of their own.
        let message: String =
            answers.split("\"message\":").nth(1).unwrap_or_default().chars().take(30).collect();
        (statuses.len().min(4), statuses.first().map(|status| (*status).to_owned()), message)
    })
    .unwrap();
    // Whoever closes its side is not waited for: this one does not.
    let mut stream = TcpStream::connect(check.local_addr()).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(15))).unwrap();
    stream
        .write_all(b"GET /v1/check HTTP/1.1\r\nhost: h\r\nx-tollgate-app: app\r\nconnection: close\r\n\r\n")
        .unwrap();
    let mut good = String::new();
    stream.read_to_string(&mut good).unwrap();
    assert!(good.starts_with("HTTP/1.1 200") || good.starts_with("HTTP/1.1 429"), "{good}");
}
