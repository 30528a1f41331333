use crate::support::client::{self, Answer, request, request2, send, send2};
use crate::support::server::Speaks;
use crate::support::{Server, eventually, gateway, route_to, start, timely};
use bytes::Bytes;
use http::{Request, StatusCode};
use http_body_util::{BodyExt, Empty, Full};
use serde_json::json;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn either_protocol_on_either_side() {
    for speaks in [Speaks::Http1, Speaks::Http2] {
        let protocol = if matches!(speaks, Speaks::Http2) { "http2" } else { "http1" };
        let server = Server::start(speaks, None).await;
        let (gateway, gate) = start(&route_to(&[server.address], &format!("protocol = '{protocol}'")));
        let address = gateway.local_addr();
        for body in [&b""[..], b"some body"] {
            let first = send(address, request("POST", "/echo", body)).await;
            let second = send2(address, request2("POST", "/echo", body)).await;
            for answer in [first, second] {
                assert_eq!((answer.status, &answer.body[..]), (StatusCode::OK, body), "{protocol}");
            }
        }
        for answer in [
            send(address, request("GET", "/headers", b"")).await,
            send2(address, request2("GET", "/headers", b"")).await,
        ] {
            let seen = answer.json();
            let version = if protocol == "http2" { "HTTP/2.0" } else { "HTTP/1.1" };
            assert_eq!(seen["version"], version);
            let target = if protocol == "http2" { "http://a.example/headers" } else { "/headers" };
            assert_eq!(seen["uri"], target, "the server sees the host that was asked for");
            assert_eq!(answer.header("x-kept"), Some("1"));
            let fields: Vec<(String, String)> = serde_json::from_value(seen["headers"].clone()).unwrap();
            let told = |name: &str| fields.iter().filter(|(key, _)| key == name).count();
            for name in ["x-forwarded-for", "x-forwarded-proto", "x-forwarded-host", "x-request-id"] {
                assert_eq!(told(name), 1, "{protocol} {name}");
            }
            assert_eq!(told("host"), usize::from(protocol == "http1"));
        }
        gate.balanced().await;
        assert_eq!((gate.finished(), gate.rolled_back()), (6, 0));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_requests_share_a_connection() {
    let server = Server::http2().await;
    let (gateway, gate) =
        start(&format!("gateway.threads = 1\n{}", route_to(&[server.address], "protocol = 'http2'")));
    let client = client::http2::<Full<Bytes>>(gateway.local_addr()).await;
    let mut asked = tokio::task::JoinSet::new();
    for _ in 0..100 {
        let mut client = client.clone();
        asked.spawn(async move {
            let response = client.send_request(request2("POST", "/echo", b"ping")).await.unwrap();
            Answer::of(response).await.text()
        });
    }
    assert!(timely(asked.join_all()).await.iter().all(|text| text == "ping"));
    gate.balanced().await;
    assert_eq!((gateway.stats().connections_accepted, server.connections()), (1, 1));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_request_is_for_must_be_clear() {
    let server = Server::http1().await;
    let (gateway, gate) = gateway(&server, "");
    let two_lengths = {
        let mut request = request2("POST", "/", b"x");
        request.headers_mut().append("content-length", "1".parse().unwrap());
        request.headers_mut().append("content-length", "1".parse().unwrap());
        request
    };
    let other_host = {
        let mut request = request2("GET", "/", b"");
        request.headers_mut().insert("host", "b.example".parse().unwrap());
        request
    };
    let two_hosts = {
        let mut request = request2("GET", "/", b"");
        request.headers_mut().append("host", "a.example".parse().unwrap());
        request.headers_mut().append("host", "a.example".parse().unwrap());
        request
    };
    let cases = [
        (two_lengths, "content_length_repeated"),
        (other_host, "host_contradicts_authority"),
        (two_hosts, "host_repeated"),
    ];
    for (request, reason) in cases {
        let mut client = client::http2(gateway.local_addr()).await;
        // Whether hyper or we find it, it does not get through.
        let Ok(response) = timely(client.send_request(request)).await else { continue };
        let answer = Answer::of(response).await;
        assert_eq!(
            (answer.status, answer.header("x-tollgate-error")),
            (StatusCode::BAD_REQUEST, Some(reason))
        );
    }
    assert_eq!((gate.admitted(), server.requests()), (0, 0));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn frames_that_break_the_rules_get_nowhere() {
    let server = Server::http1().await;
    let (gateway, gate) = gateway(&server, "");
    // Header blocks without any compression: literal fields, never indexed.
    let field = |name: &str, value: &str| {
        let mut bytes = vec![0x10, u8::try_from(name.len()).unwrap()];
        bytes.extend(name.bytes());
        bytes.push(u8::try_from(value.len()).unwrap());
        bytes.extend(value.bytes());
        bytes
    };
    let start = [field(":method", "GET"), field(":scheme", "http"), field(":path", "/bad")].concat();
    let cases = [
        ("no authority and no host", vec![]),
        ("connection", [field(":authority", "a"), field("connection", "close")].concat()),
        ("transfer-encoding", [field(":authority", "a"), field("transfer-encoding", "chunked")].concat()),
        ("upgrade", [field(":authority", "a"), field("upgrade", "h2c")].concat()),
        ("te", [field(":authority", "a"), field("te", "gzip")].concat()),
        ("a length without a body", [field(":authority", "a"), field("content-length", "5")].concat()),
        ("a name with capitals", [field(":authority", "a"), field("X-Bad", "1")].concat()),
        ("a value with a line end", [field(":authority", "a"), field("x", "a\r\nb: c")].concat()),
        ("a path twice", [field(":authority", "a"), field(":path", "/x")].concat()),
        ("an authority with credentials", field(":authority", "u@a")),
        // The last one is right: it shows that the others could have got through.
        ("nothing", field(":authority", "a")),
    ];
    let mut held = Vec::new();
    for (what, rest) in cases {
        let block = [start.clone(), rest].concat();
        let mut raw = crate::support::raw::Raw::connect(gateway.local_addr()).await;
        raw.say("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n").await;
        raw.say([0, 0, 0, 4, 0, 0, 0, 0, 0]).await;
        let length = u8::try_from(block.len()).unwrap();
        raw.say([&[0, 0, length, 1, 5, 0, 0, 0, 1][..], &block].concat()).await;
        // A ping tells when the request has been dealt with.
        raw.say([0, 0, 8, 6, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8]).await;
        let mut heard = Vec::new();
        timely(async {
            use tokio::io::AsyncReadExt;
            let mut buffer = [0; 1024];
            while !heard.windows(8).any(|window| window == [1, 2, 3, 4, 5, 6, 7, 8]) {
                match raw.stream.read(&mut buffer).await {
                    Ok(count @ 1..) => heard.extend_from_slice(&buffer[..count]),
                    _ => break,
                }
            }
        })
        .await;
        if what != "nothing" {
            assert_eq!(gate.asked(), 0, "{what}");
        }
        held.push(raw);
    }
    eventually("the right one is answered", || gate.finished() == 1).await;
    assert_eq!((gate.asked(), server.requests()), (1, 1));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_refusal_does_not_end_the_connection() {
    let server = Server::http1().await;
    let (gateway, _gate) = gateway(&server, "");
    let mut client = client::http2(gateway.local_addr()).await;
    let mut refused = request2("PUT", "/sink", b"body");
    refused.headers_mut().insert("x-tollgate-app", "refused".parse().unwrap());
    let answer = Answer::of(client.send_request(refused).await.unwrap()).await;
    assert_eq!((answer.status, answer.header("connection")), (StatusCode::TOO_MANY_REQUESTS, None));
    let answer = Answer::of(client.send_request(request2("PUT", "/sink", b"body")).await.unwrap()).await;
    assert_eq!(answer.text(), "4");
    assert_eq!(gateway.stats().connections_accepted, 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_large_body_waits_for_the_server() {
    let server = Server::http1().await;
    let (gateway, gate) = gateway(&server, "");
    let mut client = client::http2(gateway.local_addr()).await;
    let body = Full::new(Bytes::from(vec![b'x'; 5_000_000]));
    let request = Request::post("http://a.example/sink").body(body).unwrap();
    let answer = Answer::of(timely(client.send_request(request)).await.unwrap()).await;
    assert_eq!(answer.text(), "5000000");
    gate.balanced().await;
    assert_eq!(gate.traffic()[0].request, 5_000_000);
    let mut client = client::http2(gateway.local_addr()).await;
    let request = Request::get("http://a.example/bytes/5000000").body(Empty::<Bytes>::new()).unwrap();
    let response = timely(client.send_request(request)).await.unwrap();
    assert_eq!(timely(response.collect()).await.unwrap().to_bytes().len(), 5_000_000);
    gate.balanced().await;
    assert_eq!(json!(gate.traffic()[1].response), json!(5_000_000));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn there_is_no_connect() {
    let server = Server::http2().await;
    let (gateway, gate) = start(&route_to(&[server.address], "protocol = 'http2'"));
    let mut client = client::http2(gateway.local_addr()).await;
    let request = Request::connect("a.example:80").body(Empty::<Bytes>::new()).unwrap();
    let response = timely(client.send_request(request)).await.unwrap();
    assert_eq!(response.status(), StatusCode::METHOD_NOT_ALLOWED);
    assert_eq!((gate.asked(), server.requests()), (0, 0));
}
