//! What holds for every call: limits, and headers that keep browsers out of trouble.

use crate::auth::caller::client_ip;
use crate::state::Shared;
use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use http::{HeaderName, HeaderValue, header};
use tokio::sync::watch;

/// Where nobody is limited: those who look after the process must always get an answer.
const OPEN: [&str; 3] = ["/health", "/ready", "/metrics"];

/// Limits calls by address, by our own limiter.
pub(super) async fn limit(State(admin): State<Shared>, request: Request, next: Next) -> Response {
    if !OPEN.contains(&request.uri().path()) {
        let (parts, body) = request.into_parts();
        let ip = client_ip(&parts, &admin.settings.trusted_proxies);
        if let Err(problem) = admin.throttle.call(ip) {
            return problem.into_response();
        }
        return next.run(Request::from_parts(parts, body)).await;
    }
    next.run(request).await
}

/// Tells who is answered while the server closes that there will be no more answers on this connection.
pub(super) async fn part(
    State(closing): State<watch::Receiver<bool>>,
    request: Request,
    next: Next,
) -> Response {
    let mut response = next.run(request).await;
    if *closing.borrow() {
        let close = HeaderValue::from_static("close");
        // A WebSocket goes on as one.
        response.headers_mut().entry(header::CONNECTION).or_insert(close);
    }
    response
}

const HEADERS: [(HeaderName, &str); 6] = [
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::X_FRAME_OPTIONS, "DENY"),
    (header::REFERRER_POLICY, "no-referrer"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    (HeaderName::from_static("permissions-policy"), "camera=(), geolocation=(), microphone=()"),
];

/// Scripts only from here; styles also inline, which the console's components need.
const POLICY: &str = "default-src 'self'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; \
                      font-src 'self' data:; connect-src 'self'; object-src 'none'; base-uri 'none'; form-action 'self'; \
                      frame-ancestors 'none'";

/// Adds the headers, and keeps what the API says out of caches.
pub(super) async fn headers(request: Request, next: Next) -> Response {
    let is_api = request.uri().path().starts_with("/api/");
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
    for (name, value) in HEADERS {
        headers.insert(name, HeaderValue::from_static(value));
    }
    headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    if is_api && !headers.contains_key(header::CACHE_CONTROL) {
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    }
    response
}
