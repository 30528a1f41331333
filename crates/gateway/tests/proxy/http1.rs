use crate::support::client::{self, get, request, send};
use crate::support::raw::{Raw, status};
use crate::support::server::{Speaks, nobody};
use crate::support::{Server, eventually, gateway, route_to, start};
use http::StatusCode;
use serde_json::json;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_request_goes_there_and_back() {
    let server = Server::http1().await;
    let (gateway, gate) = gateway(&server, "");
    let answer = get(gateway.local_addr(), "/some/where?x=1").await;
    assert_eq!((answer.status, answer.text().as_str()), (StatusCode::OK, "hello /some/where"));
    assert_eq!(answer.header("x-ratelimit-cost"), Some("7"));
    assert!(answer.header("x-request-id").is_some());
    gate.balanced().await;
    assert_eq!((gate.admitted(), gate.finished(), server.requests()), (1, 1, 1));
    eventually("it is counted", || gateway.stats().responses_2xx == 1).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn connections_are_kept_on_both_sides() {
    let server = Server::http1().await;
    let (gateway, gate) = gateway(&server, "[gateway]\nthreads = 1\n");
    let mut client = client::http1(gateway.local_addr()).await;
    for _ in 0..20 {
        client.ready().await.unwrap();
        let response = client.send_request(request("POST", "/echo", b"ping")).await.unwrap();
        assert_eq!(client::Answer::of(response).await.text(), "ping");
    }
    gate.balanced().await;
    assert_eq!((server.connections(), server.requests()), (1, 20));
    assert_eq!(gateway.stats().connections_accepted, 1);
    let traffic = gate.traffic();
    assert!(traffic.iter().all(|traffic| (traffic.request, traffic.response) == (4, 4)), "{traffic:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_sees_where_a_request_came_from() {
    let server = Server::http1().await;
    let (gateway, _) = gateway(&server, "");
    let mut asked = request("GET", "/headers?a=%20b", b"");
    for (name, value) in [
        ("x-forwarded-for", "6.6.6.6"),
        ("forwarded", "for=6.6.6.6"),
        ("x-forwarded-proto", "https"),
        ("connection", "x-mine, keep-alive"),
        ("x-mine", "1"),
        ("x-request-id", "req-1"),
        ("te", "trailers"),
        ("accept", "*/*"),
    ] {
        asked.headers_mut().insert(name, value.parse().unwrap());
    }
    let answer = send(gateway.local_addr(), asked).await;
    let seen = answer.json();
    assert_eq!(seen["uri"], "/headers?a=%20b");
    let mut fields: Vec<(String, String)> = serde_json::from_value(seen["headers"].clone()).unwrap();
    fields.sort();
    let expected = [
        ("accept", "*/*"),
        ("connection", "te"),
        ("host", "a.example"),
        ("te", "trailers"),
        ("x-forwarded-for", "127.0.0.1"),
        ("x-forwarded-host", "a.example"),
        ("x-forwarded-proto", "http"),
        ("x-request-id", "req-1"),
    ];
    assert_eq!(json!(fields), json!(expected));
    assert_eq!(answer.header("x-kept"), Some("1"));
    for gone in ["x-private", "keep-alive", "connection"] {
        assert_eq!(answer.header(gone), None, "{gone}");
    }
    assert_eq!(answer.header("x-request-id"), Some("req-1"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_trusted_proxy_is_believed() {
    let server = Server::http1().await;
    let (gateway, gate) = gateway(&server, "[gateway]\ntrusted_proxies = ['127.0.0.0/8']\n");
    let mut asked = request("GET", "/headers", b"");
    for (name, value) in [
        ("x-forwarded-for", "6.6.6.6, 1.2.3.4"),
        ("x-forwarded-proto", "https"),
        ("x-forwarded-host", "b.example"),
        ("forwarded", "for=1.2.3.4"),
    ] {
        asked.headers_mut().insert(name, value.parse().unwrap());
    }
    let seen = send(gateway.local_addr(), asked).await.json();
    let fields: Vec<(String, String)> = serde_json::from_value(seen["headers"].clone()).unwrap();
    let field = |name: &str| fields.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str());
    assert_eq!(field("x-forwarded-for"), Some("6.6.6.6, 1.2.3.4, 127.0.0.1"));
    assert_eq!(field("x-forwarded-proto"), Some("https"));
    assert_eq!(field("x-forwarded-host"), Some("b.example"));
    assert_eq!(field("forwarded"), Some("for=1.2.3.4, for=127.0.0.1;proto=http"));
    assert_eq!(gate.last().client.to_string(), "1.2.3.4");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_refusal_is_an_answer_and_the_connection_goes_on() {
    let server = Server::http1().await;
    let (gateway, gate) = gateway(&server, "");
    let mut client = client::http1(gateway.local_addr()).await;
    for body in [&b""[..], b"a body"] {
        client.ready().await.unwrap();
        let mut asked = request("PUT", "/sink", body);
        asked.headers_mut().insert("x-tollgate-app", "refused".parse().unwrap());
        let answer = client::Answer::of(client.send_request(asked).await.unwrap()).await;
        assert_eq!(answer.status, StatusCode::TOO_MANY_REQUESTS);
        assert_eq!(
            (answer.header("retry-after"), answer.text().as_str()),
            (Some("1"), "{\"reason\":\"app_exhausted\"}")
        );
    }
    assert_eq!((gate.asked(), gate.admitted(), server.requests()), (2, 0, 0));
    let stats = gateway.stats();
    assert_eq!((stats.requests_refused, stats.connections_accepted), (2, 1));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_decision_can_be_waited_for() {
    let server = Server::http1().await;
    let (gateway, gate) = gateway(&server, "");
    let mut asked = request("GET", "/", b"");
    asked.headers_mut().insert("x-tollgate-app", "slow".parse().unwrap());
    assert_eq!(send(gateway.local_addr(), asked).await.status, StatusCode::OK);
    gate.balanced().await;
    assert_eq!(gate.last().app.as_deref(), Some("slow"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_refused_connection_gets_its_answer() {
    let server = Server::http1().await;
    let (gateway, gate) = gateway(&server, "");
    gate.refuse_connections();
    let mut raw = Raw::connect(gateway.local_addr()).await;
    raw.say("GET / HTTP/1.1\r\nHost: a\r\n\r\n").await;
    let all = raw.hear_all().await;
    assert_eq!(status(&all), 429);
    assert!(all.contains("connection_limit") && all.contains("connection: close"), "{all}");
    assert_eq!((gate.visits(), gate.asked()), (0, 0));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_is_not_there_costs_nothing() {
    let (gateway, gate) = start(&route_to(&[nobody().await], ""));
    let answer = get(gateway.local_addr(), "/").await;
    assert_eq!(answer.status, StatusCode::BAD_GATEWAY);
    assert_eq!(answer.header("x-tollgate-error"), Some("upstream_unreachable"));
    assert_eq!(answer.json()["error"], "upstream_unreachable");
    gate.balanced().await;
    assert_eq!((gate.admitted(), gate.rolled_back(), gateway.stats().upstream_errors), (1, 1, 1));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_a_route_there_is_no_way() {
    let server = Server::http1().await;
    let (gateway, gate) = start(&format!(
        "[[routes]]\nhost = 'b.example'\nupstream = 'u'\n[[upstreams]]\nid = 'u'\nservers = ['http://{}']",
        server.address
    ));
    let answer = get(gateway.local_addr(), "/").await;
    assert_eq!((answer.status, answer.header("x-tollgate-error")), (StatusCode::NOT_FOUND, Some("no_route")));
    let answer = get(gateway.local_addr(), "/a/%2e%2e/b").await;
    assert_eq!(answer.status, StatusCode::BAD_REQUEST);
    assert_eq!((gate.asked(), gateway.stats().requests_unrouted), (0, 1));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_too_slow_to_answer_is_a_gateway_timeout() {
    let server = Server::http1().await;
    let (gateway, gate) = gateway(&server, "[gateway.timeouts]\nresponse_ms = 50\n");
    let answer = get(gateway.local_addr(), "/hang").await;
    assert_eq!(
        (answer.status, answer.header("x-tollgate-error")),
        (StatusCode::GATEWAY_TIMEOUT, Some("upstream_timeout"))
    );
    gate.balanced().await;
    assert_eq!(gate.finished(), 1, "the server had it");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn trailers_come_through() {
    for speaks in [Speaks::Http1, Speaks::Http2] {
        let protocol = if matches!(speaks, Speaks::Http2) { "protocol = 'http2'" } else { "" };
        let server = Server::start(speaks, None).await;
        let (gateway, _gate) = start(&route_to(&[server.address], protocol));
        let mut asked = request("GET", "/trailers", b"");
        asked.headers_mut().insert("te", "trailers".parse().unwrap());
        let answer = send(gateway.local_addr(), asked).await;
        assert_eq!(answer.text(), "body");
        assert_eq!(answer.trailers.unwrap()["x-checksum"], "42");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn http_1_0_is_served_too() {
    let server = Server::http1().await;
    let (gateway, _gate) = gateway(&server, "");
    let mut raw = Raw::connect(gateway.local_addr()).await;
    raw.say("GET /x HTTP/1.0\r\n\r\n").await;
    let all = raw.hear_all().await;
    assert_eq!(status(&all), 200);
    assert!(all.ends_with("hello /x"), "{all}");
}

/// What a client reads until the connection is closed, with the fields that matter; `|` stands for the end of a line.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_is_framed_as_its_client_can_read_it() {
    let server = Server::http1().await;
    let (gateway, _gate) = gateway(&server, "");
    let ask = |line: &str, fields: &str| format!("{line}\r\nHost: a.example\r\n{fields}\r\n");
    let last = ask("GET /last HTTP/1.1", "Connection: close\r\n");
    let end = "HTTP/1.1 200 OK|content-length: 11|connection: close||hello /last";
    for (request, expected) in [
        (ask("GET /x HTTP/1.1", ""), "HTTP/1.1 200 OK|content-length: 8||hello /x"),
        (ask("HEAD /x HTTP/1.1", ""), "HTTP/1.1 200 OK|content-length: 8||"),
        (ask("GET /status/204 HTTP/1.1", ""), "HTTP/1.1 204 No Content||"),
        (ask("GET /status/304 HTTP/1.1", ""), "HTTP/1.1 304 Not Modified||"),
        (ask("GET /status/299 HTTP/1.1", ""), "HTTP/1.1 299 |content-length: 0||"),
        (ask("GET /bytes/3 HTTP/1.1", ""), "HTTP/1.1 200 OK|transfer-encoding: chunked||3|xxx|0||"),
        (ask("GET /trailers HTTP/1.1", ""), "HTTP/1.1 200 OK|transfer-encoding: chunked||4|body|0||"),
        (
            ask("GET /trailers HTTP/1.1", "TE: trailers\r\nConnection: TE\r\n"),
            "HTTP/1.1 200 OK|transfer-encoding: chunked||4|body|0|x-checksum: 42||",
        ),
        (
            ask("GET /x HTTP/1.0", "Connection: Keep-Alive\r\n"),
            "HTTP/1.1 200 OK|content-length: 8|connection: keep-alive||hello /x",
        ),
    ] {
        let mut raw = Raw::connect(gateway.local_addr()).await;
        raw.say([request.as_str(), &last].concat()).await;
        assert_eq!(plain(&raw.hear_all().await), [expected, end].concat(), "{request}");
    }
    for (request, expected) in [
        ("GET /bytes/3 HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", "HTTP/1.1 200 OK||xxx"),
        ("GET /x HTTP/1.0\r\n\r\n", "HTTP/1.1 200 OK|content-length: 8||hello /x"),
        (
            "HEAD /x HTTP/1.1\r\nHost: a\r\nX-Tollgate-App: refused\r\nConnection: close\r\n\r\n",
            "HTTP/1.1 429 Too Many Requests|content-length: 26|connection: close||",
        ),
    ] {
        let mut raw = Raw::connect(gateway.local_addr()).await;
        raw.say([request, &last].concat()).await;
        assert_eq!(plain(&raw.hear_all().await), expected, "{request}");
    }
}

/// Answers without the fields that say nothing about their framing.
fn plain(answers: &str) -> String {
    let told = ["content-length", "transfer-encoding", "connection", "x-checksum"];
    let is_told = |line: &&str| {
        let name = line.split_once(": ").map(|(name, _)| name);
        name.is_none_or(|name| told.contains(&name))
    };
    let lines: Vec<&str> = answers.split("\r\n").filter(is_told).collect();
    lines.join("|")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_target_without_a_path_gets_one() {
    for (speaks, protocol) in [(Speaks::Http1, "http1"), (Speaks::Http2, "http2")] {
        let server = Server::start(speaks, None).await;
        let (gateway, _gate) = start(&route_to(&[server.address], &format!("protocol = '{protocol}'")));
        let mut client = Raw::connect(gateway.local_addr()).await;
        for target in ["http://a.example?x=1", "http://a.example", "http://a.example/?x=1"] {
            client.say(format!("GET {target} HTTP/1.1\r\nHost: a.example\r\n\r\n")).await;
            let (head, body) = client.hear().await;
            assert_eq!((status(&head), body.as_str()), (200, "hello /"), "{protocol} {target}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn trailers_make_no_claims() {
    let server = Server::http2().await;
    let more = "[identity]\nkey_header = 'x-tenant-key'\n";
    let (gateway, _gate) = start(&format!("{}{more}", route_to(&[server.address], "protocol = 'http2'")));
    let mut client = Raw::connect(gateway.local_addr()).await;
    let head = "POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nTE: trailers\r\nConnection: TE, close\r\n";
    let false_claims = "X-Forwarded-For: 192.0.2.1\r\nX-Request-Id: 1\r\nCookie: a=b\r\nX-Tenant-Key: k\r\n";
    // This one the server sends back.
    let repeated = "X-RateLimit-Cost: 0\r\n";
    client.say(format!("{head}\r\n2\r\nhi\r\n0\r\n{false_claims}{repeated}X-Checksum: 42\r\n\r\n")).await;
    let answer = client.hear_all().await;
    let (_, trailers) = answer.split_once("\r\n0\r\n").unwrap();
    assert_eq!(trailers, "x-checksum: 42\r\n\r\n", "{answer}");
}
