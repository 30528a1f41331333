//! Bodies that strangers may send to the admin API, with the rights of an administrator: the worst that they get is a complaint.

use crate::support::{PASSWORD, World, token_of};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;
use tollgate_testkit::Fuzz;

/// Where only people have something to change: they are called with the token of one.
const PERSONAL: &str = "PUT /api/v1/me/password";

/// An answer to a method, a path and a body: its status, and what it says.
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
    Some((status.unwrap_or_else(|| panic!("no answer to {line}: {answer:?}")), said.to_owned()))
}

/// The routes that take a body, as the server tells of itself: method and path.
fn routes(document: &Value) -> BTreeSet<String> {
    let paths = document["paths"].as_object().unwrap().iter();
    let operations =
        paths.flat_map(|(path, item)| item.as_object().unwrap().iter().map(move |one| (path, one)));
    operations
        .filter(|(_, (_, operation))| operation.get("requestBody").is_some())
        .map(|(path, (method, _))| format!("{} {path}", method.to_uppercase()))
        .collect()
}

/// Whether an input calls that route.
fn is_call_of(route: &str, input: &[u8]) -> bool {
    let line = String::from_utf8_lossy(input.split(|byte| *byte == b'\n').next().unwrap_or_default());
    let called = line.split('?').next().unwrap_or_default();
    let (wanted, parts) = (route.split('/'), called.split('/'));
    wanted.clone().count() == parts.clone().count()
        && wanted.zip(parts).all(|(wanted, part)| wanted.starts_with('{') || wanted == part)
}

#[test]
fn fuzz_admin_bodies() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let database = folder.path().join("admin.db");
    let (world, token, mut person, mut never) = runtime.block_on(async {
        let world = World::start(database.to_str().unwrap()).await;
        let admin = world.admin().await;
        let token = world.token(&admin, "admin").await;
        let ann = json!({"username": "ann", "role": "viewer", "password": PASSWORD});
        world.call("POST", "/api/v1/users", &token, Some(ann)).await.expect(201);
        let person = token_of(&world.log_in("ann", PASSWORD).await.expect(200));
        let document = world.call("GET", "/api/v1/openapi.json", "", None).await.expect(200).body;
        (world, token, person, routes(&document))
    });
    assert!(never.len() >= 17 && never.contains(PERSONAL), "{never:?}");
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
            "\"effective_time\": ",
            "\"policy\": {",
            "\"amount\": ",
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
    fuzz.run(|input| {
        let is_personal = is_call_of(PERSONAL, input);
        let (status, said) = call(world.address(), if is_personal { &person } else { &token }, input)?;
        assert!(status < 500, "a failure of ours: {status} {said}");
        if status < 300 {
            never.retain(|route| !is_call_of(route, input));
        }
        if is_personal && status < 300 {
            let opened: Value = serde_json::from_str(&said).unwrap();
            opened["access_token"].as_str().unwrap().clone_into(&mut person);
        }
        // The words that say what was wrong.
        let words: String = said.chars().filter(char::is_ascii_alphabetic).take(300).collect();
        Some((status, words))
    })
    .unwrap();
    // One input that is tried again need not do it all.
    if std::env::var_os("FUZZ_INPUT").is_none() {
        assert!(never.is_empty(), "{never:?} never succeeded: the corpus is out of date");
    }
    // It was an administrator who asked all that.
    let answer = call(world.address(), &token, b"GET /api/v1/users\n").unwrap();
    assert_eq!(answer.0, 200);
}
