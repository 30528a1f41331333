//! Requests to other systems.

use bytes::Bytes;
use http::{Method, Request, StatusCode, Uri, header};
use http_body_util::{BodyExt, Full, Limited};
use hyper_util::rt::TokioIo;
use rustls::pki_types::ServerName;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

/// The most bytes of an answer that are read.
const MAX_ANSWER: usize = 64 << 10;

/// An address of the host of a URL that may be used.
pub(crate) async fn look_up(uri: &Uri, may_use: impl Fn(IpAddr) -> bool) -> Result<SocketAddr, String> {
    let port = uri.port_u16().unwrap_or(if is_tls(uri) { 443 } else { 80 });
    let found = tokio::net::lookup_host((host(uri), port)).await.map_err(|error| error.to_string())?;
    let address = found.into_iter().find(|address| may_use(address.ip()));
    address.ok_or_else(|| "the host has no public address".into())
}

/// Posts JSON to a URL, whose host is at that address. Whoever is not satisfied with it says why.
pub(crate) async fn post(
    uri: &Uri,
    address: SocketAddr,
    headers: &[(&'static str, String)],
    body: Bytes,
) -> Result<(), String> {
    let headers: Vec<(&str, &str)> = headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let (status, _) = call(Method::POST, uri, address, &headers, body).await?;
    if status.is_success() { Ok(()) } else { Err(format!("it answered {status}")) }
}

/// Gets what is at a URL, whose host is at that address, with its status.
pub(crate) async fn get(
    uri: &Uri,
    address: SocketAddr,
    headers: &[(&'static str, &str)],
) -> Result<(StatusCode, Bytes), String> {
    call(Method::GET, uri, address, headers, Bytes::new()).await
}

async fn call(
    method: Method,
    uri: &Uri,
    address: SocketAddr,
    headers: &[(&str, &str)],
    body: Bytes,
) -> Result<(StatusCode, Bytes), String> {
    let mut request = Request::builder()
        .method(&method)
        .uri(uri.path_and_query().map_or("/", |path| path.as_str()))
        .header(header::HOST, uri.authority().map_or("", |authority| authority.as_str()))
        .header(header::USER_AGENT, concat!("tollgate/", env!("CARGO_PKG_VERSION")));
    if method == Method::POST {
        request = request.header(header::CONTENT_TYPE, "application/json");
    }
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let request = request.body(Full::new(body)).map_err(|error| error.to_string())?;
    let stream = TcpStream::connect(address).await.map_err(|error| error.to_string())?;
    if is_tls(uri) {
        let name = ServerName::try_from(host(uri).to_owned()).map_err(|error| error.to_string())?;
        let stream = tls()?.connect(name, stream).await.map_err(|error| error.to_string())?;
        exchange(stream, request).await
    } else {
        exchange(stream, request).await
    }
}

async fn exchange<S>(stream: S, request: Request<Full<Bytes>>) -> Result<(StatusCode, Bytes), String>
where
    S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    let handshake = hyper::client::conn::http1::handshake(TokioIo::new(stream));
    let (mut sender, connection) = handshake.await.map_err(|error| error.to_string())?;
    let connection = tokio::spawn(connection);
    let response = sender.send_request(request).await.map_err(|error| error.to_string())?;
    let status = response.status();
    let body = Limited::new(response.into_body(), MAX_ANSWER).collect().await;
    connection.abort();
    // Whether it was taken is told by the status: what is said besides may be too long.
    Ok((status, body.map(http_body_util::Collected::to_bytes).unwrap_or_default()))
}

fn host(uri: &Uri) -> &str {
    uri.host().unwrap_or_default().trim_matches(['[', ']'])
}

fn is_tls(uri: &Uri) -> bool {
    uri.scheme_str() == Some("https")
}

fn tls() -> Result<TlsConnector, String> {
    let mut roots = rustls::RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = rustls::ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let config =
        builder.map_err(|error| error.to_string())?.with_root_certificates(roots).with_no_client_auth();
    Ok(TlsConnector::from(Arc::new(config)))
}
