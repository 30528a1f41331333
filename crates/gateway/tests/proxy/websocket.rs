use crate::support::raw::{Raw, status};
use crate::support::{Server, eventually, gateway, route_to, start, timely};
use futures_util::StreamExt;
use std::net::SocketAddr;
use std::time::Duration;
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpStream};
use tokio_tungstenite::tungstenite::Message;

/// A server that says everything back.
async fn websocket_server() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(async move {
                let mut socket = tokio_tungstenite::accept_async(stream).await.unwrap();
                while let Some(Ok(message)) = socket.next().await {
                    if (message.is_text() || message.is_binary()) && send(&mut socket, message).await.is_err()
                    {
                        break;
                    }
                }
            });
        }
    });
    address
}

async fn send<S>(
    socket: &mut tokio_tungstenite::WebSocketStream<S>,
    message: Message,
) -> Result<(), tokio_tungstenite::tungstenite::Error>
where
    S: tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin,
{
    futures_util::SinkExt::send(socket, message).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_websocket_goes_through() {
    let (gateway, gate) = start(&route_to(&[websocket_server().await], ""));
    let stream = TcpStream::connect(gateway.local_addr()).await.unwrap();
    let (mut socket, answer) =
        timely(tokio_tungstenite::client_async("ws://a.example/chat", stream)).await.unwrap();
    assert_eq!(answer.headers()["x-ratelimit-cost"], "7");
    for size in [0, 1, 125, 126, 70_000] {
        let text = "x".repeat(size);
        send(&mut socket, Message::text(text.clone())).await.unwrap();
        assert_eq!(timely(socket.next()).await.unwrap().unwrap(), Message::text(text));
    }
    assert_eq!((gate.reached(), gate.finished(), gateway.stats().tunnels_active), (1, 0, 1));
    socket.close(None).await.unwrap();
    while timely(socket.next()).await.is_some_and(|message| message.is_ok()) {}
    drop(socket);
    gate.balanced().await;
    let traffic = gate.traffic()[0];
    assert!(traffic.request > 70_000 && traffic.response > 70_000, "{traffic:?}");
    eventually("the tunnel is closed", || gateway.stats().tunnels_active == 0).await;
    assert_eq!(gateway.stats().responses_1xx, 1);
}

const UPGRADE: &str = "GET /upgrade HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: raw\r\n\r\n";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bytes_behind_an_upgrade_are_not_read_as_http() {
    let server = Server::http1().await;
    let (gateway, gate) = gateway(&server, "[gateway]\nupgrades = ['raw']\n");
    let mut raw = Raw::connect(gateway.local_addr()).await;
    // Sent before the server has agreed, which an impatient client may do.
    raw.say([UPGRADE, "GET / HTTP/1.1\r\n\r\n\0\0"].concat()).await;
    let (head, _) = raw.hear().await;
    assert_eq!(status(&head), 101);
    assert_eq!(timely(raw.exactly(20)).await, b"GET / HTTP/1.1\r\n\r\n\0\0");
    raw.stream.shutdown().await.unwrap();
    assert!(raw.is_closed().await);
    gate.balanced().await;
    assert_eq!(gate.traffic()[0].request, 20);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bytes_behind_a_declined_upgrade_are_the_next_request() {
    let server = Server::http1().await;
    let (gateway, gate) = gateway(&server, "[gateway]\nupgrades = ['raw']\n");
    let mut raw = Raw::connect(gateway.local_addr()).await;
    let declined = "GET /plain HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: h2c\r\n\r\n";
    raw.say([declined, declined, "GET /bad HTTP/1.1\r\n\r\n"].concat()).await;
    let answers = raw.hear_all().await;
    assert_eq!(answers.matches("hello /plain").count(), 2, "{answers}");
    assert!(answers.contains("x-tollgate-error: host_missing"), "{answers}");
    gate.balanced().await;
    assert_eq!(gate.finished(), 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_refused_upgrade_is_a_refusal() {
    let server = Server::http1().await;
    let (gateway, gate) = gateway(&server, "[gateway]\nupgrades = ['raw']\n");
    let mut raw = Raw::connect(gateway.local_addr()).await;
    raw.say(UPGRADE.replace("Host: a", "Host: a\r\nX-Tollgate-App: refused")).await;
    assert_eq!(status(&raw.hear().await.0), 429);
    raw.say(UPGRADE).await;
    assert_eq!(status(&raw.hear().await.0), 101, "the connection goes on");
    drop(raw);
    gate.balanced().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_tunnel_without_traffic_is_closed() {
    let server = Server::http1().await;
    let (gateway, gate) = gateway(&server, "[gateway]\nupgrades = ['raw']\ntimeouts.tunnel_ms = 50\n");
    let mut raw = Raw::connect(gateway.local_addr()).await;
    raw.say(UPGRADE).await;
    assert_eq!(status(&raw.hear().await.0), 101);
    assert!(raw.is_closed().await);
    gate.balanced().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn only_what_is_allowed_is_asked_of_the_server() {
    let server = Server::http1().await;
    let (gateway, gate) = gateway(&server, "");
    for fields in [
        "Connection: upgrade, http2-settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n",
        "Connection: upgrade\r\nUpgrade: websocket, h2c\r\n",
        "Connection: upgrade\r\nUpgrade: websocket\r\nUpgrade: h2c\r\n",
        "Connection: upgrade\r\nUpgrade: raw\r\n",
        "Upgrade: websocket\r\n",
    ] {
        let mut raw = Raw::connect(gateway.local_addr()).await;
        raw.say(format!("GET /upgrade HTTP/1.1\r\nHost: a\r\n{fields}\r\n")).await;
        assert_eq!(status(&raw.hear().await.0), 426, "the server is not asked: {fields}");
    }
    gate.balanced().await;
    assert_eq!(gateway.stats().tunnels_active, 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_leaves_while_it_is_agreed_on_leaves_nothing_behind() {
    let server = Server::http1().await;
    let (gateway, gate) = gateway(&server, "");
    for round in 0..500 {
        let mut raw = Raw::connect(gateway.local_addr()).await;
        raw.say("GET /upgrade HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n")
            .await;
        tokio::time::sleep(Duration::from_micros(round % 100 * 5)).await;
        // What is written to it then fails.
        raw.stream.set_zero_linger().unwrap();
        drop(raw);
    }
    gate.balanced().await;
    eventually("no tunnel is left", || gateway.stats().tunnels_active == 0).await;
    eventually("no connection is left", || gateway.stats().connections_active == 0).await;
}
