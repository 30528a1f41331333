//! The server behind the gateway: it says hello.

use anyhow::Context;
use bytes::Bytes;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use std::convert::Infallible;
use std::net::SocketAddr;
use tokio::net::TcpListener;

/// Starts it on a free port.
pub(super) async fn start() -> anyhow::Result<SocketAddr> {
    let listener = TcpListener::bind("127.0.0.1:0").await.context("cannot start the demo's own server")?;
    let address = listener.local_addr()?;
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let hello = service_fn(|request| async move { Ok::<_, Infallible>(hello(&request)) });
            tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), hello));
        }
    });
    Ok(address)
}

fn hello(request: &Request<Incoming>) -> Response<Full<Bytes>> {
    let text = format!("hello from behind the gate: {} {}\n", request.method(), request.uri().path());
    Response::new(Full::new(text.into()))
}
