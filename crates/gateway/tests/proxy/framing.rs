//! Requests that two readers could read differently are answered and the connection closed, wherever they stand.

use crate::support::raw::{Raw, status};
use crate::support::{Server, eventually, gateway};

const GOOD: &str = "GET /good HTTP/1.1\r\nHost: a\r\n\r\n";
const GOOD_BODY: &str = "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello";
const GOOD_CHUNKS: &str =
    "POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n";

/// A request that must not get in, with the status and reason it is answered with. `/bad` must never be seen.
#[allow(clippy::too_many_lines, reason = "a table")]
fn bad_requests() -> Vec<(&'static str, String, u16, &'static str)> {
    let post = |fields: &str| format!("POST /bad HTTP/1.1\r\nHost: a\r\n{fields}\r\n0\r\n\r\n");
    let get = |fields: &str| format!("GET /bad HTTP/1.1\r\n{fields}\r\n");
    vec![
        (
            "length and chunked",
            post("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n"),
            400,
            "content_length_and_transfer_encoding",
        ),
        (
            "chunked and length",
            post("Transfer-Encoding: chunked\r\nContent-Length: 5\r\n"),
            400,
            "content_length_and_transfer_encoding",
        ),
        ("two lengths", post("Content-Length: 5\r\nContent-Length: 6\r\n"), 400, "content_length_repeated"),
        (
            "the same length twice",
            post("Content-Length: 5\r\nContent-Length: 5\r\n"),
            400,
            "content_length_repeated",
        ),
        ("a list of lengths", post("Content-Length: 5, 5\r\n"), 400, "bad_content_length"),
        ("a signed length", post("Content-Length: +5\r\n"), 400, "bad_content_length"),
        ("a negative length", post("Content-Length: -5\r\n"), 400, "bad_content_length"),
        ("a hexadecimal length", post("Content-Length: 0x5\r\n"), 400, "bad_content_length"),
        ("an empty length", post("Content-Length:\r\n"), 400, "bad_content_length"),
        ("an endless length", post("Content-Length: 18446744073709551616\r\n"), 400, "bad_content_length"),
        ("identity", post("Transfer-Encoding: identity\r\n"), 400, "bad_transfer_encoding"),
        (
            "identity and chunked",
            post("Transfer-Encoding: identity\r\nTransfer-Encoding: chunked\r\n"),
            400,
            "bad_transfer_encoding",
        ),
        ("gzip, chunked", post("Transfer-Encoding: gzip, chunked\r\n"), 400, "bad_transfer_encoding"),
        ("chunked, chunked", post("Transfer-Encoding: chunked, chunked\r\n"), 400, "bad_transfer_encoding"),
        ("chunked in quotes", post("Transfer-Encoding: \"chunked\"\r\n"), 400, "bad_transfer_encoding"),
        ("xchunked", post("Transfer-Encoding: xchunked\r\n"), 400, "bad_transfer_encoding"),
        (
            "chunked with a parameter",
            post("Transfer-Encoding: chunked;a=b\r\n"),
            400,
            "bad_transfer_encoding",
        ),
        ("an empty encoding", post("Transfer-Encoding:\r\n"), 400, "bad_transfer_encoding"),
        ("an encoding with a vertical tab", post("Transfer-Encoding: \x0bchunked\r\n"), 400, "bad_header"),
        (
            "an encoding with a space before its colon",
            post("Transfer-Encoding : chunked\r\n"),
            400,
            "bad_header",
        ),
        ("a length with a space before its colon", post("Content-Length : 5\r\n"), 400, "bad_header"),
        (
            "chunked in HTTP/1.0",
            "POST /bad HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n".into(),
            400,
            "bad_transfer_encoding",
        ),
        ("no host", get(""), 400, "host_missing"),
        ("two hosts", get("Host: a\r\nHost: b\r\n"), 400, "host_repeated"),
        ("the same host twice", get("Host: a\r\nhost: a\r\n"), 400, "host_repeated"),
        ("an empty host", get("Host: \r\n"), 400, "bad_host"),
        ("a host with a path", get("Host: a/b\r\n"), 400, "bad_host"),
        ("a host with credentials", get("Host: a@b\r\n"), 400, "bad_host"),
        ("a host with a space", get("Host: a b\r\n"), 400, "bad_host"),
        ("two hosts in one", get("Host: a, b\r\n"), 400, "bad_host"),
        ("a bare LF after a header", get("Host: a\nX: y\r\n"), 400, "bare_line_end"),
        (
            "a bare LF after the request line",
            "GET /bad HTTP/1.1\nHost: a\r\n\r\n".into(),
            400,
            "bare_line_end",
        ),
        ("bare LFs throughout", "GET /bad HTTP/1.1\nHost: a\n\n".into(), 400, "bare_line_end"),
        ("a bare CR in a value", get("Host: a\r\nX: a\rb\r\n"), 400, "bare_line_end"),
        ("a bare CR at the end of a value", get("Host: a\r\nX: a\r\r\n"), 400, "bare_line_end"),
        ("a folded header", get("Host: a\r\nX: a\r\n b\r\n"), 400, "folded_header"),
        ("a header folded with a tab", get("Host: a\r\nX: a\r\n\tb\r\n"), 400, "folded_header"),
        ("a folded encoding", post("Transfer-Encoding:\r\n chunked\r\n"), 400, "bad_transfer_encoding"),
        ("a header without a colon", get("Host: a\r\nX\r\n"), 400, "bad_header"),
        ("a header without a name", get("Host: a\r\n: x\r\n"), 400, "bad_header"),
        ("a header name with a space", get("Host: a\r\nX Y: z\r\n"), 400, "bad_header"),
        ("a header name beyond ASCII", get("Host: a\r\nX\u{e9}: z\r\n"), 400, "bad_header"),
        ("a NUL in a value", get("Host: a\r\nX: \0\r\n"), 400, "bad_header"),
        ("a DEL in a value", get("Host: a\r\nX: \x7f\r\n"), 400, "bad_header"),
        ("two spaces", "GET  /bad HTTP/1.1\r\nHost: a\r\n\r\n".into(), 400, "bad_request_line"),
        ("a tab for a space", "GET\t/bad HTTP/1.1\r\nHost: a\r\n\r\n".into(), 400, "bad_request_line"),
        ("no version", "GET /bad\r\nHost: a\r\n\r\n".into(), 400, "bad_request_line"),
        (
            "a space behind the version",
            "GET /bad HTTP/1.1 \r\nHost: a\r\n\r\n".into(),
            400,
            "bad_request_line",
        ),
        (
            "a version in small letters",
            "GET /bad http/1.1\r\nHost: a\r\n\r\n".into(),
            400,
            "bad_request_line",
        ),
        ("a strange method", "G(T /bad HTTP/1.1\r\nHost: a\r\n\r\n".into(), 400, "bad_request_line"),
        (
            "a target beyond ASCII",
            "GET /bad\u{e9} HTTP/1.1\r\nHost: a\r\n\r\n".into(),
            400,
            "bad_request_line",
        ),
        ("another version", "GET /bad HTTP/1.2\r\nHost: a\r\n\r\n".into(), 505, "http_version_not_supported"),
        (
            "HTTP/2 without its preface",
            "GET /bad HTTP/2.0\r\nHost: a\r\n\r\n".into(),
            505,
            "http_version_not_supported",
        ),
        ("CONNECT", "CONNECT a:80 HTTP/1.1\r\nHost: a\r\n\r\n".into(), 405, "connect_not_allowed"),
        ("too many headers", get(&format!("Host: a\r\n{}", "X: y\r\n".repeat(100))), 431, "too_many_headers"),
        (
            "a head too long",
            get(&format!("Host: a\r\nX: {}\r\n", "y".repeat(40_000))),
            431,
            "headers_too_large",
        ),
        (
            "a target too long",
            format!("GET /bad{} HTTP/1.1\r\nHost: a\r\n\r\n", "d".repeat(40_000)),
            431,
            "headers_too_large",
        ),
    ]
}

