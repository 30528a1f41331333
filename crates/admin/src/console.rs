//! The console, which is part of the program.

use axum::response::{IntoResponse, Response};
use http::{HeaderMap, HeaderValue, Method, StatusCode, Uri, header};
use rust_embed::RustEmbed;

/// What `console/dist` had in it when the program was built.
#[derive(RustEmbed)]
#[folder = "../../console/dist"]
#[allow_missing = true]
struct Assets;

const PAGE: &str = "index.html";

const NOT_BUILT: &str = "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>Tollgate</title>\
    <h1>Tollgate</h1><p>The console is not part of this build. Build it with <code>npm ci &amp;&amp; npm run build</code> \
    in <code>console</code>, then build the program again.</p><p>The API is described at \
    <a href=\"/api/v1/openapi.json\">/api/v1/openapi.json</a>.</p></html>";

/// Names with a hash in them never mean anything else.
const FOR_EVER: &str = "public, max-age=31536000, immutable";

/// Serves a file of the console. Any other path is a page of it, which the console finds by itself.
pub(crate) async fn serve(method: Method, uri: Uri, headers: HeaderMap) -> Response {
    if method != Method::GET && method != Method::HEAD {
        return StatusCode::METHOD_NOT_ALLOWED.into_response();
    }
    let path = uri.path().trim_start_matches('/');
    match file(path, &headers) {
        Some(response) => response,
        // A file that is missing is missing; a page is not.
        None if path.starts_with("assets/") => StatusCode::NOT_FOUND.into_response(),
        None => file(PAGE, &headers).unwrap_or_else(not_built),
    }
}

fn not_built() -> Response {
    ([(header::CONTENT_TYPE, "text/html; charset=utf-8"), (header::CACHE_CONTROL, "no-cache")], NOT_BUILT)
        .into_response()
}

/// The file in the smallest form that the client takes.
fn file(path: &str, headers: &HeaderMap) -> Option<Response> {
    let path = if path.is_empty() { PAGE } else { path };
    let plain = Assets::get(path)?;
    let accepted =
        headers.get(header::ACCEPT_ENCODING).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let packed = [("br", "br"), ("gzip", "gz")]
        .into_iter()
        .filter(|(name, _)| accepts(accepted, name))
        .find_map(|(name, suffix)| Assets::get(&format!("{path}.{suffix}")).map(|file| (name, file)));
    let tag = format!("\"{}\"", crate::secret::hex(&plain.metadata.sha256_hash()[..16]));
    let kind = plain.metadata.mimetype().to_owned();
    let seen = headers.get(header::IF_NONE_MATCH).is_some_and(|seen| seen.as_bytes() == tag.as_bytes());
    let (encoding, data) = match packed {
        Some((name, file)) => (Some(name), file.data),
        None => (None, plain.data),
    };
    let mut response =
        if seen { StatusCode::NOT_MODIFIED.into_response() } else { data.into_owned().into_response() };
    let cache = if path.starts_with("assets/") { FOR_EVER } else { "no-cache" };
    let headers = response.headers_mut();
    let kind = if kind.starts_with("text/") { format!("{kind}; charset=utf-8") } else { kind };
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_str(&kind).ok()?);
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static(cache));
    headers.insert(header::ETAG, HeaderValue::from_str(&tag).ok()?);
    headers.insert(header::VARY, HeaderValue::from_static("accept-encoding"));
    if let Some(encoding) = encoding {
        headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static(encoding));
    }
    Some(response)
}

/// Whether a list of encodings has this one, and not at zero.
fn accepts(list: &str, name: &str) -> bool {
    list.split(',').any(|item| {
        let mut parts = item.split(';').map(str::trim);
        parts.next().is_some_and(|item| item.eq_ignore_ascii_case(name))
            && !parts.any(|part| matches!(part, "q=0" | "q=0.0"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encodings_are_read_as_they_are_written() {
        assert!(accepts("gzip, deflate, br", "br"));
        assert!(accepts("BR;q=0.5", "br"));
        assert!(!accepts("gzip, br;q=0", "br"));
        assert!(!accepts("", "gzip") && !accepts("x-gzip", "gzip"));
    }
}
