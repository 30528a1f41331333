//! What becomes of those who were let in: HTTP/1, a head at a time, until it closes.

use super::entrance::{Entrance, Peer, Seated};
use axum::Router;
use axum::body::Body;
use axum::extract::ConnectInfo;
use http::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use std::net::SocketAddr;
use std::pin::pin;
use std::time::Duration;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tower::ServiceExt;

/// How long the head of a request may take, from when the last one was answered: hyper does not tell somebody who says nothing from
/// somebody who says it a byte at a time.
pub(super) const HEAD_PATIENCE: Duration = Duration::from_secs(20);

/// Serves whoever is let in until the entrance is deserted, and then those who are under way.
pub(super) async fn serve(mut entrance: Entrance, router: Router, patience: Duration) {
    let mut deserted = pin!(entrance.deserted());
    let (part, parting) = watch::channel(false);
    let mut connections = JoinSet::new();
    loop {
        let (stream, address) = tokio::select! {
            () = deserted.as_mut() => break,
            Some(_) = connections.join_next() => continue,
            accepted = entrance.accept() => accepted,
        };
        connections.spawn(converse(stream, address, router.clone(), patience, parting.clone()));
    }
    drop(entrance);
    part.send_replace(true);
    while connections.join_next().await.is_some() {}
}

async fn converse(
    stream: Seated,
    address: SocketAddr,
    router: Router,
    patience: Duration,
    mut parting: watch::Receiver<bool>,
) {
    let answer = service_fn(move |request: Request<Incoming>| {
        let mut request = request.map(Body::new);
        request.extensions_mut().insert(ConnectInfo(Peer(address)));
        router.clone().oneshot(request)
    });
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(patience);
    let mut connection = pin!(builder.serve_connection(TokioIo::new(stream), answer).with_upgrades());
    // How a connection ends is the client's business.
    tokio::select! {
        _ = connection.as_mut() => return,
        _ = parting.wait_for(|is_over| *is_over) => {}
    }
    connection.as_mut().graceful_shutdown();
    let _ = connection.await;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::server::entrance::SILENCE;
    use axum::routing::get;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::{TcpListener, TcpStream};
    use tokio::time::{sleep, timeout};

    #[tokio::test]
    async fn whoever_says_a_byte_at_a_time_gives_the_place_back() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (_close, closing) = watch::channel(false);
        let router = Router::new().route("/", get(async || "hello"));
        let entrance = Entrance::new(listener, 1, SILENCE, closing);
        let server = tokio::spawn(serve(entrance, router, Duration::from_secs(1)));
        let mut slow = TcpStream::connect(address).await.unwrap();
        slow.write_all(b"GET / HTTP/1.1\r\nhost: h\r\nx: ").await.unwrap();
        let trickle = tokio::spawn(async move {
            while slow.write_all(b"x").await.is_ok() {
                sleep(Duration::from_millis(100)).await;
            }
        });
        let mut next = TcpStream::connect(address).await.unwrap();
        next.write_all(b"GET / HTTP/1.1\r\nhost: h\r\nconnection: close\r\n\r\n").await.unwrap();
        let mut answer = String::new();
        timeout(SILENCE / 3, next.read_to_string(&mut answer)).await.expect("there is no place").unwrap();
        assert!(answer.starts_with("HTTP/1.1 200") && answer.ends_with("hello"), "{answer}");
        trickle.await.unwrap();
        server.abort();
    }
}
