use bytes::Bytes;
use http::header::{CONNECTION, HeaderName, UPGRADE};
use http::{HeaderMap, HeaderValue, Request, Response, StatusCode};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full};
use hyper::body::{Body, Frame, Incoming};
use hyper::server::conn::{http1, http2};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use serde_json::json;
use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::sync::{Notify, mpsc};
use tokio::task::JoinHandle;
use tokio_rustls::TlsAcceptor;

type Outgoing = BoxBody<Bytes, Infallible>;

/// A server behind the gateway. What it does is told by the path.
#[derive(Debug)]
pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    pub(crate) seen: Arc<Seen>,
    task: JoinHandle<()>,
}

/// What a server has seen.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    pub(crate) connections: AtomicU64,
    pub(crate) requests: AtomicU64,
    pub(crate) body_bytes: AtomicU64,
    /// Answers that were started and not finished.
    pub(crate) cancelled: AtomicU64,
    /// `/gate` answers once this is notified.
    pub(crate) open: Notify,
}

/// What a server speaks.
#[derive(Clone)]
pub(crate) enum Speaks {
    Http1,
    Http2,
    /// HTTP/2, but only one request of a connection is dealt with at a time.
    OneAtATime,
    /// What is agreed on in the handshake.
    Tls(Arc<rustls::ServerConfig>),
}

impl Server {
    pub(crate) async fn http1() -> Self {
        Self::start(Speaks::Http1, None).await
    }

    pub(crate) async fn http2() -> Self {
        Self::start(Speaks::Http2, None).await
    }

    pub(crate) async fn start(speaks: Speaks, address: Option<SocketAddr>) -> Self {
        let listener = TcpListener::bind(address.unwrap_or(([127, 0, 0, 1], 0).into())).await.unwrap();
        let address = listener.local_addr().unwrap();
        let seen = Arc::new(Seen::default());
        let task = tokio::spawn(accept(listener, Arc::clone(&seen), speaks));
        Self { address, seen, task }
    }

    pub(crate) fn requests(&self) -> u64 {
        self.seen.requests.load(Ordering::SeqCst)
    }

