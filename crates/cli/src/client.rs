//! Asks a tollgate that is running.

use anyhow::{Context, bail, ensure};
use bytes::Bytes;
use http_body_util::{BodyExt, Full, Limited};
use hyper::client::conn::http1;
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, HOST};
use hyper::{Method, Request, StatusCode};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use std::time::Duration;
use tokio::net::TcpStream;

/// How long an answer may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// The largest answer that is read.
const MAX_BYTES: usize = 16 * 1024 * 1024;

/// What it answered.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) content: Value,
}

/// Sends a request to `http://host:port` and reads the JSON that comes back.
pub(crate) async fn ask(
    base: &str,
    method: Method,
    target: &str,
    body: Option<&Value>,
) -> anyhow::Result<Answer> {
    ask_as(base, "", method, target, body).await
}

/// The same for a door that wants to know who asks.
pub(crate) async fn ask_as(
    base: &str,
    token: &str,
    method: Method,
    target: &str,
    body: Option<&Value>,
) -> anyhow::Result<Answer> {
    let authority = base.strip_prefix("http://").map(|rest| rest.trim_end_matches('/'));
    let Some(authority) = authority.filter(|rest| !rest.is_empty() && !rest.contains('/')) else {
        bail!("not the address of a tollgate (got {base:?}, expected http:// and a host and port)");
    };
    let call = call(authority, token, method, target, body);
    let answer = tokio::time::timeout(PATIENCE, call).await;
    answer.with_context(|| format!("{base} does not answer"))?.with_context(|| format!("cannot ask {base}"))
}

async fn call(
    authority: &str,
    token: &str,
    method: Method,
    target: &str,
    body: Option<&Value>,
) -> anyhow::Result<Answer> {
    let place = if authority.contains(':') { authority.to_owned() } else { format!("{authority}:80") };
    let stream = TcpStream::connect(place).await?;
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
    let driven = tokio::spawn(connection);
    let content = body.map_or_else(Bytes::new, |body| body.to_string().into());
    let mut request = Request::builder().method(method).uri(target).header(HOST, authority);
    if body.is_some() {
        request = request.header(CONTENT_TYPE, "application/json");
    }
    if !token.is_empty() {
        request = request.header(AUTHORIZATION, format!("Bearer {token}"));
    }
    let response = sender.send_request(request.body(Full::new(content))?).await?;
    let status = response.status();
    let content = Limited::new(response.into_body(), MAX_BYTES).collect().await;
    driven.abort();
    let content = content.map_err(|error| anyhow::anyhow!("{error}"))?.to_bytes();
    let content: Value = serde_json::from_slice(&content).context("the answer is not JSON")?;
    ensure!(!status.is_server_error(), "it answered {status}: {content}");
    Ok(Answer { status, content })
}
