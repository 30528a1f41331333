//! An alert on its way to another system.

use crate::support::World;
use hmac::{Hmac, KeyInit, Mac};
use serde_json::{Value, json};
use sha2::Sha256;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

/// Takes one message; returns its head, in lower case, and its body.
async fn take(listener: &TcpListener) -> (String, String) {
    let (mut stream, _) = listener.accept().await.unwrap();
    let mut bytes = Vec::new();
    loop {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let head = head.to_lowercase();
            let length = field(&head, "content-length").parse::<usize>().unwrap();
            if body.len() >= length {
                stream.write_all(b"HTTP/1.1 204 No Content\r\n\r\n").await.unwrap();
                return (head, body.to_owned());
            }
        }
        assert!(stream.read_buf(&mut bytes).await.unwrap() > 0, "it ended early");
    }
}

fn field<'a>(head: &'a str, name: &str) -> &'a str {
    head.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": ")).unwrap_or_default()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_alert_reaches_another_system_signed() {
    let folder = tempfile::tempdir().unwrap();
    let database = folder.path().join("admin.db").display().to_string();
    let world = World::start_with(&database, |settings| settings.private_webhooks = true).await;
    let token = &world.admin().await;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/hook", listener.local_addr().unwrap());
    let made = world.call("POST", "/api/v1/webhooks", token, Some(json!({"url": url}))).await.expect(201);
    let secret = made.body["secret"].as_str().unwrap().to_owned();
    let body = json!({"reason": "a drill"});
    world.call("POST", "/api/v1/emergency/activate", token, Some(body)).await.expect(200);
    let message = tokio::time::timeout(Duration::from_secs(20), take(&listener)).await;
    let (head, body) = message.expect("nothing came");
    assert!(head.starts_with("post /hook http/1.1"), "{head}");
    let told: Value = serde_json::from_str(&body).unwrap();
    let facts = [&told["event"], &told["rule"], &told["subject"], &told["node"]];
    assert_eq!(facts, [&json!("raised"), &json!("emergency"), &json!("cluster-01"), &json!("node-01")]);
    let mut mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).unwrap();
    mac.update(format!("{}.{body}", field(&head, "x-tollgate-timestamp")).as_bytes());
    let digits: Vec<String> = mac.finalize().into_bytes().iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(field(&head, "x-tollgate-signature"), format!("sha256={}", digits.concat()));
}
