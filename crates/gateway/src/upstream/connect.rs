use super::endpoint::Endpoint;
use super::http1::Http1;
use crate::downstream::Socket;
use crate::plan::tls;
use http_body::Body;
use hyper::client::conn::http2;
use hyper::rt::Executor;
use hyper_util::rt::{TokioIo, TokioTimer};
use std::error::Error;
use std::fmt;
use std::future::Future;
use std::io;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tollgate_config::gateway::Protocol;

/// How much an HTTP/2 server may send ahead for one request, and for all of a connection.
const STREAM_WINDOW: u32 = 1024 * 1024;
const CONNECTION_WINDOW: u32 = 4 * 1024 * 1024;

/// How often an HTTP/2 server is asked whether it is still there, and how long it may take to say so.
const PING_INTERVAL: Duration = Duration::from_secs(20);
const PING_TIMEOUT: Duration = Duration::from_secs(10);

/// Why there is no connection to a server.
#[derive(Debug)]
pub(crate) enum ConnectError {
    /// It did not let us in.
    Refused(io::Error),
    /// It took too long.
    Timeout,
    /// It lets us in, but does not speak the protocol.
    Protocol(hyper::Error),
}

impl fmt::Display for ConnectError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(error) => error.fmt(f),
            Self::Timeout => f.write_str("timed out"),
            Self::Protocol(error) => error.fmt(f),
        }
    }
}

/// A connection to a server that can take requests.
pub(crate) enum Opened<B> {
    Http1(Box<Http1<B>>),
    Http2(http2::SendRequest<B>),
}

/// Runs what hyper needs to have run on this thread.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LocalExecutor;

impl<F> Executor<F> for LocalExecutor
where
    F: Future + 'static,
    F::Output: 'static,
{
    fn execute(&self, future: F) {
        tokio::task::spawn_local(future);
    }
}

/// Opens a connection, by HTTP/1 in any case if `only_http1`.
pub(crate) async fn connect<B>(
    endpoint: &Endpoint,
    only_http1: bool,
    limit: Duration,
) -> Result<Opened<B>, ConnectError>
where
    B: Body + Unpin + 'static,
    B::Data: Send,
    B::Error: Into<Box<dyn Error + Send + Sync>>,
{
    tokio::time::timeout(limit, open(endpoint, only_http1)).await.unwrap_or(Err(ConnectError::Timeout))
}

async fn open<B>(endpoint: &Endpoint, only_http1: bool) -> Result<Opened<B>, ConnectError>
where
    B: Body + Unpin + 'static,
    B::Data: Send,
    B::Error: Into<Box<dyn Error + Send + Sync>>,
{
    let server = &endpoint.server;
    let tcp = TcpStream::connect((server.host.as_str(), server.port)).await.map_err(ConnectError::Refused)?;
    tcp.set_nodelay(true).map_err(ConnectError::Refused)?;
    let Some(encryption) = &endpoint.encryption else {
        let is_http2 = endpoint.protocol == Protocol::Http2 && !only_http1;
        return handshake(Socket::Plain(tcp), is_http2).await;
    };
    let config = if only_http1 { &encryption.http1 } else { &encryption.preferred };
    let connector = TlsConnector::from(Arc::clone(config));
    let stream = connector.connect(encryption.name.clone(), tcp).await.map_err(ConnectError::Refused)?;
    let is_http2 = tls::is_http2(stream.get_ref().1.alpn_protocol());
    handshake(Socket::Opened(Box::new(stream)), is_http2).await
}

async fn handshake<B>(socket: Socket, is_http2: bool) -> Result<Opened<B>, ConnectError>
where
    B: Body + Unpin + 'static,
    B::Data: Send,
    B::Error: Into<Box<dyn Error + Send + Sync>>,
{
    if is_http2 {
        let io = TokioIo::new(socket);
        let mut builder = http2::Builder::new(LocalExecutor);
        builder.timer(TokioTimer::new());
        builder.initial_stream_window_size(STREAM_WINDOW).initial_connection_window_size(CONNECTION_WINDOW);
        builder.keep_alive_interval(PING_INTERVAL).keep_alive_timeout(PING_TIMEOUT);
        let (sender, connection) = builder.handshake(io).await.map_err(ConnectError::Protocol)?;
        tokio::task::spawn_local(connection);
        return Ok(Opened::Http2(sender));
    }
    Ok(Opened::Http1(Box::new(Http1::new(socket))))
}
