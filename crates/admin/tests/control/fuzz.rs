//! Bodies that strangers may send to the admin API, with the rights of an administrator: the worst that they get is a complaint.

use crate::support::World;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;
use tollgate_testkit::Fuzz;

/// An answer to a method, a path and a body: its status, and the words that say what was wrong.
fn call(address: SocketAddr, token: &str, input: &[u8]) -> Option<(u16, String)> {
    let at = input.iter().position(|byte| *byte == b'\n').unwrap_or(input.len());
    let (line, body) = (&input[..at], input.get(at + 1..).unwrap_or_default());
    let is_plain = |byte: &u8| byte.is_ascii_graphic() || *byte == b' ';
    let line = std::str::from_utf8(line).ok().filter(|line| line.as_bytes().iter().all(is_plain))?;
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(15))).unwrap();
    let length = body.len();
    let head = format!(
        "{line} HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {token}\r\ncontent-type: application/json\r\n\
         content-length: {length}\r\nconnection: close\r\n\r\n"
    );
    // It may be answered and closed before all was said.
    let _ = stream.write_all(&[head.as_bytes(), body].concat());
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    let answer = String::from_utf8_lossy(&answer).into_owned();
    let status = answer.split(' ').nth(1).and_then(|status| status.parse().ok());
    let said = answer.split("\r\n\r\n").nth(1).unwrap_or_default();
    let words = said.chars().filter(char::is_ascii_alphabetic).take(300).collect();
    Some((status.unwrap_or_else(|| panic!("no answer to {line}: {answer:?}")), words))
}

#[test]
fn fuzz_admin_bodies() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let database = folder.path().join("admin.db");
    let (world, token) = runtime.block_on(async {
        let world = World::start(database.to_str().unwrap()).await;
        let admin = world.admin().await;
        let token = world.token(&admin, "admin").await;
        (world, token)
    });
    let fuzz = Fuzz {
        target: "admin-bodies",
        words: &[
            "POST /api/v1/apps\n",
            "PUT /api/v1/apps/app-a\n",
            "PUT /api/v1/clusters/cluster-01\n",
            "POST /api/v1/config/import\n",
            "{",
            "}",
            "[",
            "]",
            ":",
            "\"app_id\": ",
            "\"guaranteed_quota\": ",
            "\"burst_quota\": ",
            "\"priority\": ",
            "\"cost\": {\"base\": {",
            "\"effective_at\": ",
            "\"carry\": ",
            "\"dry_run\": true",
            "\"prune\": true",
            "null",
            "true",
            "1e400",
            "-0",
            "\"\\ud800\"",
            "\u{0}",
            "%00",
            "%2e%2e",
            "?page=0&limit=",
            "2026-01-01T00:00:00Z",
        ],
        mutations: 4_000,
    };
    let mut accepted = 0;
    fuzz.run(|input| {
        let answer = call(world.address(), &token, input)?;
        assert!(answer.0 < 500, "a failure of ours: {answer:?}");
        accepted += u32::from(answer.0 < 300);
        Some(answer)
    })
    .unwrap();
    assert!(accepted > 10, "{accepted} were accepted, the rest was refused: the corpus is out of date");
    // It was an administrator who asked all that.
    let answer = call(world.address(), &token, b"GET /api/v1/users\n").unwrap();
    assert_eq!(answer.0, 200);
}
