//! The middleware on both sides of real calls of gRPC.
#![allow(clippy::unwrap_used, reason = "tests")]

use std::net::SocketAddr;
use std::sync::Arc;
use tollgate_limiter::middleware::RateLimitLayer;
use tollgate_limiter::{Limit, Limiter, ManualClock};
use tonic::Code;
use tonic::transport::server::TcpIncoming;
use tonic::transport::{Channel, Endpoint, Server};
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_client::HealthClient;
use tonic_health::server::HealthReporter;
use tower::Layer;

type Limited = RateLimitLayer<Arc<Limiter<ManualClock>>>;

/// So many calls, and the clock stands still.
fn calls(n: u64) -> Limited {
    let limiter = Arc::new(Limiter::builder().build_with_clock(ManualClock::default()));
    RateLimitLayer::new(limiter, move |_| Limit::new(1, n).ok()).key(|_| Some("all".into()))
}

async fn serve(layer: Limited) -> (HealthReporter, Channel) {
    let (reporter, health) = tonic_health::server::health_reporter();
    let incoming = TcpIncoming::bind(SocketAddr::from(([127, 0, 0, 1], 0))).unwrap();
    let address = incoming.local_addr().unwrap();
    tokio::spawn(Server::builder().layer(layer).add_service(health).serve_with_incoming(incoming));
    (reporter, Endpoint::from_shared(format!("http://{address}")).unwrap().connect().await.unwrap())
}

fn request() -> HealthCheckRequest {
    HealthCheckRequest { service: String::new() }
}

#[tokio::test]
async fn a_server_refuses_unary_calls_over_the_limit() {
    let layer = calls(2);
    let (_reporter, channel) = serve(layer.clone()).await;
    let mut client = HealthClient::new(channel);
    for _ in 0..2 {
        client.check(request()).await.unwrap();
    }
    let refused = client.check(request()).await.unwrap_err();
    assert_eq!((refused.code(), refused.message()), (Code::ResourceExhausted, "rate limit exceeded"));
    assert_eq!((layer.counts().passed, layer.counts().refused), (2, 1));
}

#[tokio::test]
async fn a_stream_is_looked_at_once_when_it_opens() {
    let layer = calls(1);
    let (reporter, channel) = serve(layer.clone()).await;
    let mut client = HealthClient::new(channel);
    let mut stream = client.watch(request()).await.unwrap().into_inner();
    assert_eq!(client.watch(request()).await.unwrap_err().code(), Code::ResourceExhausted);
    for status in [tonic_health::ServingStatus::NotServing, tonic_health::ServingStatus::Serving] {
        stream.message().await.unwrap().unwrap();
        reporter.set_service_status("", status).await;
    }
    stream.message().await.unwrap().unwrap();
    assert_eq!((layer.counts().passed, layer.counts().refused), (1, 1));
}

#[tokio::test]
async fn a_client_holds_itself_to_a_limit() {
    let server = calls(100);
    let (_reporter, channel) = serve(server.clone()).await;
    let layer = calls(2);
    let mut client = HealthClient::new(layer.layer(channel));
    for _ in 0..2 {
        client.check(request()).await.unwrap();
    }
    assert_eq!(client.check(request()).await.unwrap_err().code(), Code::ResourceExhausted);
    assert_eq!(client.watch(request()).await.unwrap_err().code(), Code::ResourceExhausted);
    assert_eq!(server.counts().passed, 2, "what was refused here never left");
}
