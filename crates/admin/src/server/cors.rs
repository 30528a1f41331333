//! What browsers are told about pages of other origins: those that the settings name may use the API, and no others.

use crate::state::Shared;
use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};

/// What a page may do, once the browser has asked.
const ALLOWED: [(HeaderName, &str); 3] = [
    (header::ACCESS_CONTROL_ALLOW_METHODS, "GET, POST, PUT, DELETE"),
    (header::ACCESS_CONTROL_ALLOW_HEADERS, "authorization, content-type, if-match, if-none-match"),
    (header::ACCESS_CONTROL_MAX_AGE, "600"),
];

/// What a page may read of an answer besides its body.
const EXPOSED: &str = "ETag, Location, Retry-After";

/// Answers browsers that ask what a page may do, and lets pages of named origins read answers.
pub(super) async fn answer(State(admin): State<Shared>, request: Request, next: Next) -> Response {
    if admin.settings.origins.is_empty() || !request.uri().path().starts_with("/api/") {
        return next.run(request).await;
    }
    let origin = named(request.headers(), &admin.settings.origins);
    let is_question = request.method() == Method::OPTIONS
        && request.headers().contains_key(header::ACCESS_CONTROL_REQUEST_METHOD);
    let mut response = match &origin {
        Some(_) if is_question => (StatusCode::NO_CONTENT, ALLOWED).into_response(),
        _ => next.run(request).await,
    };
    let headers = response.headers_mut();
    headers.append(header::VARY, HeaderValue::from_static("origin"));
    if let Some(origin) = origin {
        headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
        // The session goes on by a cookie.
        headers.insert(header::ACCESS_CONTROL_ALLOW_CREDENTIALS, HeaderValue::from_static("true"));
        headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static(EXPOSED));
    }
    response
}

/// The origin of the page that asks, if it is one of those.
fn named(headers: &HeaderMap, origins: &[String]) -> Option<HeaderValue> {
    let origin = headers.get(header::ORIGIN)?;
    let text = origin.to_str().ok()?;
    origins.iter().any(|allowed| allowed.eq_ignore_ascii_case(text)).then(|| origin.clone())
}
