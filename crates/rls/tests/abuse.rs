//! Callers that mean no good meet a bound, and whoever means well is served meanwhile.
#![allow(clippy::unwrap_used, reason = "tests")]

mod support;

use std::net::SocketAddr;
use std::time::Duration;
use support::{memory, node, serve};
use tollgate_config::rls::Rls;
use tollgate_rls::Handle;
use tollgate_rls::api::{Client, Code, Entry, METHOD, RateLimitDescriptor, RateLimitRequest};
use tollgate_testkit::gzip_bomb;
use tonic::body::Body;
use tonic::transport::{Channel, Endpoint};
use tower_service::Service;

async fn channel(address: SocketAddr) -> Channel {
    Endpoint::from_shared(format!("http://{address}")).unwrap().connect().await.unwrap()
}

fn call() -> RateLimitRequest {
    let entries = vec![Entry { key: "app".into(), value: "plenty".into() }];
    let descriptors = vec![RateLimitDescriptor { entries, ..Default::default() }];
    RateLimitRequest { domain: "edge".into(), descriptors, hits_addend: 0 }
}

async fn still_serves(service: &Handle) {
    let answer = Client::new(channel(service.local_addr()).await).should_rate_limit(call()).await;
    assert_eq!(answer.unwrap().overall_code(), Code::Ok);
}

/// One message, packed or not, as gRPC frames it.
fn message(is_packed: bool, bytes: &[u8]) -> Vec<u8> {
    let length = u32::try_from(bytes.len()).unwrap().to_be_bytes();
    [&[u8::from(is_packed)], &length[..], bytes].concat()
}

/// The status of gRPC that a call of these bytes gets; none if the connection was ended instead.
async fn status(service: &Handle, fields: &[(&str, &str)], bytes: Vec<u8>) -> Option<i32> {
    let mut channel = channel(service.local_addr()).await;
    let mut request = http::Request::post(format!("http://{}{METHOD}", service.local_addr()))
        .header("content-type", "application/grpc")
        .header("te", "trailers");
    for (name, value) in fields {
        request = request.header(*name, *value);
    }
    let body = Body::new(http_body_util::Full::new(bytes::Bytes::from(bytes)));
    std::future::poll_fn(|context| channel.poll_ready(context)).await.unwrap();
    let response = channel.call(request.body(body).unwrap()).await.ok()?;
    // What fails before there is an answer is told in the head of it.
    response.headers().get("grpc-status").map_or(Some(0), |status| status.to_str().unwrap().parse().ok())
}

async fn whoever_finds_no_place_waits_for_one() {
    let node = node(memory());
    let service = serve(&node, Rls { max_connections: 2, ..Rls::default() });
    let address = service.local_addr();
    let mut first = Client::new(channel(address).await);
    let mut second = Client::new(channel(address).await);
    for client in [&mut first, &mut second] {
        assert_eq!(client.should_rate_limit(call()).await.unwrap().overall_code(), Code::Ok);
    }
    let mut third = Client::new(channel(address).await);
    let waiting = tokio::time::timeout(Duration::from_millis(300), third.should_rate_limit(call())).await;
    assert!(waiting.is_err(), "there are two places: {waiting:?}");
    assert_eq!(second.should_rate_limit(call()).await.unwrap().overall_code(), Code::Ok);
    drop(first);
    let served = tokio::time::timeout(Duration::from_secs(30), third.should_rate_limit(call())).await;
    assert_eq!(served.unwrap().unwrap().overall_code(), Code::Ok);
}

#[tokio::test]
async fn there_are_so_many_connections_on_one_thread() {
    whoever_finds_no_place_waits_for_one().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn there_are_so_many_connections_on_threads_of_its_own() {
    whoever_finds_no_place_waits_for_one().await;
}

#[tokio::test]
async fn a_bomb_does_not_go_off() {
    let node = node(memory());
    let service = serve(&node, Rls::default());
    // 12 is unimplemented: nothing that is packed is taken, however small it is.
    let bomb = gzip_bomb(1).unwrap();
    for encoding in ["gzip", "deflate", "zstd"] {
        assert_eq!(status(&service, &[("grpc-encoding", encoding)], message(true, &bomb)).await, Some(12));
    }
    // 13 is internal: nobody said how it is packed.
    assert_eq!(status(&service, &[], message(true, &bomb)).await, Some(13));
    still_serves(&service).await;
}

#[tokio::test]
async fn bytes_that_are_no_text_are_no_descriptor() {
    let node = node(memory());
    let service = serve(&node, Rls::default());
    for bytes in [&b"\xff\xfe"[..], b"caf\xc3", b"\xc0\xaf", b"\xed\xa0\x80"] {
        // The first field of a call is its domain, a text.
        let length = u8::try_from(bytes.len()).unwrap();
        let domain = [&[0x0a, length], bytes].concat();
        let status = status(&service, &[], message(false, &domain)).await;
        assert!(status.is_some_and(|status| status != 0), "{bytes:?}: {status:?}");
    }
    still_serves(&service).await;
}

#[tokio::test]
async fn heads_without_end_are_cut() {
    let node = node(memory());
    let service = serve(&node, Rls::default());
    let huge = "x".repeat(1 << 20);
    let address = service.local_addr();
    let mut channel = channel(address).await;
    let request = http::Request::post(format!("http://{address}{METHOD}"))
        .header("content-type", "application/grpc")
        .header("x-large", huge)
        .body(Body::empty())
        .unwrap();
    std::future::poll_fn(|context| channel.poll_ready(context)).await.unwrap();
    let answer = channel.call(request).await;
    let is_refused = answer.as_ref().map_or(true, |response| response.status() == 431);
    assert!(is_refused, "{answer:?}");
    still_serves(&service).await;
}
