//! Clients that are too slow, too large or too many.

use crate::support::client::{Answer, get, http2, request, request2, send};
use crate::support::raw::{Raw, status};
use crate::support::{Server, eventually, gateway};
use bytes::Bytes;
use http::StatusCode;
use http_body_util::Full;
use std::time::Duration;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_head_that_trickles_in_is_cut_off() {
    let server = Server::http1().await;
    let (gateway, gate) = gateway(&server, "[gateway.timeouts]\nheader_ms = 500\n");
    for first in ["", "GET / HTTP/1.1\r\nHost: a\r\n\r\n"] {
        let mut raw = Raw::connect(gateway.local_addr()).await;
        if !first.is_empty() {
            raw.say(first).await;
            assert_eq!(status(&raw.hear().await.0), 200);
        }
        raw.say("GET / HTTP/1.1\r\n").await;
        for _ in 0..400 {
            if raw.stream.try_write(b"X: y\r\n").is_err() {
                break;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        let all = raw.hear_all().await;
        assert_eq!(status(&all), 408, "{all}");
        assert!(all.contains("x-tollgate-error: header_timeout"), "{all}");
    }
    assert_eq!(gate.asked(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_connection_that_says_nothing_is_closed() {
    let server = Server::http1().await;
    let (gateway, gate) = gateway(&server, "[gateway.timeouts]\nheader_ms = 500\nidle_ms = 500\n");
    let mut silent = Raw::connect(gateway.local_addr()).await;
    assert!(silent.is_closed().await);
    let mut idle = Raw::connect(gateway.local_addr()).await;
    idle.say("GET / HTTP/1.1\r\nHost: a\r\n\r\n").await;
    assert_eq!(status(&idle.hear().await.0), 200);
    assert!(idle.is_closed().await);
    // The start of HTTP/2, and then nothing.
    let mut half = Raw::connect(gateway.local_addr()).await;
    half.say("PRI * HTTP/2.0\r\n").await;
    assert!(half.is_closed().await);
    eventually("all are gone", || gateway.stats().connections_active == 0).await;
    gate.balanced().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_body_that_stops_is_cut_off() {
    let server = Server::http1().await;
    let (gateway, gate) = gateway(&server, "[gateway.timeouts]\nbody_ms = 50\n");
    let mut raw = Raw::connect(gateway.local_addr()).await;
    raw.say("POST /sink HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\nhalf").await;
    let all = raw.hear_all().await;
    assert_eq!(status(&all), 408, "{all}");
    gate.balanced().await;
    assert_eq!(gate.traffic()[0].request, 4);
    assert_eq!(gateway.stats().upstream_errors, 0, "it is not the server's fault");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_body_that_trickles_is_cut_off() {
    let server = Server::http1().await;
    let more = "[gateway.timeouts]\nbody_ms = 200\n[gateway.limits]\nbody_rate = 100_000\n";
    let (gateway, gate) = gateway(&server, more);
    let mut raw = Raw::connect(gateway.local_addr()).await;
    raw.say("POST /sink HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\n").await;
    for _ in 0..400 {
        if raw.stream.try_write(b"x").is_err() {
            break;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert_eq!(status(&raw.hear_all().await), 408);
    gate.balanced().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_does_not_read_is_cut_off() {
    let server = Server::http1().await;
    let (gateway, gate) = gateway(&server, "[gateway.timeouts]\nwrite_ms = 100\n");
    let mut raw = Raw::connect(gateway.local_addr()).await;
    raw.say("GET /bytes/1000000000 HTTP/1.1\r\nHost: a\r\n\r\n").await;
    eventually("it is cut off", || gate.admitted() == 1 && gate.settled() == 1).await;
    gate.balanced().await;
    assert!(gate.traffic()[0].response < 100_000_000);
    drop(raw);
}

/// On HTTP/2 the connection goes on, pings and all, while one answer is left where it is.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_leaves_an_answer_where_it_is_is_cut_off() {
    let server = Server::http1().await;
    let (gateway, gate) = gateway(&server, "[gateway.timeouts]\nwrite_ms = 300\n");
    let mut client = http2::<Full<Bytes>>(gateway.local_addr()).await;
    let left = client.send_request(request2("GET", "/bytes/1000000000", b"")).await.unwrap();
    let taken = client.send_request(request2("GET", "/bytes/1000000", b"")).await.unwrap();
    assert_eq!(Answer::of(taken).await.body.len(), 1_000_000, "whoever reads gets all of it");
    eventually("it is cut off", || gate.admitted() == 2 && gate.settled() == 2).await;
    gate.balanced().await;
    eventually("it is gone", || gateway.stats().connections_active == 0).await;
    drop(left);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_body_over_the_limit_is_refused_or_cut_off() {
    let server = Server::http1().await;
    let (gateway, gate) = gateway(&server, "[gateway.limits]\nbody_bytes = 10\n");
    let answer = send(gateway.local_addr(), request("POST", "/sink", b"eleven byte")).await;
    assert_eq!((answer.status, gate.asked()), (StatusCode::PAYLOAD_TOO_LARGE, 0));
    let answer = send(gateway.local_addr(), request("POST", "/sink", b"ten bytes.")).await;
    assert_eq!(answer.status, StatusCode::OK);
    let mut raw = Raw::connect(gateway.local_addr()).await;
    raw.say("POST /sink HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nb\r\neleven byte\r\n").await;
    let all = raw.hear_all().await;
    assert_eq!(status(&all), 413, "{all}");
    gate.balanced().await;
    assert_eq!(gateway.stats().upstream_errors, 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_stops_in_the_middle_is_cut_off() {
    let server = Server::http1().await;
    let (gateway, gate) = gateway(&server, "[gateway.timeouts]\nread_ms = 50\n");
    let mut raw = Raw::connect(gateway.local_addr()).await;
    raw.say("GET /trickle/2/60000 HTTP/1.1\r\nHost: a\r\n\r\n").await;
    let all = raw.hear_all().await;
    assert!(all.contains("drop") && !all.ends_with("0\r\n\r\n"), "{all}");
    gate.balanced().await;
    assert_eq!(gateway.stats().upstream_aborts, 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn there_is_a_limit_to_connections() {
    let server = Server::http1().await;
    let (gateway, _gate) = gateway(&server, "[gateway]\nmax_connections = 3\n");
    let mut held = Vec::new();
    for _ in 0..3 {
        let mut raw = Raw::connect(gateway.local_addr()).await;
        raw.say("GET / HTTP/1.1\r\nHost: a\r\n\r\n").await;
        assert_eq!(status(&raw.hear().await.0), 200);
        held.push(raw);
    }
    let mut refused = Raw::connect(gateway.local_addr()).await;
    let all = refused.hear_all().await;
    assert_eq!(status(&all), 503);
    let (_, body) = all.split_once("\r\n\r\n").unwrap();
    assert!(all.contains(&format!("content-length: {}\r\n", body.len())), "{all}");
    assert_eq!(gateway.stats().connections_refused, 1);
    held.pop();
    eventually("there is room", || gateway.stats().connections_active == 2).await;
    assert_eq!(get(gateway.local_addr(), "/").await.status, StatusCode::OK);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_connections_can_idle() {
    // Each costs two descriptors here, one for either end.
    let count = if std::env::var_os("TOLLGATE_TEST_MANY").is_some() { 9_000 } else { 1_000 };
    let server = Server::http1().await;
    let (gateway, gate) = gateway(&server, "");
    let mut idle = Vec::new();
    for number in 0..count {
        let mut raw = Raw::connect(gateway.local_addr()).await;
        // Every other one has had a request, the rest never spoke.
        if number % 2 == 0 {
            raw.say("GET / HTTP/1.1\r\nHost: a\r\n\r\n").await;
        }
        idle.push(raw);
    }
    eventually("all are there", || gateway.stats().connections_active == count).await;
    for raw in idle.iter_mut().step_by(2) {
        assert_eq!(status(&raw.hear().await.0), 200);
    }
    // Any of them can go on.
    for raw in idle.iter_mut().rev().take(20) {
        raw.say("GET / HTTP/1.1\r\nHost: a\r\n\r\n").await;
        assert_eq!(status(&raw.hear().await.0), 200);
    }
    drop(idle);
    eventually("all are gone", || gateway.stats().connections_active == 0).await;
    gate.balanced().await;
}
