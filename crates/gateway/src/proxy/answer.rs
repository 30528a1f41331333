//! Answers of our own.

use super::headers::X_TOLLGATE_ERROR;
use crate::framing::Fault;
use crate::gate::Refusal;
use bytes::Bytes;
use http::header::{CONNECTION, CONTENT_TYPE, HeaderName};
use http::{HeaderMap, HeaderValue, Response, StatusCode};
use serde_json::json;

const GRPC_STATUS: HeaderName = HeaderName::from_static("grpc-status");
const GRPC_MESSAGE: HeaderName = HeaderName::from_static("grpc-message");

/// An answer of our own.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    headers: HeaderMap,
    body: Bytes,
    /// Why, in one word.
    pub(crate) reason: &'static str,
    pub(crate) cause: Cause,
    /// Whether the connection cannot go on.
    pub(crate) closes: bool,
}

/// Who or what is the reason for an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cause {
    /// The request itself.
    Client,
    /// There is no way for it.
    Route,
    /// The gate.
    Gate,
    /// The server.
    Upstream,
}

impl Answer {
    pub(crate) fn new(status: StatusCode, reason: &'static str, message: &str, cause: Cause) -> Self {
        let body = json!({"error": reason, "message": message}).to_string().into();
        let mut headers = HeaderMap::with_capacity(4);
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(X_TOLLGATE_ERROR, HeaderValue::from_static(reason));
        Self { status, headers, body, reason, cause, closes: false }
    }

    /// A request that was not let in.
    pub(crate) fn fault(fault: Fault) -> Self {
        let message = "the request is malformed or over a limit";
        Self::new(fault.status(), fault.code(), message, Cause::Client).closing()
    }

    pub(crate) fn client(status: StatusCode, reason: &'static str, message: &str) -> Self {
        Self::new(status, reason, message, Cause::Client)
    }

    pub(crate) fn upstream(status: StatusCode, reason: &'static str, message: &str) -> Self {
        Self::new(status, reason, message, Cause::Upstream)
    }

    pub(crate) fn refusal(refusal: Refusal) -> Self {
        let Refusal { status, headers, body, reason } = refusal;
        Self { status, headers, body, reason, cause: Cause::Gate, closes: false }
    }

    /// The connection is closed after it.
    pub(crate) fn closing(self) -> Self {
        Self { closes: true, ..self }
    }

    /// The answer as a message. A gRPC client cannot read ours, so it gets its own kind.
    pub(crate) fn into_response(self, is_grpc: bool, is_http2: bool) -> Response<Bytes> {
        let Self { status, mut headers, mut body, reason, closes, .. } = self;
        let mut status = status;
        if is_grpc {
            headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/grpc"));
            headers.insert(GRPC_STATUS, HeaderValue::from(grpc_code(status)));
            headers.insert(GRPC_MESSAGE, HeaderValue::from_static(reason));
            body = Bytes::new();
            status = StatusCode::OK;
        }
        if closes && !is_http2 {
            headers.insert(CONNECTION, HeaderValue::from_static("close"));
        }
        let mut response = Response::new(body);
        *response.status_mut() = status;
        *response.headers_mut() = headers;
        response
    }
}

/// The gRPC code for a status.
fn grpc_code(status: StatusCode) -> u16 {
    const INVALID_ARGUMENT: u16 = 3;
    const DEADLINE_EXCEEDED: u16 = 4;
    const PERMISSION_DENIED: u16 = 7;
    const RESOURCE_EXHAUSTED: u16 = 8;
    const UNIMPLEMENTED: u16 = 12;
    const UNAVAILABLE: u16 = 14;
    const UNAUTHENTICATED: u16 = 16;
    match status.as_u16() {
        401 => UNAUTHENTICATED,
        403 => PERMISSION_DENIED,
        404 => UNIMPLEMENTED,
        408 | 504 => DEADLINE_EXCEEDED,
        413 | 429 | 431 => RESOURCE_EXHAUSTED,
        400..=499 => INVALID_ARGUMENT,
        _ => UNAVAILABLE,
    }
}
