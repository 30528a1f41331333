//! Makes of a client's request the one that a server gets.

use super::headers::{lists, strip_hop_by_hop};
use super::{Visitor, X_REQUEST_ID};
use crate::gate::Gate;
use crate::plan::X_FORWARDED_FOR;
use crate::upstream::Endpoint;
use http::header::{CONNECTION, EXPECT, FORWARDED, HOST, HeaderName, TE, UPGRADE};
use http::request::Parts;
use http::uri::{Authority, PathAndQuery};
use http::{HeaderMap, HeaderValue, Uri, Version};

const X_FORWARDED_PROTO: HeaderName = HeaderName::from_static("x-forwarded-proto");
const X_FORWARDED_HOST: HeaderName = HeaderName::from_static("x-forwarded-host");

/// What must be said anew on every connection.
#[derive(Debug)]
pub(crate) struct Manners {
    /// The protocol that the client wants to change to.
    pub(crate) upgrade: Option<HeaderValue>,
    /// Whether it can take trailers.
    trailers: bool,
    /// What the client asked for, if the server is to know.
    host: Option<HeaderValue>,
    target: PathAndQuery,
}

/// Takes out of a request what concerned only the client's connection, and adds where it came from.
pub(crate) fn prepare<G: Gate>(
    parts: &mut Parts,
    visitor: &Visitor<G>,
    host: Option<HeaderValue>,
    preserve_host: bool,
    request_id: &HeaderValue,
    upgrades: bool,
) -> Manners {
    let headers = &mut parts.headers;
    let is_trusted = visitor.is_trusted;
    let upgrade = if upgrades { headers.get(UPGRADE).cloned() } else { None };
    let trailers = lists(headers, &TE, "trailers");
    strip_hop_by_hop(headers);
    headers.reserve(8);
    headers.remove(EXPECT);
    tell_origin(headers, visitor, host.as_ref(), is_trusted);
    headers.insert(X_REQUEST_ID, request_id.clone());
    parts.extensions.clear();
    parts.version = Version::HTTP_11;
    let target = parts.uri.path_and_query().cloned().unwrap_or_else(|| PathAndQuery::from_static("/"));
    Manners { upgrade, trailers, host: host.filter(|_| preserve_host), target }
}

fn tell_origin<G: Gate>(
    headers: &mut HeaderMap,
    visitor: &Visitor<G>,
    host: Option<&HeaderValue>,
    is_trusted: bool,
) {
    let chain =
        if is_trusted { joined(headers, &X_FORWARDED_FOR, visitor.peer_text.as_bytes()) } else { None };
    headers.insert(X_FORWARDED_FOR, chain.unwrap_or_else(|| visitor.peer_text.clone()));
    if !(is_trusted && headers.contains_key(X_FORWARDED_PROTO)) {
        headers.insert(X_FORWARDED_PROTO, HeaderValue::from_static(visitor.scheme()));
    }
    if !(is_trusted && headers.contains_key(X_FORWARDED_HOST)) {
        match host {
            Some(host) => headers.insert(X_FORWARDED_HOST, host.clone()),
            None => headers.remove(X_FORWARDED_HOST),
        };
    }
    if headers.contains_key(FORWARDED) {
        let added =
            if is_trusted { joined(headers, &FORWARDED, visitor.forwarded().as_bytes()) } else { None };
        match added {
            Some(chain) => headers.insert(FORWARDED, chain),
            None => headers.remove(FORWARDED),
        };
    }
}

/// All values of a field and one more, in one line; none if there was none before.
fn joined(headers: &HeaderMap, name: &HeaderName, last: &[u8]) -> Option<HeaderValue> {
    let mut all = Vec::new();
    for value in headers.get_all(name) {
        all.extend_from_slice(value.as_bytes());
        all.extend_from_slice(b", ");
    }
    if all.is_empty() {
        return None;
    }
    all.extend_from_slice(last);
    HeaderValue::try_from(all).ok()
}

impl Manners {
    /// Addresses a request to a server, in the way of the connection it is sent by.
    pub(crate) fn address(&self, parts: &mut Parts, endpoint: &Endpoint, is_http2: bool) {
        let headers = &mut parts.headers;
        let host = self.host.as_ref().unwrap_or(&endpoint.host);
        if is_http2 {
            headers.remove(HOST);
            headers.remove(CONNECTION);
            headers.remove(UPGRADE);
            parts.version = Version::HTTP_2;
            parts.uri = self.absolute(host, endpoint);
        } else {
            headers.insert(HOST, host.clone());
            parts.version = Version::HTTP_11;
            parts.uri = Uri::from(self.target.clone());
            if let Some(protocol) = &self.upgrade {
                headers.insert(CONNECTION, HeaderValue::from_static("upgrade"));
                headers.insert(UPGRADE, protocol.clone());
            } else if self.trailers {
                headers.insert(CONNECTION, HeaderValue::from_static("te"));
            }
        }
        if self.trailers {
            headers.insert(TE, HeaderValue::from_static("trailers"));
        }
    }

    fn absolute(&self, host: &HeaderValue, endpoint: &Endpoint) -> Uri {
        let authority = Authority::try_from(host.as_bytes()).unwrap_or_else(|_| endpoint.authority.clone());
        let mut parts = http::uri::Parts::default();
        parts.scheme = Some(endpoint.scheme());
        parts.authority = Some(authority);
        parts.path_and_query = Some(self.target.clone());
        Uri::from_parts(parts).unwrap_or_default()
    }
}
