//! Makes of a client's request the one that a server gets.

use super::headers::{Seen, X_FORWARDED_HOST, X_FORWARDED_PROTO, lists};
use super::{Visitor, X_REQUEST_ID};
use crate::gate::Gate;
use crate::plan::X_FORWARDED_FOR;
use crate::upstream::{Added, Endpoint, Outbound};
use http::header::{CONNECTION, EXPECT, FORWARDED, HOST, HeaderName, TE, UPGRADE};
use http::request::Parts;
use http::uri::{Authority, PathAndQuery};
use http::{HeaderMap, HeaderValue, Uri, Version};

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
pub(super) fn prepare<G: Gate>(
    parts: &mut Parts,
    seen: Seen,
    visitor: &Visitor<G>,
    host: Option<HeaderValue>,
    preserve_host: bool,
    request_id: &HeaderValue,
    upgrades: bool,
) -> (Manners, Added) {
    let headers = &mut parts.headers;
    let upgrade = if upgrades { headers.get(UPGRADE).cloned() } else { None };
    let trailers = seen.has(&TE) && lists(headers, &TE, "trailers");
    seen.strip_hop_by_hop(headers);
    seen.remove(headers, &EXPECT);
    let mut added = Added::default();
    tell_origin(headers, seen, visitor, host.as_ref(), &mut added);
    seen.remove(headers, &X_REQUEST_ID);
    added.push(X_REQUEST_ID, request_id.clone());
    parts.extensions.clear();
    let target = target(&parts.uri);
    parts.uri = Uri::from(target.clone());
    (Manners { upgrade, trailers, host: host.filter(|_| preserve_host), target }, added)
}

/// What is asked of a server. A target may have a query and no path, with which no server can do anything.
fn target(uri: &Uri) -> PathAndQuery {
    let root = || PathAndQuery::from_static("/");
    let Some(target) = uri.path_and_query() else { return root() };
    if target.as_str().starts_with(['/', '*']) {
        return target.clone();
    }
    PathAndQuery::try_from(format!("/{}", target.as_str())).unwrap_or_else(|_| root())
}

/// Says where a request came from. The word of a trusted proxy is passed on, anybody else's is not.
fn tell_origin<G: Gate>(
    headers: &mut HeaderMap,
    seen: Seen,
    visitor: &Visitor<G>,
    host: Option<&HeaderValue>,
    added: &mut Added,
) {
    let is_kept = |name: &HeaderName| visitor.is_trusted && seen.has(name);
    let chain = if is_kept(&X_FORWARDED_FOR) {
        joined(headers, &X_FORWARDED_FOR, visitor.peer_text.as_bytes())
    } else {
        None
    };
    seen.remove(headers, &X_FORWARDED_FOR);
    added.push(X_FORWARDED_FOR, chain.unwrap_or_else(|| visitor.peer_text.clone()));
    if !is_kept(&X_FORWARDED_PROTO) {
        seen.remove(headers, &X_FORWARDED_PROTO);
        added.push(X_FORWARDED_PROTO, HeaderValue::from_static(visitor.scheme()));
    }
    if !is_kept(&X_FORWARDED_HOST) {
        seen.remove(headers, &X_FORWARDED_HOST);
        if let Some(host) = host {
            added.push(X_FORWARDED_HOST, host.clone());
        }
    }
    if seen.has(&FORWARDED) {
        let chain = if visitor.is_trusted {
            joined(headers, &FORWARDED, visitor.forwarded().as_bytes())
        } else {
            None
        };
        headers.remove(FORWARDED);
        if let Some(chain) = chain {
            added.push(FORWARDED, chain);
        }
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
    pub(crate) fn address<B>(&self, request: &mut Outbound<'_, B>, endpoint: &Endpoint, is_http2: bool) {
        let parts = &mut *request.parts;
        let headers = &mut parts.headers;
        let host = self.host.as_ref().unwrap_or(&endpoint.host);
        if is_http2 {
            headers.remove(HOST);
            headers.remove(CONNECTION);
            headers.remove(UPGRADE);
            parts.version = Version::HTTP_2;
            parts.uri = self.absolute(host, endpoint);
        } else {
            request.added.host = Some(host.clone());
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
