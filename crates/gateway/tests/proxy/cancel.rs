//! A client may go away at any moment: each request is either given back or settled, once.

use crate::support::client::{self, request2};
use crate::support::raw::Raw;
use crate::support::server::Speaks;
use crate::support::{Recorder, Server, eventually, gateway, route_to, start};
use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use std::sync::atomic::Ordering;
use tokio::net::TcpListener;

async fn until_admitted(gate: &Recorder, count: u64) {
    eventually("the request is admitted", || gate.admitted() >= count).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn while_the_gate_decides() {
    let server = Server::http1().await;
    let (gateway, gate) = gateway(&server, "");
    let mut raw = Raw::connect(gateway.local_addr()).await;
    raw.say("GET / HTTP/1.1\r\nHost: a\r\nX-Tollgate-App: never\r\n\r\n").await;
    eventually("the gate is asked", || gate.asked() == 1).await;
    drop(raw);
    eventually("it is noticed", || gateway.stats().requests_cancelled == 1).await;
    assert_eq!((gate.admitted(), server.requests(), gateway.stats().requests_active), (0, 0, 0));
    eventually("the visit is over", || gate.visits() == 0).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn while_connecting() {
    // A socket that is full lets nobody in and turns nobody away.
    let listener = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None).unwrap();
    listener.bind(&std::net::SocketAddr::from(([127, 0, 0, 1], 0)).into()).unwrap();
    listener.listen(0).unwrap();
    let address = listener.local_addr().unwrap().as_socket().unwrap();
    let mut fill = Vec::new();
    let pause = std::time::Duration::from_millis(50);
    while let Ok(stream) = tokio::time::timeout(pause, tokio::net::TcpStream::connect(address)).await {
        fill.push(stream);
    }
    let (gateway, gate) = start(&route_to(&[address], ""));
    let mut raw = Raw::connect(gateway.local_addr()).await;
    raw.say("GET / HTTP/1.1\r\nHost: a\r\n\r\n").await;
    until_admitted(&gate, 1).await;
    drop(raw);
    gate.balanced().await;
    assert_eq!((gate.rolled_back(), gate.reached()), (1, 0));
    eventually("it is counted", || gateway.stats().requests_cancelled == 1).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn during_the_body_of_the_request() {
    let server = Server::http1().await;
    let (gateway, gate) = gateway(&server, "");
    for framing in ["Content-Length: 100\r\n\r\nhalf", "Transfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n"] {
        let before = server.seen.cancelled.load(Ordering::SeqCst);
        let bytes = server.seen.body_bytes.load(Ordering::SeqCst);
        let mut raw = Raw::connect(gateway.local_addr()).await;
        raw.say(format!("POST /sink HTTP/1.1\r\nHost: a\r\n{framing}")).await;
        eventually("the server has half of it", || {
            server.seen.body_bytes.load(Ordering::SeqCst) == bytes + 4
        })
        .await;
        drop(raw);
        eventually("the server is told", || server.seen.cancelled.load(Ordering::SeqCst) == before + 1).await;
        gate.balanced().await;
    }
    assert_eq!((gate.finished(), gate.rolled_back()), (2, 0));
    assert!(gate.traffic().iter().all(|traffic| traffic.request == 4), "{:?}", gate.traffic());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn while_the_server_thinks() {
    let server = Server::http1().await;
    let (gateway, gate) = gateway(&server, "");
    let mut raw = Raw::connect(gateway.local_addr()).await;
    raw.say("GET /hang HTTP/1.1\r\nHost: a\r\n\r\n").await;
    eventually("the server has it", || server.requests() == 1).await;
    drop(raw);
    eventually("the server is told", || server.seen.cancelled.load(Ordering::SeqCst) == 1).await;
    gate.balanced().await;
    assert_eq!(gate.finished(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn during_the_response() {
    let server = Server::http1().await;
    let (gateway, gate) = gateway(&server, "");
    let mut raw = Raw::connect(gateway.local_addr()).await;
    raw.say("GET /trickle/1000000/1 HTTP/1.1\r\nHost: a\r\n\r\n").await;
    let _ = raw.hear().await;
    drop(raw);
    eventually("the server is told", || server.seen.cancelled.load(Ordering::SeqCst) == 1).await;
    gate.balanced().await;
    assert_eq!(gate.finished(), 1);
    eventually("it is counted", || gateway.stats().responses_2xx == 1).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stream_of_http2_at_every_phase() {
    let server = Server::http1().await;
    let (gateway, gate) = gateway(&server, "");
    for path in ["/hang", "/trickle/1000000/1", "/gate"] {
        let seen = server.requests();
        let mut client = client::http2(gateway.local_addr()).await;
        let sent = tokio::spawn(async move {
            let response = client.send_request(request2("GET", path, b"")).await.unwrap();
            let mut body = response.into_body();
            while body.frame().await.is_some() {}
        });
        eventually("the server has it", || server.requests() == seen + 1).await;
        sent.abort();
        gate.balanced().await;
    }
    assert_eq!((gate.finished(), gate.rolled_back()), (3, 0));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn while_waiting_for_a_turn_on_a_connection() {
    // One request at a time: the first has its turn, the second is next, the third is not even looked at.
    let server = Server::start(Speaks::OneAtATime, None).await;
    let (gateway, gate) =
        start(&format!("gateway.threads = 1\n{}", route_to(&[server.address], "protocol = 'http2'")));
    let mut waiting = Vec::new();
    for number in 1..=3 {
        let mut raw = Raw::connect(gateway.local_addr()).await;
        raw.say("GET /hang HTTP/1.1\r\nHost: a\r\n\r\n").await;
        until_admitted(&gate, number).await;
        eventually("the server has the first", || server.requests() == 1).await;
        waiting.push(raw);
    }
    drop(waiting.pop());
    eventually("the third is settled", || gate.settled() == 1).await;
    assert_eq!((gate.rolled_back(), gate.reached()), (1, 0));
    drop(waiting);
    gate.balanced().await;
    assert!(server.requests() <= 2, "the third never gets there");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_goes_away_at_every_phase() {
    // Nothing, half a head, half a body.
    for said in ["", "HTTP/1.1 200 OK\r\nContent-", "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf"] {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                use tokio::io::{AsyncReadExt, AsyncWriteExt};
                let _ = stream.read(&mut [0; 1024]).await;
                let _ = stream.write_all(said.as_bytes()).await;
            }
        });
        let (gateway, gate) = start(&route_to(&[address], ""));
        let mut raw = Raw::connect(gateway.local_addr()).await;
        raw.say("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n").await;
        let heard = raw.hear_all().await;
        if said.ends_with("half") {
            assert!(heard.ends_with("half"), "{heard}");
            assert_eq!(gateway.stats().upstream_aborts, 1);
        } else {
            assert!(heard.contains("x-tollgate-error: upstream_failed"), "{heard}");
        }
        gate.balanced().await;
        assert_eq!((gate.finished(), gate.rolled_back()), (1, 0), "{said:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_crowd_that_leaves_at_random() {
    let server = Server::http1().await;
    let (gateway, gate) = gateway(&server, "");
    let address = gateway.local_addr();
    let paths = ["/", "/hang", "/trickle/100/1", "/sink", "/bytes/1000000", "/status/500"];
    let mut crowd = tokio::task::JoinSet::new();
    for visitor in 0..200_usize {
        crowd.spawn(async move {
            let path = paths[visitor % paths.len()];
            let body = Full::new(Bytes::from(vec![b'x'; visitor * 100]));
            let pause = std::time::Duration::from_micros((visitor as u64 * 7_919) % 20_000);
            let asked = async move {
                let request = http::Request::post(path).header("host", "a").body(body).unwrap();
                let mut client = client::http1(address).await;
                let response = client.send_request(request).await.unwrap();
                let _ = response.collect().await;
            };
            let _ = tokio::time::timeout(pause, asked).await;
        });
    }
    crowd.join_all().await;
    eventually("nothing is under way", || gateway.stats().requests_active == 0).await;
    gate.balanced().await;
    eventually("nobody is left", || gate.visits() == 0 && gateway.stats().connections_active == 0).await;
}
