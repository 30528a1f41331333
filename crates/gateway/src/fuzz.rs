//! What strangers may send, to those parts that read it byte by byte.

use crate::downstream;
use crate::framing::Bounds;
use crate::plan::Identifier;
use crate::upstream::rehearse;
use http::{HeaderMap, HeaderName, HeaderValue, Uri};
use tollgate_config::source::{Document, Format};
use tollgate_testkit::Fuzz;

const IDENTITY: &str = "[identity]\norder = ['s3', 'api_key', 'host', 'path', 'header']\n\
    api_keys = [{secret = 'key-of-app-k', app = 'app-k'}]\naccess_keys = {AKIA1 = 'app-s'}\n\
    hosts = {'a.example' = 'app-h', '*.b.example' = 'app-d'}\npaths = {'/p' = 'app-p', '/p/q' = 'app-q'}\n";

/// A request line and header lines, as far as they can be told: what the rest of the gateway would be handed.
fn request(input: &[u8]) -> (String, Uri, HeaderMap) {
    let mut lines = input.split(|byte| *byte == b'\n');
    let target = lines.next().unwrap_or_default();
    let uri = Uri::try_from(target).unwrap_or_default();
    let mut headers = HeaderMap::new();
    for line in lines {
        let at = line.iter().position(|byte| *byte == b':').unwrap_or(line.len());
        let (name, value) = (&line[..at], line.get(at + 1..).unwrap_or_default());
        if let (Ok(name), Ok(value)) = (HeaderName::from_bytes(name), HeaderValue::from_bytes(value)) {
            headers.append(name, value);
        }
    }
    let host = headers.get("host").and_then(|host| host.to_str().ok()).unwrap_or_default().to_owned();
    (host, uri, headers)
}

#[test]
fn fuzz_sigv4_identity() {
    let config = Document::parse(IDENTITY, Format::Toml).unwrap().read().unwrap();
    let identifier = Identifier::new(&config.settings.gateway.identity);
    let fuzz = Fuzz {
        target: "sigv4-identity",
        words: &[
            "authorization:",
            "AWS4-HMAC-SHA256 ",
            "Credential=",
            "AKIA1",
            "/20260101/eu/s3/aws4_request",
            "AWS ",
            ":",
            ",",
            " ",
            "?X-Amz-Credential=",
            "%2F",
            "AWSAccessKeyId=",
            "api_key=",
            "x-api-key:",
            "key-of-app-k",
            "host:",
            "a.example",
            "x.b.example",
            "/p/q",
            "x-tollgate-app:",
            "\n",
        ],
        mutations: 30_000,
    };
    let wanted = [
        ("app-s", 100),
        ("app-k", 20),
        ("app-h", 1),
        ("app-d", 20),
        ("app-p", 100),
        ("app-q", 20),
        ("None", 100),
    ];
    fuzz.run_to(&wanted, |input| {
        let (host, uri, headers) = request(input);
        let app = identifier.identify(&host, &uri, &headers).ok()?.map(ToOwned::to_owned);
        let known = ["app-k", "app-s", "app-h", "app-d", "app-p", "app-q"];
        let named = |app: &str| {
            headers.get_all("x-tollgate-app").iter().any(|value| value.as_bytes() == app.as_bytes())
        };
        if let Some(app) = &app {
            assert!(known.contains(&app.as_str()) || named(app), "{app} was made up");
            assert!(tollgate_core::id::check(app).is_ok(), "{app} is no name");
        }
        app.filter(|app| known.contains(&app.as_str()))
    })
    .unwrap();
}