fn assert_bad(what: &str, answers: &str, expected: u16, reason: &str) {
    let last = answers.rfind("HTTP/1.1 ").map(|at| &answers[at..]).unwrap_or_default();
    assert_eq!(status(last), expected, "{what}: {answers}");
    assert!(last.contains(&format!("x-tollgate-error: {reason}\r\n")), "{what}: {answers}");
    assert!(last.contains("connection: close\r\n"), "{what}: {answers}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_bad_request_is_answered_and_the_connection_closed() {
    let server = Server::http1().await;
    let (gateway, gate) = gateway(&server, "");
    for (what, bad, expected, reason) in bad_requests() {
        let mut raw = Raw::connect(gateway.local_addr()).await;
        raw.say(&bad).await;
        let answers = raw.hear_all().await;
        assert_eq!(answers.matches("HTTP/1.1 ").count(), 1, "{what}: {answers}");
        assert_bad(what, &answers, expected, reason);
    }
    assert_eq!((gate.asked(), server.requests()), (0, 0));
    assert_eq!(gateway.stats().requests_malformed, bad_requests().len() as u64);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_bad_request_is_found_behind_good_ones_of_the_same_connection() {
    let server = Server::http1().await;
    let (gateway, gate) = gateway(&server, "");
    let cases = bad_requests();
    for (number, (what, bad, expected, reason)) in cases.iter().enumerate() {
        let mut raw = Raw::connect(gateway.local_addr()).await;
        let good = [GOOD, GOOD_BODY, GOOD_CHUNKS][number % 3];
        raw.say(good).await;
        assert_eq!(status(&raw.hear().await.0), 200, "{what}");
        raw.say(bad).await;
        assert_bad(what, &raw.hear_all().await, *expected, reason);
    }
    gate.balanced().await;
    assert_eq!(gate.admitted(), cases.len() as u64);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_bad_request_is_found_in_a_pipeline_and_those_before_it_are_answered() {
    let server = Server::http1().await;
    let (gateway, gate) = gateway(&server, "");
    let cases = bad_requests();
    for (what, bad, expected, reason) in &cases {
        let mut raw = Raw::connect(gateway.local_addr()).await;
        // All at once, and something good behind it that must not be read any more.
        raw.say([GOOD_BODY, GOOD_CHUNKS, GOOD, bad, GOOD].concat()).await;
        let answers = raw.hear_all().await;
        assert_eq!(answers.matches("HTTP/1.1 200 OK").count(), 3, "{what}: {answers}");
        assert!(answers.contains("hello /good"), "{what}: {answers}");
        assert_bad(what, &answers, *expected, reason);
    }
    gate.balanced().await;
    assert_eq!(gate.admitted(), 3 * cases.len() as u64);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_bad_request_is_found_however_it_is_cut() {
    let server = Server::http1().await;
    let (gateway, gate) = gateway(&server, "");
    for (what, bad, expected, reason) in bad_requests().iter().filter(|(_, bad, ..)| bad.len() < 200) {
        let mut raw = Raw::connect(gateway.local_addr()).await;
        let all = [GOOD_CHUNKS, bad].concat();
        for piece in all.as_bytes().chunks(7) {
            if raw.stream.try_write(piece).is_err() {
                break;
            }
            tokio::task::yield_now().await;
        }
        assert_bad(what, &raw.hear_all().await, *expected, reason);
    }
    gate.balanced().await;
    assert_eq!(server.requests(), gate.admitted());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn good_requests_pass_however_they_are_cut() {
    let server = Server::http1().await;
    let (gateway, gate) = gateway(&server, "");
    let all = [GOOD, GOOD_BODY, "\r\n", GOOD_CHUNKS, GOOD_BODY, GOOD].concat();
    for size in [1, 2, 3, 5, 11, 40, 97, 1_000] {
        let mut raw = Raw::connect(gateway.local_addr()).await;
        for piece in all.as_bytes().chunks(size) {
            raw.say(piece).await;
            tokio::task::yield_now().await;
        }
        raw.say("GET /last HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n").await;
        let answers = raw.hear_all().await;
        assert_eq!(answers.matches("HTTP/1.1 200 OK").count(), 6, "{size}: {answers}");
        assert!(answers.ends_with("hello /last"), "{size}: {answers}");
    }
    gate.balanced().await;
    assert_eq!(gate.finished(), 48);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_broken_chunk_never_ends_a_request() {
    let server = Server::http1().await;
    let (gateway, gate) = gateway(&server, "");
    for broken in
        ["5\nhello\r\n0\r\n\r\n", "5\r\nhelloX0\r\n\r\n", "zz\r\n", " 5\r\nhello", "0\r\nX: y\nZ: z\r\n\r\n"]
    {
        let mut raw = Raw::connect(gateway.local_addr()).await;
        raw.say("POST /sink HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n").await;
        raw.say(broken).await;
        let answers = raw.hear_all().await;
        assert!(answers.is_empty() || status(&answers) == 400, "{broken:?}: {answers}");
        assert!(!answers.contains("200 OK"), "{broken:?}: {answers}");
    }
    gate.balanced().await;
    eventually("the server notices", || {
        server.seen.cancelled.load(std::sync::atomic::Ordering::SeqCst) == server.requests()
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_target_with_a_host_counts_more_than_the_field() {
    let server = Server::http1().await;
    let (gateway, gate) = gateway(&server, "");
    let mut raw = Raw::connect(gateway.local_addr()).await;
    raw.say("GET http://b.example/headers HTTP/1.1\r\nHost: a\r\n\r\n").await;
    let (_, body) = raw.hear().await;
    assert!(body.contains(r#"["host","b.example"]"#) && body.contains(r#""uri":"/headers""#), "{body}");
    assert_eq!(gate.last().host, "b.example");
}
