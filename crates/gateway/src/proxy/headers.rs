//! Header fields that go no further than one connection.

use http::header::{
    CONNECTION, CONTENT_LENGTH, HOST, HeaderName, PROXY_AUTHORIZATION, TE, TRAILER, TRANSFER_ENCODING,
    UPGRADE,
};
use http::{HeaderMap, HeaderValue};

const KEEP_ALIVE: HeaderName = HeaderName::from_static("keep-alive");
const PROXY_CONNECTION: HeaderName = HeaderName::from_static("proxy-connection");
const HTTP2_SETTINGS: HeaderName = HeaderName::from_static("http2-settings");

/// What goes no further, whether `Connection` lists it or not; and `Connection` itself.
static HOP_BY_HOP: [HeaderName; 8] = [
    CONNECTION,
    TRANSFER_ENCODING,
    UPGRADE,
    KEEP_ALIVE,
    PROXY_CONNECTION,
    TE,
    PROXY_AUTHORIZATION,
    HTTP2_SETTINGS,
];

/// The same, to see at a glance that a name is none of them.
fn is_hop_by_hop(name: &str) -> bool {
    matches!(
        name,
        "connection"
            | "transfer-encoding"
            | "upgrade"
            | "keep-alive"
            | "proxy-connection"
            | "te"
            | "proxy-authorization"
            | "http2-settings"
    )
}

/// The most names that one `Connection` field may list.
const MAX_LISTED: usize = 32;

/// Removes what concerns only the connection a message came by. Most messages have little of it: only what is seen is looked up.
pub(crate) fn strip_hop_by_hop(headers: &mut HeaderMap) {
    let mut is_there = [false; HOP_BY_HOP.len()];
    for name in headers.keys().filter(|name| is_hop_by_hop(name.as_str())) {
        if let Some(at) = HOP_BY_HOP.iter().position(|known| known == name) {
            is_there[at] = true;
        }
    }
    if is_there[0] {
        strip_listed(headers);
    }
    for (name, _) in HOP_BY_HOP.iter().zip(is_there).filter(|(_, is_there)| *is_there) {
        headers.remove(name);
    }
}

/// Removes what `Connection` lists, but not what a message cannot do without: nobody but the client and the server has a say in
/// these.
fn strip_listed(headers: &mut HeaderMap) {
    let values = headers.get_all(CONNECTION).iter().filter_map(|value| value.to_str().ok());
    let words = values.flat_map(|value| value.split(',')).map(str::trim);
    // What nearly all of them say, and no field.
    let words =
        words.filter(|word| !["keep-alive", "close"].iter().any(|usual| word.eq_ignore_ascii_case(usual)));
    let listed: Vec<HeaderName> = words.filter_map(|word| word.parse().ok()).take(MAX_LISTED).collect();
    let is_vital = |name: &HeaderName| [HOST, CONTENT_LENGTH].contains(name) || is_ours(name);
    for name in listed.into_iter().filter(|name| !is_vital(name)) {
        headers.remove(name);
    }
}

/// What we add ourselves must not be removed by a client that lists it.
fn is_ours(name: &HeaderName) -> bool {
    name.as_str().starts_with("x-forwarded-") || name == "forwarded" || name == super::X_REQUEST_ID
}

/// Removes from trailers what would change the meaning of the message.
pub(crate) fn strip_trailers(trailers: &mut HeaderMap) {
    strip_hop_by_hop(trailers);
    for name in [HOST, CONTENT_LENGTH, TRAILER, http::header::AUTHORIZATION, http::header::CONTENT_TYPE] {
        trailers.remove(name);
    }
}

/// Whether a comma-separated field has this word.
pub(crate) fn lists(headers: &HeaderMap, name: &HeaderName, word: &str) -> bool {
    let values = headers.get_all(name).iter().filter_map(|value: &HeaderValue| value.to_str().ok());
    values.flat_map(|value| value.split(',')).any(|item| item.trim().eq_ignore_ascii_case(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stripped(fields: &[(&str, &str)]) -> Vec<String> {
        let mut headers = HeaderMap::new();
        for (name, value) in fields {
            headers.append(name.parse::<HeaderName>().unwrap(), value.parse().unwrap());
        }
        strip_hop_by_hop(&mut headers);
        let mut left: Vec<String> = headers.keys().map(ToString::to_string).collect();
        left.sort();
        left
    }

    #[test]
    fn what_concerns_one_connection_stays_there() {
        let fields = [
            ("connection", "close, X-Private"),
            ("connection", "x-other"),
            ("x-private", "1"),
            ("x-other", "1"),
            ("keep-alive", "timeout=5"),
            ("te", "trailers"),
            ("transfer-encoding", "chunked"),
            ("upgrade", "h2c"),
            ("proxy-connection", "close"),
            ("proxy-authorization", "Basic x"),
            ("accept", "*/*"),
        ];
        assert_eq!(stripped(&fields), ["accept"]);
    }

    #[test]
    fn a_glance_sees_all_of_them() {
        assert!(HOP_BY_HOP.iter().all(|name| is_hop_by_hop(name.as_str())));
        assert_eq!(HOP_BY_HOP[0], CONNECTION);
    }

    #[test]
    fn nobody_can_have_the_vital_fields_removed() {
        let fields = [
            ("connection", "host, content-length, x-forwarded-for"),
            ("host", "a"),
            ("x-forwarded-for", "1"),
        ];
        assert_eq!(stripped(&fields), ["host", "x-forwarded-for"]);
    }
}