#[test]
fn fuzz_http1_framing() {
    let fuzz = Fuzz {
        target: "http1-framing",
        words: &[
            "GET / HTTP/1.1\r\n",
            "POST / HTTP/1.0\r\n",
            "CONNECT a:80 HTTP/1.1\r\n",
            "Host: a\r\n",
            "Content-Length: 5\r\n",
            "Content-Length: +5\r\n",
            "Transfer-Encoding: chunked\r\n",
            "Transfer-Encoding: gzip, chunked\r\n",
            "Transfer-Encoding:\tchunked\r\n",
            "\r\n\r\n",
            "0\r\n\r\n",
            "5\r\nhello\r\n",
            "5;x=y\r\n",
            "\n",
            "\r",
            "ffffffffffffffff\r\n",
            " HTTP/1.1",
            "Upgrade: websocket\r\nConnection: upgrade\r\n",
            "Expect: 100-continue\r\n",
            "Trailer: x\r\n",
        ],
        mutations: 20_000,
    };
    let wanted = [
        ("\"all\"", 50),
        ("\"partial\"", 100),
        ("RequestLine", 100),
        ("Version", 20),
        ("LineEnd", 100),
        ("Folded", 10),
        ("\"Header\"", 100),
        ("HostMissing", 50),
        ("HostRepeated", 10),
        ("HostInvalid", 50),
        ("LengthRepeated", 1),
        ("LengthInvalid", 20),
        ("LengthAndEncoding", 1),
        ("\"Encoding\"", 50),
        ("Connect", 10),
        ("TooManyHeaders", 10),
        ("TooLarge", 50),
        ("a chunk does not end where it should", 10),
        ("a chunk without a size", 10),
        ("a chunk whose size is no number", 10),
        ("a chunk of too many digits", 1),
        ("a malformed trailer", 1),
        ("a trailer without a name", 1),
        ("a trailer that ends without CR", 1),
    ];
    fuzz.run_to(&wanted, |input| {
        let read = |piece| downstream::rehearse(input, piece, Bounds { headers: 20, bytes: 2_048 });
        let whole = read(input.len());
        // Where a packet ends must not decide where a request does. How much of a body passes before it breaks may differ: all of
        // the connection ends there. And what is wrong with a head that has no end may not be seen before its end.
        let is_broken = whole.2.starts_with("broken");
        for piece in [1, 3, 64] {
            let parts = read(piece);
            let is_alike = parts.0 == whole.0 && (is_broken || parts.1 == whole.1);
            let ends_alike = parts.2 == whole.2 || parts.2 == "partial" && !is_broken && whole.2 != "all";
            assert!(is_alike && ends_alike, "in pieces of {piece}: {parts:?}, whole: {whole:?}");
        }
        (whole.0.min(8), whole.2)
    })
    .unwrap();
}

#[test]
fn fuzz_http1_response() {
    let fuzz = Fuzz {
        target: "http1-response",
        words: &[
            "HTTP/1.1 200 OK\r\n",
            "HTTP/1.0 200 OK\r\n",
            "HTTP/1.1 100 Continue\r\n\r\n",
            "HTTP/1.1 204 No Content\r\n",
            "Content-Length: 5\r\n",
            "Content-Length: 6\r\n",
            "Transfer-Encoding: chunked\r\n",
            "Transfer-Encoding: gzip\r\n",
            "Connection: close\r\n",
            "\r\n\r\n",
            "\n\n",
            "hello",
            "5\r\nhello\r\n",
            "5  \r\n",
            "5;x=y\r\n",
            "0\r\n\r\n",
            "0\r\nA: b\r\n\r\n",
            "ffffffffffffffff\r\n",
            "\r",
        ],
        mutations: 20_000,
    };
    let wanted = [
        ("\"whole\"", 200),
        ("broken off", 200),
        ("its head is malformed", 100),
        ("its head does not end where it should", 50),
        ("a transfer coding that nobody asked for", 50),
        ("a length that is no number", 5),
        ("several lengths", 1),
        ("no status", 1),
        ("a chunk does not end where it should", 20),
        ("a chunk without a size", 20),
        ("a chunk whose size is no number", 20),
        ("a chunk of too many digits", 1),
        ("a malformed trailer", 5),
        ("a trailer without a name", 5),
        ("a trailer that ends without CR", 5),
    ];
    fuzz.run_to(&wanted, |input| {
        let whole = rehearse(input, input.len());
        for piece in [1, 3, 64] {
            let parts = rehearse(input, piece);
            // How much of a body passes before it turns out to be broken may differ.
            let is_broken = whole.3 != "whole" && whole.3 != "broken off";
            let is_alike = parts == whole || (is_broken && (parts.0, &parts.3) == (whole.0, &whole.3));
            assert!(is_alike, "in pieces of {piece}: {parts:?}, whole: {whole:?}");
        }
        (whole.0, whole.3)
    })
    .unwrap();
}
