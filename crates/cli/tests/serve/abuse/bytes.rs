//! What is sent is too large, no text, or compressed.

use super::{say, start, still_serves};
use crate::support::{APPS, Echo, Tollgate, ask, eventually, open};
use std::io::{Read, Write};
use std::net::SocketAddr;
use tollgate_testkit::gzip_bomb;

/// What a bomb becomes if somebody inflates it, in MiB: more than any of these tests lets the process grow by.
const BLAST: usize = 256;

/// A request of these bytes, after which the connection is closed.
fn request(line: &[u8], fields: &[&[u8]], body: &[u8]) -> Vec<u8> {
    let length = format!("content-length: {}", body.len());
    let mut lines = vec![line, b"host: h", b"connection: close", length.as_bytes()];
    lines.extend(fields);
    [lines.join(&b"\r\n"[..]).as_slice(), b"\r\n\r\n", body].concat()
}

fn status(answer: &[u8]) -> u16 {
    let status = answer.get(9..12).map(String::from_utf8_lossy);
    status.and_then(|status| status.parse().ok()).unwrap_or(0)
}

fn contains(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}

#[test]
fn heads_without_end_are_cut_at_every_door() {
    let (_upstream, tollgate) = start();
    let before = tollgate.peak_memory();
    let huge = "x".repeat(8 << 20);
    // What would be let in and answered by 200 if it were not so large.
    let fields = "host: h\r\nconnection: close\r\nx-tollgate-app: large\r\n";
    for (door, path) in [(tollgate.gateway, "/"), (tollgate.check, "/v1/check"), (tollgate.admin, "/health")]
    {
        let small = say(door, format!("GET {path} HTTP/1.1\r\n{fields}\r\n").as_bytes());
        assert_eq!(status(&small), 200, "{path}");
        for head in [
            format!("GET {path} HTTP/1.1\r\n{fields}x-large: {huge}\r\n\r\n"),
            format!("GET {path}?{huge} HTTP/1.1\r\n{fields}\r\n"),
            format!("GET {path} HTTP/1.1\r\n{fields}{}\r\n", "a: b\r\n".repeat(200_000)),
        ] {
            let answer = say(door, head.as_bytes());
            // It says why, or what it says is lost as it hangs up on somebody who still talks.
            assert!([0, 414, 431].contains(&status(&answer)), "{path}: {}", status(&answer));
        }
    }
    let grown = tollgate.grown_since(before);
    assert!(grown < 16 * 1024, "{grown} KiB");
    still_serves(&tollgate);
}

/// A head in frames of HTTP/2 that never says that it is complete.
fn endless_head(size: usize) -> Vec<u8> {
    let frame = |kind: u8, stream: u8, payload: &[u8]| {
        let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
        [&length[1..], &[kind, 0, 0, 0, 0, stream], payload].concat()
    };
    let (settings, headers, continuation) = (4, 1, 9);
    let mut bytes = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec();
    bytes.extend(frame(settings, 0, b""));
    // GET / by http, and then fields of a letter each, not to be remembered.
    bytes.extend(frame(headers, 1, &[0x82, 0x86, 0x84]));
    let fields = b"\x00\x01a\x01b".repeat(3_000);
    while bytes.len() < size {
        bytes.extend(frame(continuation, 1, &fields));
    }
    bytes
}

#[test]
fn heads_without_end_are_cut_in_http2() {
    let (_upstream, tollgate) = start();
    let before = tollgate.peak_memory();
    let head = endless_head(32 << 20);
    for door in [tollgate.gateway, tollgate.rls] {
        let mut stream = open(door);
        let wrote = stream.write_all(&head);
        let mut answer = Vec::new();
        let ended = stream.read_to_end(&mut answer);
        // It hung up in the middle, or said that it goes away; nobody waits for the rest.
        let has_ended = wrote.is_err()
            || ended.is_ok()
            || ended.is_err_and(|error| error.kind() != std::io::ErrorKind::WouldBlock);
        assert!(has_ended, "{door} still listens");
    }
    let grown = tollgate.grown_since(before);
    assert!(grown < 16 * 1024, "{grown} KiB for a head that never ends");
    still_serves(&tollgate);
}

#[test]
fn commands_without_end_are_cut_at_the_door_for_clients_of_redis() {
    let upstream = crate::support::Upstream::start();
    let config = format!("[resp]\nlisten = '127.0.0.1:0'\n{}{APPS}", upstream.route());
    let tollgate = Tollgate::start(&config);
    let resp = tollgate.door("resp");
    let before = tollgate.peak_memory();
    let huge = "x".repeat(8 << 20);
    for command in [
        huge.clone(),
        format!("*1\r\n${}\r\n{huge}\r\n", huge.len()),
        "*1000000000\r\n".into(),
        "$99999999999999999999\r\n".into(),
        format!("*64\r\n{}", "$16384\r\n".repeat(64)),
    ] {
        let mut stream = open(resp);
        let _ = stream.write_all(command.as_bytes());
        let _ = stream.shutdown(std::net::Shutdown::Write);
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        assert!(answer.is_empty() || answer.starts_with(b"-ERR"), "{}", String::from_utf8_lossy(&answer));
    }
    let grown = tollgate.grown_since(before);
    assert!(grown < 16 * 1024, "{grown} KiB");
    let key = b"*5\r\n$11\r\nCL.THROTTLE\r\n$4\r\n\xff\xfe\0\n\r\n$1\r\n3\r\n$1\r\n1\r\n$1\r\n1\r\n";
    let mut stream = open(resp);
    stream.write_all(key).unwrap();
    let mut answer = [0; 5];
    stream.read_exact(&mut answer).unwrap();
    assert_eq!(&answer, b"*5\r\n:", "a key is bytes, whatever they are");
    still_serves(&tollgate);
}

