//! Header fields that a gateway has to look after.

use super::X_REQUEST_ID;
use crate::plan::X_FORWARDED_FOR;
use http::header::{
    AUTHORIZATION, CONNECTION, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_RANGE, CONTENT_TYPE, COOKIE, EXPECT,
    FORWARDED, HOST, HeaderName, PROXY_AUTHORIZATION, SET_COOKIE, TE, TRAILER, TRANSFER_ENCODING, UPGRADE,
};
use http::{HeaderMap, HeaderValue};

/// `X-Forwarded-Proto`
pub(super) const X_FORWARDED_PROTO: HeaderName = HeaderName::from_static("x-forwarded-proto");

/// `X-Forwarded-Host`
pub(super) const X_FORWARDED_HOST: HeaderName = HeaderName::from_static("x-forwarded-host");

/// `X-Tollgate-Error` says that an answer is ours, and why it was given.
pub(super) const X_TOLLGATE_ERROR: HeaderName = HeaderName::from_static("x-tollgate-error");

/// The fields that are looked for in every message. The first [`HOP_BY_HOP`] go no further than one connection, whether `Connection`
/// lists them or not.
static KNOWN: [HeaderName; 16] = [
    CONNECTION,
    TRANSFER_ENCODING,
    UPGRADE,
    HeaderName::from_static("keep-alive"),
    HeaderName::from_static("proxy-connection"),
    TE,
    PROXY_AUTHORIZATION,
    HeaderName::from_static("http2-settings"),
    CONTENT_TYPE,
    EXPECT,
    FORWARDED,
    X_FORWARDED_FOR,
    X_FORWARDED_PROTO,
    X_FORWARDED_HOST,
    X_REQUEST_ID,
    X_TOLLGATE_ERROR,
];

const HOP_BY_HOP: usize = 8;

/// Where a name stands among those.
fn place_of(name: &str) -> Option<usize> {
    Some(match name {
        "connection" => 0,
        "transfer-encoding" => 1,
        "upgrade" => 2,
        "keep-alive" => 3,
        "proxy-connection" => 4,
        "te" => 5,
        "proxy-authorization" => 6,
        "http2-settings" => 7,
        "content-type" => 8,
        "expect" => 9,
        "forwarded" => 10,
        "x-forwarded-for" => 11,
        "x-forwarded-proto" => 12,
        "x-forwarded-host" => 13,
        "x-request-id" => 14,
        "x-tollgate-error" => 15,
        _ => return None,
    })
}

/// Which of the known fields a message came with. Most have few of them, and what is not there need not be looked up.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seen(u16);

impl Seen {
    pub(super) fn of(headers: &HeaderMap) -> Self {
        Self(headers.keys().filter_map(|name| place_of(name.as_str())).fold(0, |seen, at| seen | 1 << at))
    }

    fn at(self, place: usize) -> bool {
        self.0 >> place & 1 == 1
    }

    /// Whether a known field was there.
    pub(super) fn has(self, name: &HeaderName) -> bool {
        place_of(name.as_str()).is_some_and(|at| self.at(at))
    }

    /// The first value of a known field, if it was there.
    pub(super) fn get<'a>(self, headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a HeaderValue> {
        if self.has(name) { headers.get(name) } else { None }
    }

    /// Removes a known field.
    pub(super) fn remove(self, headers: &mut HeaderMap, name: &HeaderName) {
        if self.has(name) {
            headers.remove(name);
        }
    }

    /// Removes what concerns only the connection a message came by.
    pub(super) fn strip_hop_by_hop(self, headers: &mut HeaderMap) {
        if self.at(0) {
            strip_listed(headers);
        }
        for (place, name) in KNOWN[..HOP_BY_HOP].iter().enumerate() {
            if self.at(place) {
                headers.remove(name);
            }
        }
    }
}

/// The most names that one `Connection` field may list.
const MAX_LISTED: usize = 32;

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
    name.as_str().starts_with("x-forwarded-") || name == "forwarded" || name == X_REQUEST_ID
}

/// Removes from the trailers of a request what would change its meaning, and what says who sent it: that was judged by its
/// head, and servers that put both together would take it for our word. `vouching` are the fields that name applications.
pub(super) fn strip_request_trailers(trailers: &mut HeaderMap, vouching: &[HeaderName]) {
    strip_trailers(trailers, |name| {
        [AUTHORIZATION, COOKIE, EXPECT].contains(name) || is_ours(name) || vouching.contains(name)
    });
}

/// Removes from the trailers of a response what would change its meaning, and what only we say.
pub(super) fn strip_response_trailers(trailers: &mut HeaderMap) {
    const OURS: [&str; 3] = ["x-tollgate-", "x-ratelimit-", "ratelimit"];
    strip_trailers(trailers, |name| {
        [SET_COOKIE, X_REQUEST_ID].contains(name) || OURS.iter().any(|ours| name.as_str().starts_with(ours))
    });
}

fn strip_trailers(trailers: &mut HeaderMap, is_more: impl Fn(&HeaderName) -> bool) {
    Seen::of(trailers).strip_hop_by_hop(trailers);
    let framing = [HOST, CONTENT_LENGTH, TRAILER, CONTENT_TYPE, CONTENT_ENCODING, CONTENT_RANGE];
    let is_banned = |name: &&HeaderName| framing.contains(name) || is_more(name);
    let banned: Vec<HeaderName> = trailers.keys().filter(is_banned).cloned().collect();
    for name in banned {
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
        Seen::of(&headers).strip_hop_by_hop(&mut headers);
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
    fn trailers_say_neither_who_asks_nor_what_it_costs() {
        let names = |trailers: &HeaderMap| trailers.keys().map(ToString::to_string).collect::<Vec<_>>();
        let vouching = [HeaderName::from_static("x-tollgate-app"), HeaderName::from_static("x-tenant-key")];
        let banned = [
            "x-forwarded-for",
            "x-forwarded-port",
            "forwarded",
            "x-request-id",
            "cookie",
            "authorization",
            "x-tollgate-app",
            "x-tenant-key",
            "transfer-encoding",
            "te",
            "content-length",
            "host",
            "trailer",
        ];
        let of = |names: &[&'static str]| {
            let field = |name: &&'static str| (HeaderName::from_static(name), HeaderValue::from_static("x"));
            names.iter().map(field).collect::<HeaderMap>()
        };
        let mut trailers = of(&[&banned[..], &["x-checksum"]].concat());
        strip_request_trailers(&mut trailers, &vouching);
        assert_eq!(names(&trailers), ["x-checksum"]);

        let banned = [
            "set-cookie",
            "x-tollgate-error",
            "x-tollgate-shadow",
            "x-ratelimit-cost",
            "ratelimit",
            "x-request-id",
            "ratelimit-policy",
            "connection",
            "keep-alive",
            "transfer-encoding",
            "content-length",
            "upgrade",
        ];
        let mut trailers = of(&[&banned[..], &["grpc-status"]].concat());
        strip_response_trailers(&mut trailers);
        assert_eq!(names(&trailers), ["grpc-status"]);
    }

    #[test]
    fn a_glance_sees_all_of_them() {
        for (place, name) in KNOWN.iter().enumerate() {
            assert_eq!(place_of(name.as_str()), Some(place));
            let seen = Seen::of(&HeaderMap::from_iter([(name.clone(), HeaderValue::from_static("x"))]));
            assert!(KNOWN.iter().all(|other| seen.has(other) == (other == name)), "{name}");
        }
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
