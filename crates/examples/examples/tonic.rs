//! A server and a client of gRPC, each with a limit: `cargo run -p tollgate-examples --example tonic`
//!
//! The service is that of gRPC's health checks, which has a unary call and a stream.

#![allow(clippy::print_stdout, reason = "an example is there to be seen")]

use http::request::Parts;
use std::net::IpAddr;
use std::sync::Arc;
use tollgate_limiter::middleware::{ClientAddress, RateLimitLayer};
use tollgate_limiter::{Limit, Limiter};
use tonic::transport::server::{TcpConnectInfo, TcpIncoming};
use tonic::transport::{Endpoint, Server};
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_client::HealthClient;
use tower::Layer;

fn peer(parts: &Parts) -> Option<IpAddr> {
    parts.extensions.get::<TcpConnectInfo>()?.remote_addr().map(|address| address.ip())
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    // The server takes four calls a second of each client, streams included.
    let limit = Limit::new(4, 4)?;
    let layer = RateLimitLayer::new(Arc::new(Limiter::default()), move |_| Some(limit))
        .client(ClientAddress::new().peer(peer));
    let (_reporter, health) = tonic_health::server::health_reporter();
    let incoming = TcpIncoming::bind("127.0.0.1:0".parse()?).map_err(|error| anyhow::anyhow!("{error}"))?;
    let address = incoming.local_addr()?;
    let server = Server::builder().layer(layer.clone()).add_service(health).serve_with_incoming(incoming);
    let server = tokio::spawn(server);

    let channel = Endpoint::from_shared(format!("http://{address}"))?.connect().await?;
    let request = || HealthCheckRequest { service: String::new() };

    println!("-- the client's limit: one call a second to that host");
    let limit = Limit::new(1, 1)?;
    let own = RateLimitLayer::outgoing(Arc::new(Limiter::default()), move |_| Some(limit))
        .key(|_| Some("health".into()));
    let mut client = HealthClient::new(own.layer(channel.clone()));
    for _ in 0..2 {
        let answer = client.check(request()).await;
        println!(
            "unary   {:?}",
            answer.map(|health| health.into_inner().status).map_err(|status| status.code())
        );
    }
    println!("{:?}", own.counts());

    println!("-- the server's limit");
    let mut client = HealthClient::new(channel);
    let mut stream = client.watch(request()).await?.into_inner();
    println!("stream  {:?}", stream.message().await?.map(|health| health.status));
    for _ in 0..4 {
        match client.check(request()).await {
            Ok(health) => println!("unary   {:?}", health.into_inner().status),
            Err(status) => println!("unary   {:?}", status.code()),
        }
    }
    println!("{:?}", layer.counts());
    server.abort();
    Ok(())
}
