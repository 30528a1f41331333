//! Messages to other systems: signed, tried again, never more than a few at a time, and not into private networks.

use crate::clock;
use crate::outbound;
use crate::secret;
use crate::store::{Store, WebhookRow};
use bytes::Bytes;
use hmac::{Hmac, KeyInit, Mac};
use http::Uri;
use serde_json::Value;
use sha2::Sha256;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::time::Duration;
use tokio::sync::mpsc;

/// How many messages may wait; more are dropped, and said to be.
const WAITING: usize = 256;

/// How often a message is tried.
const ATTEMPTS: u32 = 4;

/// How long one attempt may take.
const PATIENCE: Duration = Duration::from_secs(5);

/// How long to wait before the second attempt; twice as long before each next.
const PAUSE: Duration = Duration::from_secs(1);

/// Takes messages to be sent.
#[derive(Clone, Debug)]
pub(crate) struct Post {
    queue: mpsc::Sender<Value>,
}

impl Post {
    /// A post, and what it carries.
    pub(crate) fn new() -> (Self, mpsc::Receiver<Value>) {
        let (queue, waiting) = mpsc::channel(WAITING);
        (Self { queue }, waiting)
    }

    pub(crate) fn send(&self, message: Value) {
        if self.queue.try_send(message).is_err() {
            tracing::warn!("too many messages wait for webhooks, one was dropped");
        }
    }
}

/// Carries messages until nobody sends any.
pub(crate) async fn carry(store: Store, is_private_allowed: bool, mut waiting: mpsc::Receiver<Value>) {
    while let Some(message) = waiting.recv().await {
        let Ok(places) = store.webhooks().await else { continue };
        let body = Bytes::from(message.to_string());
        // All places at once, so that one that is slow does not hold up the others; the next message waits for all.
        let tries = places.into_iter().filter(|place| place.is_enabled).map(|place| {
            let body = body.clone();
            tokio::spawn(async move { deliver(&place, &body, is_private_allowed, PAUSE).await })
        });
        for attempt in tries.collect::<Vec<_>>() {
            let _ = attempt.await;
        }
    }
}

/// Delivers one message to one place, trying again.
async fn deliver(
    place: &WebhookRow,
    body: &Bytes,
    is_private_allowed: bool,
    pause: Duration,
) -> Result<(), String> {
    let mut why = String::new();
    for attempt in 0..ATTEMPTS {
        if attempt > 0 {
            tokio::time::sleep(pause * 2_u32.pow(attempt - 1)).await;
        }
        let once = tokio::time::timeout(PATIENCE, post(place, body.clone(), is_private_allowed));
        match once.await.unwrap_or_else(|_| Err("no answer in time".into())) {
            Ok(()) => return Ok(()),
            Err(error) => why = error,
        }
    }
    tracing::warn!(webhook = place.id, why, "a webhook was not delivered in {ATTEMPTS} attempts");
    Err(why)
}

/// One attempt. The address is looked up, judged and used: nobody can change it in between.
async fn post(place: &WebhookRow, body: Bytes, is_private_allowed: bool) -> Result<(), String> {
    let uri = check_url(&place.url, is_private_allowed)?;
    let address = outbound::look_up(&uri, |ip| is_private_allowed || is_public(ip)).await?;
    let timestamp = (clock::wall() / 1_000).to_string();
    let headers = [
        ("x-tollgate-signature", sign(&place.secret, &timestamp, &body)),
        ("x-tollgate-timestamp", timestamp),
    ];
    outbound::post(&uri, address, &headers, body).await
}

/// `sha256=` and the HMAC of the time, a dot and the body: whoever has the secret can tell that it is ours, and recent.
fn sign(secret: &str, timestamp: &str, body: &[u8]) -> String {
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(secret.as_bytes()) else { return String::new() };
    mac.update(timestamp.as_bytes());
    mac.update(b".");
    mac.update(body);
    format!("sha256={}", secret::hex(&mac.finalize().into_bytes()))
}

/// The URL, if messages may be sent there as far as can be told without looking its host up.
pub(crate) fn check_url(url: &str, is_private_allowed: bool) -> Result<Uri, String> {
    let uri: Uri = url.parse().map_err(|_| "not a URL".to_owned())?;
    if !matches!(uri.scheme_str(), Some("http" | "https")) {
        return Err("neither http:// nor https://".into());
    }
    let host = uri.host().filter(|host| !host.is_empty()).ok_or("it has no host")?;
    if uri.authority().is_some_and(|authority| authority.as_str().contains('@')) {
        return Err("it has a password in it".into());
    }
    let ip: Option<IpAddr> = host.trim_matches(['[', ']']).parse().ok();
    let is_private = ip.is_some_and(|ip| !is_public(ip)) || host.eq_ignore_ascii_case("localhost");
    if is_private && !is_private_allowed {
        return Err("a private address".into());
    }
    Ok(uri)
}

