//! Servers that answer in every way there is, and in some that there are not.

use crate::support::client::{self, request, send};
use crate::support::{route_to, start};
use http::StatusCode;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// A server that says one thing to every request, and closes then or not.
struct Parrot {
    address: SocketAddr,
    connections: Arc<AtomicUsize>,
}

impl Parrot {
    async fn new(says: impl Into<Vec<u8>>, closes: bool) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (says, connections) = (Arc::new(says.into()), Arc::new(AtomicUsize::new(0)));
        let count = Arc::clone(&connections);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                count.fetch_add(1, Ordering::SeqCst);
                tokio::spawn(Self::attend(stream, Arc::clone(&says), closes));
            }
        });
        Self { address, connections }
    }

    async fn attend(mut stream: TcpStream, says: Arc<Vec<u8>>, closes: bool) {
        let mut heard = Vec::new();
        let mut buffer = [0; 4096];
        while let Ok(count @ 1..) = stream.read(&mut buffer).await {
            heard.extend_from_slice(&buffer[..count]);
            if heard.ends_with(b"\r\n\r\n") {
                heard.clear();
                let _ = stream.write_all(&says).await;
                if closes {
                    return;
                }
            }
        }
    }
}

/// What three clients get that ask one after the other, and how many connections it took.
async fn three(method: &str, says: impl Into<Vec<u8>>, closes: bool) -> (Vec<(u16, String)>, usize) {
    let server = Parrot::new(says, closes).await;
    let (gateway, gate) = start(&format!("gateway.threads = 1\n{}", route_to(&[server.address], "")));
    let mut answers = Vec::new();
    for _ in 0..3 {
        let answer = send(gateway.local_addr(), request(method, "/", b"")).await;
        let text = answer.header("x-tollgate-error").map_or_else(|| answer.text(), ToOwned::to_owned);
        answers.push((answer.status.as_u16(), text));
    }
    gate.balanced().await;
    (answers, server.connections.load(Ordering::SeqCst))
}

fn thrice(status: u16, text: &str) -> Vec<(u16, String)> {
    vec![(status, text.to_owned()); 3]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whatever_is_whole_is_passed_on_and_the_connection_used_again() {
    for (method, says, status, text) in [
        ("GET", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", 200, "hello"),
        ("GET", "HTTP/1.1 200\r\ncontent-length:5\r\n\r\nhello", 200, "hello"),
        ("GET", "HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n", 404, ""),
        ("GET", "HTTP/1.1 204 No Content\r\n\r\n", 204, ""),
        ("GET", "HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n", 304, ""),
        ("HEAD", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", 200, ""),
        ("HEAD", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", 200, ""),
        (
            "GET",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2  \r\nhe\r\n3;a=b\r\nllo\r\n0\r\n\r\n",
            200,
            "hello",
        ),
        (
            "GET",
            "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n\
             HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
            200,
            "hello",
        ),
        ("GET", "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 5\r\n\r\nhello", 200, "hello"),
        ("GET", "HTTP/1.1 200 OK\nContent-Length: 5\n\nhello", 200, "hello"),
    ] {
        assert_eq!(three(method, says, false).await, (thrice(status, text), 1), "{says:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_connection_that_is_not_to_be_used_again_is_not() {
    for (says, closes, text) in [
        ("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello", false, "hello"),
        ("HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\nhello", false, "hello"),
        ("HTTP/1.1 200 OK\r\n\r\nhello", true, "hello"),
        // Whatever the rest is, it is no answer to the next request.
        ("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhelloHTTP/1.1 200 OK\r\n\r\nforged", false, "hello"),
        ("HTTP/1.1 204 No Content\r\nContent-Length: 6\r\n\r\nforged", false, ""),
        (
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 9\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
            false,
            "hello",
        ),
    ] {
        let (answers, connections) = three("GET", says, closes).await;
        assert!(answers.iter().all(|(_, body)| body == text), "{says:?}: {answers:?}");
        assert_eq!(connections, 3, "{says:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_no_response_is_a_bad_gateway() {
    let many = format!("HTTP/1.1 200 OK\r\n{}\r\n", "a: b\r\n".repeat(300));
    let large = format!("HTTP/1.1 200 OK\r\na: {}\r\n\r\n", "b".repeat(300_000));
    let endless = "x".repeat(300_000);
    for says in [
        "SSH-2.0-OpenSSH_9.6\r\n\r\n",
        "HTTP/2.0 200 OK\r\n\r\n",
        "HTTP/1.1 99 Less\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello",
        "HTTP/1.1 200 OK\r\nContent-Length: 0x5\r\n\r\nhello",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: identity\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nX: a\r\n b\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n",
        "",
        "HTTP/1.1 200 OK\r\nContent-Le",
        &many,
        &large,
        &endless,
    ] {
        let (answers, _) = three("POST", says, true).await;
        let start = &says[..says.len().min(80)];
        assert_eq!(answers, thrice(502, "upstream_failed"), "{start:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_body_that_breaks_off_or_is_malformed_is_not_passed_on_as_whole() {
    for (says, fine) in [
        ("HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nhalf", "half"),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n", "half"),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n0\r\n", "half"),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalfX", ""),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-4\r\nhalf\r\n0\r\n\r\n", ""),
    ] {
        let server = Parrot::new(says, true).await;
        let (gateway, gate) = start(&route_to(&[server.address], ""));
        let mut client = client::http1(gateway.local_addr()).await;
        let response = client.send_request(request("GET", "/", b"")).await.unwrap();
        assert_eq!(response.status(), StatusCode::OK, "{says:?}");
        let mut body = response.into_body();
        let mut heard = Vec::new();
        let end = loop {
            match http_body_util::BodyExt::frame(&mut body).await {
                Some(Ok(frame)) => heard.extend_from_slice(frame.data_ref().unwrap()),
                end => break end,
            }
        };
        assert!(matches!(end, Some(Err(_))), "{says:?}: {heard:?}");
        assert_eq!(String::from_utf8_lossy(&heard), fine, "{says:?}");
        gate.balanced().await;
        assert_eq!(gateway.stats().upstream_aborts, 1, "{says:?}");
    }
}
