use crate::throttle::Outcome;
use http::header::{CONTENT_TYPE, RETRY_AFTER};
use http::request::Parts;
use http::{HeaderMap, HeaderName, HeaderValue, Response, StatusCode};
use std::time::Duration;

const LIMIT: HeaderName = HeaderName::from_static("x-ratelimit-limit");
const REMAINING: HeaderName = HeaderName::from_static("x-ratelimit-remaining");
const RESET: HeaderName = HeaderName::from_static("x-ratelimit-reset");
const GRPC_STATUS: HeaderName = HeaderName::from_static("grpc-status");
const GRPC_MESSAGE: HeaderName = HeaderName::from_static("grpc-message");

/// `RESOURCE_EXHAUSTED`.
const EXHAUSTED: HeaderValue = HeaderValue::from_static("8");

/// Whether the request is a call of gRPC.
pub(super) fn is_grpc(parts: &Parts) -> bool {
    let kind = parts.headers.get(CONTENT_TYPE).map(HeaderValue::as_bytes);
    kind.and_then(|kind| kind.strip_prefix(b"application/grpc")).is_some_and(|rest| {
        // Not what only begins alike, such as application/grpc-web, whose answers look different.
        rest.is_empty() || rest.starts_with(b"+") || rest.starts_with(b";")
    })
}

/// The answer to a request that may not pass. A call of gRPC has its answer in the header, there being nothing else.
pub(super) fn refusal<R: Default>(outcome: &Outcome, is_grpc: bool, is_told: bool) -> Response<R> {
    let mut response = Response::new(R::default());
    let headers = response.headers_mut();
    if let Some(wait) = outcome.retry_after {
        headers.insert(RETRY_AFTER, HeaderValue::from(seconds(wait).max(1)));
    }
    if is_told {
        describe(outcome, headers);
    }
    if is_grpc {
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/grpc"));
        headers.insert(GRPC_STATUS, EXHAUSTED);
        headers.insert(GRPC_MESSAGE, HeaderValue::from_static("rate limit exceeded"));
    } else {
        *response.status_mut() = StatusCode::TOO_MANY_REQUESTS;
    }
    response
}

/// Says what is left.
pub(super) fn describe(outcome: &Outcome, headers: &mut HeaderMap) {
    headers.insert(LIMIT, HeaderValue::from(outcome.limit));
    headers.insert(REMAINING, HeaderValue::from(outcome.remaining));
    headers.insert(RESET, HeaderValue::from(seconds(outcome.reset_after)));
}

/// Rounded up: whoever comes back then must not be early.
fn seconds(time: Duration) -> u64 {
    time.as_secs() + u64::from(time.subsec_nanos() > 0)
}
