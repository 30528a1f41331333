//! An axum app that lets each client in twice a second: `cargo run -p tollgate-examples --example axum`

#![allow(clippy::print_stdout, reason = "an example is there to be seen")]

use axum::Router;
use axum::extract::ConnectInfo;
use axum::routing::get;
use http::request::Parts;
use http_body_util::Empty;
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use tollgate_limiter::middleware::{ClientAddress, RateLimitLayer};
use tollgate_limiter::{Limit, Limiter};

fn peer(parts: &Parts) -> Option<IpAddr> {
    parts.extensions.get::<ConnectInfo<SocketAddr>>().map(|info| info.0.ip())
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    let limit = Limit::new(2, 2)?;
    // Behind a proxy on this machine the client is whom it names.
    let client = ClientAddress::new().peer(peer).trust(["127.0.0.0/8"])?;
    let layer =
        RateLimitLayer::new(Arc::new(Limiter::default()), move |_| Some(limit)).client(client).headers(true);
    let app = Router::new().route("/", get(async || "served")).layer(layer.clone());

    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    let service = app.into_make_service_with_connect_info::<SocketAddr>();
    let server = tokio::spawn(async move { axum::serve(listener, service).await });

    let browser = Client::builder(TokioExecutor::new()).build_http::<Empty<bytes::Bytes>>();
    for client in ["203.0.113.7", "203.0.113.7", "203.0.113.7", "198.51.100.4"] {
        let request = http::Request::get(format!("http://{address}/"))
            .header("x-forwarded-for", client)
            .body(Empty::new())?;
        let response = browser.request(request).await?;
        let left = response.headers()["x-ratelimit-remaining"].to_str()?;
        println!("{client:12} {}, {left} left", response.status());
    }
    println!("{:?}", layer.counts());
    server.abort();
    Ok(())
}
