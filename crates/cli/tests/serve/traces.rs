//! Traces: what a caller began goes on.

use crate::support::{APPS, Tollgate, Upstream, ask};
use serde_json::Value;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc;
use std::time::Duration;

const PARENT: &str = "traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

/// Takes spans as a collector does, and tells them.
fn collector() -> (SocketAddr, mpsc::Receiver<Value>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let (told, got) = mpsc::channel();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let body: Value = serde_json::from_str(&read(&mut stream)).unwrap();
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}");
            let spans = body["resourceSpans"][0]["scopeSpans"][0]["spans"].as_array().cloned();
            for span in spans.unwrap_or_default() {
                if told.send(span).is_err() {
                    return;
                }
            }
        }
    });
    (address, got)
}

/// The body of a request.
fn read(stream: &mut TcpStream) -> String {
    let (mut bytes, mut piece) = (Vec::new(), [0; 4096]);
    loop {
        let count = stream.read(&mut piece).unwrap();
        assert!(count > 0, "it ended early");
        bytes.extend(&piece[..count]);
        let text = String::from_utf8_lossy(&bytes);
        let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
        let head = head.to_lowercase();
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap();
        if body.len() == length.parse::<usize>().unwrap() {
            return body.to_owned();
        }
    }
}

#[test]
fn a_decision_is_a_child_of_the_span_that_the_caller_told_of() {
    let (upstream, (address, got)) = (Upstream::start(), collector());
    let telemetry = format!("[telemetry]\nendpoint = 'http://{address}'\n");
    let tollgate = Tollgate::start(&format!("{}{telemetry}{APPS}", upstream.route()));
    let span_of = |id: &str| {
        let mut spans = std::iter::from_fn(|| got.recv_timeout(Duration::from_secs(30)).ok());
        spans.find(|span| span["spanId"].as_str() == id.get(16..)).expect("it is sent")
    };
    let at_the_gateway = ask(tollgate.gateway, "GET /", &["x-tollgate-app: nobody", PARENT], "");
    let at_the_check = ask(tollgate.check, "POST /v1/check", &[PARENT], r#"{"app": "tiny", "cost": 100}"#);
    for answer in [at_the_gateway, at_the_check] {
        let span = span_of(answer.header("x-tollgate-decision"));
        assert_eq!(span["traceId"], "0af7651916cd43dd8448eb211c80319c", "{span}");
        assert_eq!(span["parentSpanId"], "b7ad6b7169203331", "{span}");
    }
    let broken = PARENT.replace("0af7", "xyz7");
    let alone = ask(tollgate.gateway, "GET /", &["x-tollgate-app: nobody", &broken], "");
    let id = alone.header("x-tollgate-decision");
    let span = span_of(id);
    assert_eq!((span["traceId"].as_str(), &span["parentSpanId"]), (Some(id), &Value::Null), "{span}");
}