/// Whether an address is on the public network, as far as there is no doubt.
fn is_public(ip: IpAddr) -> bool {
    match ip.to_canonical() {
        IpAddr::V4(ip) => is_public_v4(ip),
        IpAddr::V6(ip) => is_public_v6(ip),
    }
}

fn is_public_v4(ip: Ipv4Addr) -> bool {
    let [a, b, c, _] = ip.octets();
    let is_shared = a == 100 && (64..128).contains(&b);
    let is_special =
        a == 0 || a >= 224 || (a == 192 && b == 0 && c == 0) || (a == 198 && (b == 18 || b == 19));
    !(ip.is_private()
        || ip.is_loopback()
        || ip.is_link_local()
        || ip.is_documentation()
        || is_shared
        || is_special)
}

/// Only what is handed out (`2000::/3`), without what stands for something else.
fn is_public_v6(ip: Ipv6Addr) -> bool {
    let [a, b, ..] = ip.segments();
    let stands_for_v4 = a == 0x2002 || (a == 0x2001 && b == 0);
    a & 0xe000 == 0x2000 && !stands_for_v4 && !(a == 0x2001 && b == 0xdb8)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::SocketAddr;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpListener;

    fn place(url: String) -> WebhookRow {
        WebhookRow { id: "w".into(), url, secret: "s3cret".into(), is_enabled: true, created_at: 0 }
    }

    #[test]
    fn private_addresses_are_told_apart() {
        let private = [
            "127.0.0.1",
            "10.1.2.3",
            "172.16.0.1",
            "192.168.1.1",
            "169.254.169.254",
            "100.64.0.1",
            "0.0.0.0",
            "224.0.0.1",
            "255.255.255.255",
            "::1",
            "::",
            "fe80::1",
            "fd00::1",
            "::ffff:10.0.0.1",
            "2002:a00:1::",
            "64:ff9b::a00:1",
            "ff02::1",
        ];
        for ip in private {
            assert!(!is_public(ip.parse().unwrap()), "{ip}");
        }
        for ip in ["8.8.8.8", "93.184.216.34", "2606:2800:220:1::1"] {
            assert!(is_public(ip.parse().unwrap()), "{ip}");
        }
    }

    #[test]
    fn urls_are_checked() {
        let wrong = [
            "ftp://example.com/",
            "http://",
            "https://u:p@example.com/",
            "http://localhost/x",
            "http://[::1]/",
            "/x",
            "http://10.0.0.1",
        ];
        for url in wrong {
            assert!(check_url(url, false).is_err(), "{url}");
        }
        assert!(check_url("https://example.com:8443/hook?x=1", false).is_ok());
        assert!(check_url("http://127.0.0.1:9/", true).is_ok());
    }

    #[test]
    fn a_signature_is_the_hmac_of_time_and_body() {
        assert!(sign("key", "1700000000", b"{}").starts_with("sha256="));
        assert_ne!(sign("key", "1700000000", b"{}"), sign("key", "1700000001", b"{}"));
    }

    /// Answers each request with the next status, and tells what it got.
    async fn listen(statuses: Vec<u16>) -> (SocketAddr, mpsc::Receiver<String>) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (told, got) = mpsc::channel(8);
        tokio::spawn(async move {
            for status in statuses {
                let (mut stream, _) = listener.accept().await.unwrap();
                let mut bytes = vec![0; 4_096];
                let mut length = 0;
                while !String::from_utf8_lossy(&bytes[..length]).contains("\r\n\r\n{}") {
                    length += stream.read(&mut bytes[length..]).await.unwrap();
                }
                told.send(String::from_utf8_lossy(&bytes[..length]).into_owned()).await.unwrap();
                let answer = format!("HTTP/1.1 {status} x\r\ncontent-length: 0\r\n\r\n");
                stream.write_all(answer.as_bytes()).await.unwrap();
            }
        });
        (address, got)
    }

    #[tokio::test]
    async fn is_tried_again_until_it_is_taken() {
        let (address, mut got) = listen(vec![500, 503, 200]).await;
        let place = place(format!("http://{address}/hook?a=b"));
        deliver(&place, &Bytes::from_static(b"{}"), true, Duration::ZERO).await.unwrap();
        let first = got.recv().await.unwrap().to_lowercase();
        assert!(first.starts_with("post /hook?a=b http/1.1"), "{first}");
        assert!(first.contains("x-tollgate-signature: sha256="), "{first}");
        assert!(got.recv().await.is_some() && got.recv().await.is_some());
    }

    #[tokio::test]
    async fn gives_up_and_sends_nothing_into_private_networks() {
        let (address, mut got) = listen(vec![500; 4]).await;
        let place = place(format!("http://{address}/"));
        let body = Bytes::from_static(b"{}");
        assert!(deliver(&place, &body, true, Duration::ZERO).await.is_err());
        for _ in 0..4 {
            got.recv().await.unwrap();
        }
        let refused = deliver(&place, &body, false, Duration::ZERO).await;
        assert_eq!(refused, Err("a private address".into()));
        assert!(got.try_recv().is_err());
    }
}
