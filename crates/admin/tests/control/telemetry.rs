//! Traces, as a collector gets them.

use crate::support::World;
use serde_json::Value;
use std::net::SocketAddr;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::sync::mpsc;
use tollgate_core::cost::Operation;
use tollgate_node::Request;

/// Takes what is posted, and tells it.
async fn collector() -> (SocketAddr, mpsc::Receiver<(String, Value)>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (told, got) = mpsc::channel(64);
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut bytes = Vec::new();
            let (head, body) = loop {
                stream.read_buf(&mut bytes).await.unwrap();
                let text = String::from_utf8_lossy(&bytes).into_owned();
                let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
                let head = head.to_lowercase();
                let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap();
                if body.len() == length.parse::<usize>().unwrap() {
                    break (head, serde_json::from_str(body).unwrap());
                }
            };
            let _ = told.send((head, body)).await;
            stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}").await.unwrap();
        }
    });
    (address, got)
}

fn attribute(span: &Value, key: &str) -> Option<String> {
    let found = span["attributes"].as_array()?.iter().find(|attribute| attribute["key"] == key)?;
    let value = &found["value"];
    value["stringValue"].as_str().or(value["intValue"].as_str()).map(ToOwned::to_owned)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn decisions_become_spans_once_each() {
    let (address, mut got) = collector().await;
    let folder = tempfile::tempdir().unwrap();
    let world = World::start_with(folder.path().join("admin.db").to_str().unwrap(), |settings| {
        settings.telemetry.endpoint = Some(format!("http://{address}"));
        settings.telemetry.service = "gate".into();
    })
    .await;
    let refuse = async || {
        let request = Request::new("app-c", Operation::Put).with_cost(1_000_000);
        let decision = world.node.admit(&request).await.expect_err("it costs more than there ever is");
        world.node.record("app-c", &decision).to_string()
    };
    let mut ids = vec![refuse().await, refuse().await];
    let next = async |got: &mut mpsc::Receiver<(String, Value)>| {
        tokio::time::timeout(Duration::from_secs(30), got.recv()).await.unwrap().unwrap()
    };
    let mut spans: Vec<Value> = Vec::new();
    while spans.len() < 2 {
        let (head, body) = next(&mut got).await;
        assert!(head.starts_with("post /v1/traces http/1.1"), "{head}");
        assert!(head.contains("content-type: application/json"), "{head}");
        let resource = &body["resourceSpans"][0];
        assert_eq!(attribute(&resource["resource"], "service.name").as_deref(), Some("gate"));
        assert_eq!(attribute(&resource["resource"], "service.instance.id").as_deref(), Some("node-01"));
        spans.extend(resource["scopeSpans"][0]["spans"].as_array().unwrap().iter().cloned());
    }
    ids.push(refuse().await);
    spans.extend(
        next(&mut got).await.1["resourceSpans"][0]["scopeSpans"][0]["spans"].as_array().unwrap().clone(),
    );
    let told: Vec<&str> = spans.iter().map(|span| span["traceId"].as_str().unwrap()).collect();
    assert_eq!(told, ids, "each once, in their order");
    for span in &spans {
        assert_eq!(span["spanId"].as_str().unwrap().len(), 16);
        assert!(span["startTimeUnixNano"].as_str().unwrap().len() == 19, "{span}");
        for (key, value) in [
            ("tollgate.app", "app-c"),
            ("tollgate.verdict", "refused"),
            ("tollgate.operation", "PUT"),
            ("tollgate.cost", "1000000"),
        ] {
            assert_eq!(attribute(span, key).as_deref(), Some(value), "{key} in {span}");
        }
        assert!(attribute(span, "tollgate.reason").is_some(), "{span}");
    }
}