#[test]
fn a_bomb_does_not_go_off() {
    let (_upstream, tollgate) = start();
    let bomb = gzip_bomb(BLAST).unwrap();
    assert!(bomb.starts_with(b"\x1f\x8b"));
    let small = gzip_bomb(1).unwrap();
    let before = tollgate.peak_memory();
    for encoding in ["gzip", "deflate", "br", "zstd"] {
        let encoding = format!("content-encoding: {encoding}");
        let fields = [encoding.as_bytes(), b"content-type: application/json"];
        for bomb in [&bomb, &small] {
            for (door, line, what) in [
                (tollgate.check, &b"POST /v1/check HTTP/1.1"[..], "the check"),
                (tollgate.check, b"POST /v1/reservations HTTP/1.1", "reservations"),
                (tollgate.admin, b"POST /api/v1/login HTTP/1.1", "the admin API"),
            ] {
                let status = status(&say(door, &request(line, &fields, bomb)));
                assert!([0, 400, 413, 415, 422].contains(&status), "{what}: {status}");
            }
        }
        // What is small enough to be read is read as it is, and is no JSON.
        let answer = say(tollgate.check, &request(b"POST /v1/check HTTP/1.1", &fields, &small));
        assert!(contains(&answer, b"not JSON"), "{}", String::from_utf8_lossy(&answer));
    }
    let grown = tollgate.grown_since(before);
    assert!(grown < 32 * 1024, "{grown} KiB, of {BLAST} MiB that were in there");
    still_serves(&tollgate);
}

#[test]
fn what_is_compressed_passes_through_the_gateway_as_it_is() {
    let echo = Echo::start();
    let tollgate = Tollgate::start(&format!("{}{APPS}", echo.route()));
    let bomb = gzip_bomb(BLAST).unwrap();
    let before = tollgate.peak_memory();
    let fields = [&b"x-tollgate-app: large"[..], b"content-encoding: gzip"];
    let answer = say(tollgate.gateway, &request(b"PUT /bomb HTTP/1.1", &fields, &bomb));
    assert_eq!(status(&answer), 200);
    assert!(contains(&answer, b"content-encoding: gzip"), "the server is told so");
    assert!(answer.ends_with(&bomb), "there and back, byte by byte");
    let grown = tollgate.grown_since(before);
    assert!(grown < 16 * 1024, "{grown} KiB, of {BLAST} MiB that were in there");
}

/// Bytes that no text has: alone, cut off, too long for what they say, half of a pair.
const NO_TEXT: [&[u8]; 4] = [b"\xff\xfe", b"caf\xc3", b"\xc0\xaf", b"\xed\xa0\x80"];

#[test]
fn bytes_that_are_no_text_are_refused_or_passed_on_as_they_are() {
    let echo = Echo::start();
    let tollgate = Tollgate::start(&format!("{}{APPS}", echo.route()));
    let large = &b"x-tollgate-app: large"[..];
    for bytes in NO_TEXT {
        let of = |before: &[u8], after: &[u8]| [before, bytes, after].concat();
        let at = |door: SocketAddr, line: &[u8], fields: &[&[u8]], body: &[u8]| {
            let answer = say(door, &request(line, fields, body));
            (status(&answer), answer)
        };
        // In a path nobody would know what is meant.
        let path = of(b"GET /", b" HTTP/1.1");
        for door in [tollgate.gateway, tollgate.check, tollgate.admin] {
            let (status, answer) = at(door, &path, &[large], b"");
            assert!(status == 400 || answer.is_empty(), "{bytes:?} in a path: {status}");
        }
        // A name of an application is text; what else is in a field is the server's business.
        let (status, _) = at(tollgate.gateway, b"GET / HTTP/1.1", &[&of(b"x-tollgate-app: ", b"")], b"");
        assert!([400, 403].contains(&status), "{bytes:?} as an application: {status}");
        let field = of(b"x-note: ", b"");
        let (status, answer) = at(tollgate.gateway, b"GET / HTTP/1.1", &[large, &field], b"");
        assert_eq!(status, 200, "{bytes:?} in a field");
        assert!(contains(&answer, &field), "{bytes:?} do not arrive as they are");
        let (status, _) =
            at(tollgate.check, b"GET /v1/check HTTP/1.1", &[&of(b"x-tollgate-app: ", b"")], b"");
        assert!([400, 403].contains(&status), "{bytes:?} as an application at the check: {status}");
        for token in ["authorization: Bearer ", "cookie: ", "origin: ", "x-forwarded-for: "] {
            let (status, _) =
                at(tollgate.admin, b"GET /api/v1/apps HTTP/1.1", &[&of(token.as_bytes(), b"")], b"");
            assert!([400, 401].contains(&status), "{bytes:?} in {token}: {status}");
        }
        // JSON is text.
        let json = &b"content-type: application/json"[..];
        let (status, _) =
            at(tollgate.check, b"POST /v1/check HTTP/1.1", &[json], &of(b"{\"app\": \"large", b"\"}"));
        assert_eq!(status, 400, "{bytes:?} in JSON at the check");
        let login = of(b"{\"username\": \"admin", b"\", \"password\": \"x\"}");
        let (status, _) = at(tollgate.admin, b"POST /api/v1/login HTTP/1.1", &[json], &login);
        assert!([400, 422].contains(&status), "{bytes:?} in JSON at the admin API: {status}");
    }
    eventually("whoever means well is served", || {
        ask(tollgate.gateway, "GET /", &["x-tollgate-app: large", "connection: close"], "").status == 200
    });
}
