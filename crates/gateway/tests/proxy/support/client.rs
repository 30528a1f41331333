use super::timely;
use bytes::Bytes;
use http::{HeaderMap, Request, Response, StatusCode};
use http_body_util::{BodyExt, Full};
use hyper::body::{Body, Incoming};
use hyper::client::conn::{http1, http2};
use hyper_util::rt::{TokioExecutor, TokioIo};
use std::error::Error;
use std::net::SocketAddr;
use tokio::net::TcpStream;

/// A whole response.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
    pub(crate) trailers: Option<HeaderMap>,
}

impl Answer {
    pub(crate) async fn of(response: Response<Incoming>) -> Self {
        let (parts, body) = response.into_parts();
        let body = timely(body.collect()).await.unwrap();
        let trailers = body.trailers().cloned();
        Self { status: parts.status, headers: parts.headers, body: body.to_bytes(), trailers }
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8(self.body.to_vec()).unwrap()
    }

    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body).unwrap()
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().unwrap())
    }
}

/// An HTTP/1 connection.
pub(crate) async fn http1<B>(address: SocketAddr) -> http1::SendRequest<B>
where
    B: Body + Send + 'static,
    B::Data: Send,
    B::Error: Into<Box<dyn Error + Send + Sync>>,
{
    let stream = TcpStream::connect(address).await.unwrap();
    stream.set_nodelay(true).unwrap();
    let (sender, connection) = http1::handshake(TokioIo::new(stream)).await.unwrap();
    tokio::spawn(connection.with_upgrades());
    sender
}

/// An HTTP/2 connection without encryption.
pub(crate) async fn http2<B>(address: SocketAddr) -> http2::SendRequest<B>
where
    B: Body + Unpin + Send + 'static,
    B::Data: Send,
    B::Error: Into<Box<dyn Error + Send + Sync>>,
{
    let stream = TcpStream::connect(address).await.unwrap();
    stream.set_nodelay(true).unwrap();
    let (sender, connection) = http2::handshake(TokioExecutor::new(), TokioIo::new(stream)).await.unwrap();
    tokio::spawn(connection);
    sender
}

/// A request for `http://a.example` and a path.
pub(crate) fn request(method: &str, path: &str, body: &'static [u8]) -> Request<Full<Bytes>> {
    Request::builder()
        .method(method)
        .uri(path)
        .header("host", "a.example")
        .body(Full::new(Bytes::from_static(body)))
        .unwrap()
}

/// The same for HTTP/2, where the host is part of the target.
pub(crate) fn request2(method: &str, path: &str, body: &'static [u8]) -> Request<Full<Bytes>> {
    Request::builder()
        .method(method)
        .uri(format!("http://a.example{path}"))
        .body(Full::new(Bytes::from_static(body)))
        .unwrap()
}

/// One request on a connection of its own.
pub(crate) async fn get(address: SocketAddr, path: &str) -> Answer {
    send(address, request("GET", path, b"")).await
}

/// One request on a connection of its own.
pub(crate) async fn send(address: SocketAddr, request: Request<Full<Bytes>>) -> Answer {
    let mut client = http1(address).await;
    Answer::of(timely(client.send_request(request)).await.unwrap()).await
}

/// One request by HTTP/2 on a connection of its own.
pub(crate) async fn send2(address: SocketAddr, request: Request<Full<Bytes>>) -> Answer {
    let mut client = http2(address).await;
    Answer::of(timely(client.send_request(request)).await.unwrap()).await
}