    pub(crate) fn connections(&self) -> u64 {
        self.seen.connections.load(Ordering::SeqCst)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// An address where nobody listens.
pub(crate) async fn nobody() -> SocketAddr {
    TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap()
}

async fn accept(listener: TcpListener, seen: Arc<Seen>, speaks: Speaks) {
    // Connections end with the server.
    let mut connections = tokio::task::JoinSet::new();
    while let Ok((stream, _)) = listener.accept().await {
        stream.set_nodelay(true).unwrap();
        seen.connections.fetch_add(1, Ordering::SeqCst);
        let (seen, speaks) = (Arc::clone(&seen), speaks.clone());
        connections.spawn(async move {
            match speaks {
                Speaks::Http1 => serve(stream, seen, None).await,
                Speaks::Http2 => serve(stream, seen, Some(200)).await,
                Speaks::OneAtATime => serve(stream, seen, Some(1)).await,
                Speaks::Tls(config) => {
                    let Ok(stream) = TlsAcceptor::from(config).accept(stream).await else { return };
                    let is_http2 = stream.get_ref().1.alpn_protocol() == Some(b"h2");
                    serve(stream, seen, is_http2.then_some(200)).await;
                }
            }
        });
    }
}

async fn serve<S: AsyncRead + AsyncWrite + Unpin + Send + 'static>(
    stream: S,
    seen: Arc<Seen>,
    streams: Option<u32>,
) {
    let service = service_fn(move |request| {
        let seen = Arc::clone(&seen);
        async move { Ok::<_, Infallible>(answer(request, seen).await) }
    });
    let io = TokioIo::new(stream);
    if let Some(streams) = streams {
        let mut builder = http2::Builder::new(TokioExecutor::new());
        let _ = builder.max_concurrent_streams(streams).serve_connection(io, service).await;
    } else {
        let _ = http1::Builder::new().serve_connection(io, service).with_upgrades().await;
    }
}

async fn answer(request: Request<Incoming>, seen: Arc<Seen>) -> Response<Outgoing> {
    seen.requests.fetch_add(1, Ordering::SeqCst);
    let path = request.uri().path().to_owned();
    let words: Vec<&str> = path.trim_start_matches('/').split('/').collect();
    match words[..] {
        ["echo"] => Response::new(echo(request.into_body(), seen)),
        ["sink"] => text(&sink(request.into_body(), &seen).await.to_string()),
        ["bytes", count] => Response::new(stream(count.parse().unwrap())),
        ["status", status] => {
            let mut response = text("");
            *response.status_mut() =
                status.parse::<u16>().ok().and_then(|s| StatusCode::from_u16(s).ok()).unwrap();
            response
        }
        ["hang"] => {
            let _guard = Unfinished(seen);
            std::future::pending().await
        }
        ["gate"] => {
            seen.open.notified().await;
            text("open")
        }
        ["early"] => {
            // Answers without having read the body.
            let mut response = text("no");
            *response.status_mut() = StatusCode::FORBIDDEN;
            response
        }
        ["trickle", count, millis] => Response::new(trickle(
            count.parse().unwrap(),
            Duration::from_millis(millis.parse().unwrap()),
            seen,
        )),
        ["trailers"] => with_trailers(),
        // Promises more than it sends.
        ["abort"] => {
            let mut response = Response::new(stream(4));
            response.headers_mut().insert("content-length", HeaderValue::from_static("8"));
            response
        }
        ["upgrade"] => upgrade(request),
        ["headers"] => headers(&request),
        _ => text(&format!("hello {path}")),
    }
}

struct Unfinished(Arc<Seen>);

impl Drop for Unfinished {
    fn drop(&mut self) {
        self.0.cancelled.fetch_add(1, Ordering::SeqCst);
    }
}

fn text(text: &str) -> Response<Outgoing> {
    Response::new(Full::new(Bytes::from(text.to_owned())).boxed())
}

fn headers(request: &Request<Incoming>) -> Response<Outgoing> {
    let fields: Vec<(String, String)> = request
        .headers()
        .iter()
        .map(|(name, value)| (name.to_string(), String::from_utf8_lossy(value.as_bytes()).into_owned()))
        .collect();
    let body = json!({
        "method": request.method().as_str(),
        "uri": request.uri().to_string(),
        "version": format!("{:?}", request.version()),
        "headers": fields,
    });
    let mut response = text(&body.to_string());
    // Things that must not reach the client.
    let private = HeaderName::from_static("x-private");
    response.headers_mut().insert(private, HeaderValue::from_static("1"));
    if request.version() == http::Version::HTTP_11 {
        response.headers_mut().insert(CONNECTION, HeaderValue::from_static("x-private"));
        response.headers_mut().insert("keep-alive", HeaderValue::from_static("timeout=5"));
    }
    response.headers_mut().insert("x-kept", HeaderValue::from_static("1"));
    response
}

async fn sink(mut body: Incoming, seen: &Arc<Seen>) -> u64 {
    let mut count = 0;
    while let Some(frame) = body.frame().await {
        let Ok(frame) = frame else {
            seen.cancelled.fetch_add(1, Ordering::SeqCst);
            break;
        };
        let length = frame.data_ref().map_or(0, Bytes::len) as u64;
        count += length;
        seen.body_bytes.fetch_add(length, Ordering::SeqCst);
    }
    count
}

fn echo(mut body: Incoming, seen: Arc<Seen>) -> Outgoing {
    channel(move |to| async move {
        while let Some(frame) = body.frame().await {
            let Ok(frame) = frame else { break };
            if to.send(frame).await.is_err() {
                seen.cancelled.fetch_add(1, Ordering::SeqCst);
                return;
            }
        }
    })
}

fn stream(count: u64) -> Outgoing {
    channel(move |to| async move {
        let chunk = Bytes::from(vec![b'x'; 64 * 1024]);
        let mut left = count;
        while left > 0 {
            let here = usize::try_from(left.min(chunk.len() as u64)).unwrap();
            if to.send(Frame::data(chunk.slice(..here))).await.is_err() {
                return;
            }
            left -= here as u64;
        }
    })
}

fn trickle(count: u64, pause: Duration, seen: Arc<Seen>) -> Outgoing {
    channel(move |to| async move {
        for _ in 0..count {
            if to.send(Frame::data(Bytes::from_static(b"drop"))).await.is_err() {
                seen.cancelled.fetch_add(1, Ordering::SeqCst);
                return;
            }
            tokio::time::sleep(pause).await;
        }
    })
}

fn with_trailers() -> Response<Outgoing> {
    let body = channel(|to| async move {
        let _ = to.send(Frame::data(Bytes::from_static(b"body"))).await;
        let mut trailers = HeaderMap::new();
        trailers.insert("x-checksum", HeaderValue::from_static("42"));
        let _ = to.send(Frame::trailers(trailers)).await;
    });
    let mut response = Response::new(body);
    response.headers_mut().insert("trailer", HeaderValue::from_static("x-checksum"));
    response
}

fn upgrade(request: Request<Incoming>) -> Response<Outgoing> {
    let mut response = text("");
    let Some(protocol) = request.headers().get(UPGRADE).cloned() else {
        *response.status_mut() = StatusCode::UPGRADE_REQUIRED;
        return response;
    };
    *response.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
    response.headers_mut().insert(UPGRADE, protocol);
    response.headers_mut().insert(CONNECTION, HeaderValue::from_static("upgrade"));
    tokio::spawn(async move {
        let mut io = TokioIo::new(hyper::upgrade::on(request).await.unwrap());
        let mut buffer = [0; 4096];
        while let Ok(count @ 1..) = io.read(&mut buffer).await {
            io.write_all(&buffer[..count]).await.unwrap();
        }
    });
    response
}

/// A body that is produced by a task.
fn channel<F>(produce: impl FnOnce(mpsc::Sender<Frame<Bytes>>) -> F) -> Outgoing
where
    F: Future<Output = ()> + Send + 'static,
{
    let (to, from) = mpsc::channel(4);
    tokio::spawn(produce(to));
    Produced(from).boxed()
}

struct Produced(mpsc::Receiver<Frame<Bytes>>);

impl Body for Produced {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: std::pin::Pin<&mut Self>,
        cx: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        self.0.poll_recv(cx).map(|frame| frame.map(Ok))
    }
}
