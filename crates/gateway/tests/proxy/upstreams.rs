//! Servers that come and go.

use crate::support::client::{self, get, request, send};
use crate::support::server::{Speaks, nobody};
use crate::support::{Server, eventually, route_to, start, timely};
use http::StatusCode;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn servers_take_turns() {
    let servers = [Server::http1().await, Server::http1().await, Server::http1().await];
    let text =
        format!("gateway.threads = 1\n{}", route_to(&servers.each_ref().map(|server| server.address), ""));
    let (gateway, _gate) = start(&text);
    for _ in 0..9 {
        assert_eq!(get(gateway.local_addr(), "/").await.status, StatusCode::OK);
    }
    assert_eq!(servers.each_ref().map(Server::requests), [3, 3, 3]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_least_busy_server_is_next() {
    let servers = [Server::http1().await, Server::http1().await];
    let addresses = servers.each_ref().map(|server| server.address);
    let (gateway, _gate) =
        start(&format!("gateway.threads = 1\n{}", route_to(&addresses, "balance = 'least_in_flight'")));
    let address = gateway.local_addr();
    let hanging = tokio::spawn(get(address, "/hang"));
    eventually("one is busy", || servers.iter().any(|server| server.requests() == 1)).await;
    let busy = usize::from(servers[1].requests() == 1);
    for _ in 0..5 {
        assert_eq!(get(address, "/").await.status, StatusCode::OK);
    }
    assert_eq!((servers[busy].requests(), servers[1 - busy].requests()), (1, 5));
    hanging.abort();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn another_server_takes_over_and_nobody_notices() {
    let server = Server::http1().await;
    let (gateway, gate) = start(&route_to(&[nobody().await, server.address, nobody().await], ""));
    for _ in 0..20 {
        assert_eq!(send(gateway.local_addr(), request("POST", "/echo", b"x")).await.text(), "x");
    }
    gate.balanced().await;
    assert_eq!((server.requests(), gate.finished(), gate.rolled_back()), (20, 20, 0));
    assert_eq!(gateway.stats().upstream_errors, 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_fails_is_left_alone_for_a_while() {
    let server = Server::http1().await;
    let (gateway, _gate) = start(&format!(
        "gateway.threads = 1\n{}",
        route_to(&[nobody().await, server.address], "health = {eject_after = 2, eject_ms = 60_000}")
    ));
    for _ in 0..20 {
        assert_eq!(get(gateway.local_addr(), "/").await.status, StatusCode::OK);
    }
    assert_eq!(gateway.stats().upstream_retries, 2, "after two failures it is not asked again");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_is_used_when_it_says_it_is_well() {
    let health = "health = {path = '/status/200', interval_ms = 20, ill_after = 1, well_after = 1}";
    let address = nobody().await;
    let (gateway, gate) = start(&route_to(&[address], health));
    let mut last = StatusCode::OK;
    for _ in 0..1_000 {
        last = get(gateway.local_addr(), "/").await.status;
        if last == StatusCode::SERVICE_UNAVAILABLE {
            break;
        }
    }
    assert_eq!(last, StatusCode::SERVICE_UNAVAILABLE, "nobody is there");
    let server = Server::start(Speaks::Http1, Some(address)).await;
    eventually("it is asked", || server.requests() > 0).await;
    for _ in 0..1_000 {
        last = get(gateway.local_addr(), "/").await.status;
        if last == StatusCode::OK {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
    assert_eq!(last, StatusCode::OK, "it is there");
    gate.balanced().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_question_about_health_says_whom_it_is_for() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (_gateway, _) = start(&route_to(&[address], "health = {path = '/well', interval_ms = 20}"));
    let (mut stream, _) = timely(listener.accept()).await.unwrap();
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        let mut piece = [0; 1_024];
        let read = timely(stream.read(&mut piece)).await.unwrap();
        assert!(read > 0, "{head}");
        head.push_str(std::str::from_utf8(&piece[..read]).unwrap());
    }
    assert_eq!(head, format!("GET /well HTTP/1.1\r\nhost: {address}\r\nuser-agent: tollgate-health\r\n\r\n"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_connection_that_died_in_the_pool_is_replaced() {
    let server = Server::http1().await;
    let address = server.address;
    let (gateway, gate) = start(&format!("gateway.threads = 1\n{}", route_to(&[address], "")));
    let mut server = Some(server);
    for _ in 0..10 {
        assert_eq!(send(gateway.local_addr(), request("POST", "/echo", b"ping")).await.text(), "ping");
        // It restarts: its connections are closed, its address is the same.
        drop(server.take());
        let mut started = None;
        while started.is_none() {
            if TcpListener::bind(address).await.is_ok() {
                started = Some(Server::start(Speaks::Http1, Some(address)).await);
            }
        }
        server = started;
    }
    gate.balanced().await;
    assert_eq!(gate.finished(), 10);
}

/// A server that answers the first request of each connection, and closes when the second has come.
async fn one_answer_each() -> std::net::SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            tokio::spawn(async move {
                let mut buffer = [0; 4096];
                let _ = stream.read(&mut buffer).await;
                let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok").await;
                let _ = stream.read(&mut buffer).await;
            });
        }
    });
    address
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn only_harmless_requests_are_sent_twice() {
    let (gateway, gate) =
        start(&format!("gateway.threads = 1\n{}", route_to(&[one_answer_each().await], "")));
    let address = gateway.local_addr();
    let mut outcomes = HashMap::new();
    for (method, body) in [("GET", &b""[..]), ("GET", b""), ("DELETE", b""), ("POST", b""), ("PUT", b"x")] {
        // The first of each pair leaves a connection behind on which the second will find nobody.
        assert_eq!(get(address, "/").await.status, StatusCode::OK);
        let answer = send(address, request(method, "/", body)).await;
        outcomes.insert(
            method,
            (answer.status.as_u16(), answer.header("x-tollgate-error").map(ToOwned::to_owned)),
        );
    }
    assert_eq!(outcomes["GET"].0, 200);
    assert_eq!(outcomes["DELETE"].0, 200);
    assert_eq!(outcomes["POST"], (502, Some("upstream_failed".into())));
    assert_eq!(outcomes["PUT"], (502, Some("upstream_failed".into())));
    gate.balanced().await;
    assert_eq!(gate.rolled_back(), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_server_that_flaps_costs_no_ticket() {
    let steady = Server::http1().await;
    let address = nobody().await;
    let (gateway, gate) =
        start(&route_to(&[steady.address, address], "health = {eject_after = 3, eject_ms = 20}"));
    let answered = Arc::new(AtomicU64::new(0));
    let count = Arc::clone(&answered);
    // It dies as often however fast this machine is.
    let flapping = tokio::spawn(async move {
        let more = async || {
            let goal = count.load(Ordering::SeqCst) + 40;
            while count.load(Ordering::SeqCst) < goal {
                tokio::time::sleep(std::time::Duration::from_millis(1)).await;
            }
        };
        loop {
            let server = Server::start(Speaks::Http1, Some(address)).await;
            more().await;
            drop(server);
            more().await;
        }
    });
    let mut crowd = tokio::task::JoinSet::new();
    let to = gateway.local_addr();
    for _ in 0..8 {
        let answered = Arc::clone(&answered);
        crowd.spawn(async move {
            let mut outcomes = [0_u64; 6];
            for _ in 0..100 {
                let answer = get(to, "/").await;
                answered.fetch_add(1, Ordering::SeqCst);
                outcomes[usize::from(answer.status.as_u16() / 100)] += 1;
            }
            outcomes
        });
    }
    let outcomes: Vec<[u64; 6]> = crowd.join_all().await;
    flapping.abort();
    let good: u64 = outcomes.iter().map(|outcome| outcome[2]).sum();
    // A request that a dying server had already taken may fail; one that did not reach it may not.
    assert!(good >= 780, "{outcomes:?}");
    gate.balanced().await;
    assert_eq!(gate.admitted(), 800);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn unused_connections_to_a_server_are_closed() {
    let server = Server::http1().await;
    let (gateway, _gate) = start(&format!(
        "[gateway.timeouts]\nupstream_idle_ms = 1\n[gateway]\nthreads = 1\n{}",
        route_to(&[server.address], "")
    ));
    assert_eq!(get(gateway.local_addr(), "/").await.status, StatusCode::OK);
    // The sweep comes every second; until then the connection is used again.
    let start = std::time::Instant::now();
    while server.connections() < 2 {
        assert!(start.elapsed() < std::time::Duration::from_secs(30), "it is kept");
        tokio::time::sleep(std::time::Duration::from_millis(400)).await;
        assert_eq!(get(gateway.local_addr(), "/").await.status, StatusCode::OK);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_before_the_end_of_the_request_is_passed_on() {
    let server = Server::http1().await;
    let (gateway, gate) = start(&route_to(&[server.address], ""));
    let mut client = client::http1(gateway.local_addr()).await;
    let body = http_body_util::Full::new(bytes::Bytes::from(vec![b'x'; 3_000_000]));
    let asked = http::Request::post("/early").header("host", "a").body(body).unwrap();
    let answer = client::Answer::of(client.send_request(asked).await.unwrap()).await;
    assert_eq!((answer.status, answer.text().as_str()), (StatusCode::FORBIDDEN, "no"));
    gate.balanced().await;
    assert_eq!(server.seen.body_bytes.load(Ordering::SeqCst), 0);
}
