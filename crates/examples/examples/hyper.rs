//! A plain hyper service in front of a node: applications pay for what they do.
//! `cargo run -p tollgate-examples --example hyper`

#![allow(clippy::print_stdout, reason = "an example is there to be seen")]

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{Empty, Full};
use hyper::body::Incoming;
use hyper_util::client::legacy::Client;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::service::TowerToHyperService;
use std::convert::Infallible;
use std::time::Duration;
use tollgate_config::Policy;
use tollgate_core::cost::Operation;
use tollgate_core::id::NodeId;
use tollgate_ledger::MemoryLedger;
use tollgate_limiter::middleware::RateLimitLayer;
use tollgate_node::{Fare, Node, Setup};
use tower::Layer;

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    let policy = Policy::from_value(&serde_json::json!({
        "apps": [{"id": "photos", "guaranteed_quota": 10, "burst_quota": 10, "borrow": false}],
    }))
    .map_err(|errors| anyhow::anyhow!("{errors}"))?;
    let node = Node::start(MemoryLedger::new(), Setup::new(NodeId::new("node-1")?), &policy);
    let fare = |parts: &http::request::Parts| Some(Fare::of(Operation::parse(parts.method.as_str())));
    let layer = RateLimitLayer::new(node.clone(), fare)
        .key(|parts| parts.headers.get("x-tollgate-app")?.to_str().ok().map(str::to_owned))
        .headers(true);
    let serve = tower::service_fn(async |_: Request<Incoming>| {
        Ok::<_, Infallible>(Response::new(Full::new(Bytes::from_static(b"served"))))
    });
    let service = layer.layer(serve);

    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    let server = tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let service = TowerToHyperService::new(service.clone());
            let connection =
                hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), service);
            tokio::spawn(connection);
        }
    });

    let browser = Client::builder(TokioExecutor::new()).build_http::<Empty<Bytes>>();
    for method in ["GET", "PUT", "PUT", "GET"] {
        let request = Request::builder()
            .method(method)
            .uri(format!("http://{address}/"))
            .header("x-tollgate-app", "photos")
            .body(Empty::new())?;
        let response = browser.request(request).await?;
        let left = response.headers()["x-ratelimit-remaining"].to_str()?;
        println!("{method:3} {}, {left} of 10 tokens left", response.status());
    }
    server.abort();
    node.shut_down(Duration::from_secs(1)).await;
    Ok(())
}
