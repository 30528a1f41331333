//! What must be right about a request before anything is done for it.

use super::answer::Answer;
use super::headers::Seen;
use crate::downstream::Inbound;
use crate::framing::is_host;
use crate::gate::BodySize;
use http::header::{CONTENT_LENGTH, EXPECT, HOST};
use http::request::Parts;
use http::{HeaderMap, HeaderValue, Method, StatusCode, Uri, Version};
use http_body::Body;
use http_body_util::{BodyExt, Limited};
use std::time::Duration;
use tollgate_config::gateway::{Limits, Operations};
use tollgate_core::cost::{Operation, s3};

/// A refused request's body of up to so many bytes is read, to save the connection.
const MAX_READ: u64 = 64 * 1024;

/// For so long.
const READ_PATIENCE: Duration = Duration::from_secs(1);

/// What was found out about a request.
pub(crate) struct Inspected {
    /// Only HTTP/1.0 may have none.
    pub(crate) host: Option<HeaderValue>,
    pub(crate) size: BodySize,
    /// Whether the client waits for leave to send its body.
    pub(crate) expects: bool,
}

impl Inspected {
    /// The host, or nothing.
    pub(crate) fn host(&self) -> &str {
        self.host.as_ref().and_then(|value| value.to_str().ok()).unwrap_or_default()
    }
}

/// Looks at a request. HTTP/1 was looked at byte by byte before; here is what HTTP/2 leaves open, and the limits.
pub(super) fn inspect(
    parts: &Parts,
    seen: Seen,
    body: &Inbound,
    limits: &Limits,
) -> Result<Inspected, Box<Answer>> {
    let host = host(parts).map_err(|reason| bad(reason, body))?;
    if parts.headers.get_all(CONTENT_LENGTH).iter().nth(1).is_some() {
        return Err(bad("content_length_repeated", body));
    }
    if parts.version == Version::HTTP_2 && parts.headers.len() > limits.headers {
        let status = StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE;
        return Err(Answer::client(status, "too_many_headers", "more header fields than allowed").into());
    }
    if parts.method == Method::CONNECT {
        let message = "this is no forward proxy";
        return Err(Answer::client(StatusCode::METHOD_NOT_ALLOWED, "connect_not_allowed", message).into());
    }
    let size = BodySize::of(body);
    if let (BodySize::Known(bytes), Some(limit)) = (size, limits.body_bytes)
        && bytes > limit
    {
        let message = "the body is larger than allowed";
        return Err(Answer::client(StatusCode::PAYLOAD_TOO_LARGE, "body_too_large", message)
            .closing()
            .into());
    }
    let expects = match seen.get(&parts.headers, &EXPECT) {
        None => false,
        Some(value) if value.as_bytes().eq_ignore_ascii_case(b"100-continue") => true,
        Some(_) => {
            let message = "only 100-continue can be expected";
            let answer = Answer::client(StatusCode::EXPECTATION_FAILED, "expectation_failed", message);
            return Err(answer.closing().into());
        }
    };
    Ok(Inspected { host, size, expects })
}

/// The one host a request is for; only HTTP/1.0 may have none.
fn host(parts: &Parts) -> Result<Option<HeaderValue>, &'static str> {
    let mut named = parts.headers.get_all(HOST).iter();
    let (field, another) = (named.next(), named.next());
    if another.is_some() {
        return Err("host_repeated");
    }
    let authority = parts.uri.authority().map(http::uri::Authority::as_str);
    let host = match (authority, field) {
        (Some(authority), Some(field)) if parts.version == Version::HTTP_2 => {
            if !field.as_bytes().eq_ignore_ascii_case(authority.as_bytes()) {
                return Err("host_contradicts_authority");
            }
            field.clone()
        }
        // The target of an HTTP/1 request counts more than its host field.
        (Some(authority), _) => HeaderValue::from_str(authority).map_err(|_| "bad_host")?,
        (None, Some(field)) => field.clone(),
        (None, None) if parts.version == Version::HTTP_10 => return Ok(None),
        (None, None) => return Err("host_missing"),
    };
    if is_host(host.as_bytes()) { Ok(Some(host)) } else { Err("bad_host") }
}

fn bad(reason: &'static str, body: &Inbound) -> Box<Answer> {
    let message = "the request does not say clearly what it is for";
    Answer::client(StatusCode::BAD_REQUEST, reason, message).closing_unless_read(body).into()
}

impl Answer {
    /// The connection can only go on if nothing of the request is left on it.
    pub(super) fn closing_unless_read(self, body: &Inbound) -> Self {
        if body.is_end_stream() { self } else { self.closing() }
    }
}

/// What becomes of the body of a refused request: a small one that is coming anyway is read, so that the
/// connection can go on; any other is left, and the connection closed.
pub(super) async fn settle_body(answer: Answer, body: Inbound, inspected: &Inspected) -> Answer {
    match inspected.size {
        BodySize::Known(0) => answer,
        BodySize::Known(bytes) if bytes <= MAX_READ && !inspected.expects => {
            let limit = usize::try_from(MAX_READ).unwrap_or(usize::MAX);
            let read = tokio::time::timeout(READ_PATIENCE, Limited::new(body, limit).collect());
            let read = Box::pin(read).await;
            if matches!(read, Ok(Ok(_))) { answer } else { answer.closing() }
        }
        _ => answer.closing(),
    }
}

/// What a request does, as far as its price is concerned.
pub(crate) fn operation_of(
    method: &Method,
    uri: &Uri,
    headers: &HeaderMap,
    operations: Operations,
) -> Operation {
    let request = s3::Request {
        method: method.as_str(),
        path: uri.path(),
        query: uri.query().unwrap_or_default(),
        // Looked for only where it says something.
        has_copy_source: method.as_str().eq_ignore_ascii_case("PUT")
            && headers.contains_key("x-amz-copy-source"),
    };
    match operations {
        Operations::S3 => request.operation(s3::Addressing::Path),
        Operations::S3VirtualHost => request.operation(s3::Addressing::VirtualHost),
        // An object without a query is what its method says.
        Operations::Http => s3::Request { path: "/o", query: "", has_copy_source: false, ..request }
            .operation(s3::Addressing::VirtualHost),
    }
}
