use crate::support::client::{get, request, send};
use crate::support::server::nobody;
use crate::support::{Server, config, eventually, route_to, start};
use serde_json::{Value, json};
use std::path::Path;
use std::time::Duration;

fn lines(path: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(path).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_request_is_a_line() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("access.log");
    let server = Server::http1().await;
    let text = format!("gateway.access_log = '{}'\n{}", path.display(), route_to(&[server.address], ""));
    let (gateway, _gate) = start(&text);
    let address = gateway.local_addr();
    let mut asked = request("POST", "/echo?secret=hunter2", b"body");
    for (name, value) in [("x-tollgate-app", "app-a"), ("x-request-id", "req-1"), ("user-agent", "a\"b")] {
        asked.headers_mut().insert(name, value.parse().unwrap());
    }
    send(address, asked).await;
    let mut refused = request("GET", "/", b"");
    refused.headers_mut().insert("x-tollgate-app", "refused".parse().unwrap());
    send(address, refused).await;
    // The file is moved away and opened anew.
    let moved = home.path().join("access.log.1");
    std::fs::rename(&path, &moved).unwrap();
    eventually("both are written", || lines(&moved).len() == 2).await;
    gateway.reload(config(&text)).await.unwrap();
    get(address, "/status/503").await;
    gateway.drain(Duration::from_secs(5)).await;
    let old = lines(&moved);
    assert_eq!(old.len(), 2, "{old:?}");
    assert!(!std::fs::read_to_string(&moved).unwrap().contains("hunter2"));
    let line = old.iter().find(|line| line["id"] == "req-1").unwrap();
    for (key, expected) in [
        ("method", json!("POST")),
        ("path", json!("/echo")),
        ("host", json!("a.example")),
        ("status", json!(200)),
        ("app", json!("app-a")),
        ("client", json!("127.0.0.1")),
        ("version", json!("1.1")),
        ("upstream", json!(format!("http://{}", server.address))),
        ("request_bytes", json!(4)),
        ("response_bytes", json!(4)),
        ("reason", json!("")),
    ] {
        assert_eq!(line[key], expected, "{key}");
    }
    let refused = old.iter().find(|line| line["id"] != "req-1").unwrap();
    assert_eq!((&refused["status"], &refused["reason"]), (&json!(429), &json!("app_exhausted")));
    let new = lines(&path);
    assert_eq!((new.len(), &new[0]["status"]), (1, &json!(503)));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_server_did_wrong_is_written_down() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("access.log");
    let (gateway, _gate) =
        start(&format!("gateway.access_log = '{}'\n{}", path.display(), route_to(&[nobody().await], "")));
    get(gateway.local_addr(), "/").await;
    gateway.drain(Duration::from_secs(5)).await;
    let line = &lines(&path)[0];
    assert_eq!((&line["status"], &line["reason"]), (&json!(502), &json!("upstream_unreachable")));
    assert!(line["detail"].as_str().unwrap().contains("refused"), "{line}");
}
