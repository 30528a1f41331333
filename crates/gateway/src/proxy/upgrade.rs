//! Changing the protocol of a connection.

use super::headers::{Seen, lists};
use super::journey::Journey;
use super::outgoing::Outgoing;
use crate::downstream::Inbound;
use crate::gate::Ticket;
use bytes::Bytes;
use http::header::{CONNECTION, UPGRADE};
use http::request::Parts;
use http::{HeaderValue, Response, Version};
use http_body::Body;
use std::rc::Rc;

/// Whether the client wants another protocol on this connection. Only a request without a body can: where the
/// other protocol would start must be clear.
pub(super) fn is_asked_for(parts: &Parts, seen: Seen, body: &Inbound) -> bool {
    parts.version == Version::HTTP_11 && seen.has(&UPGRADE) && body.is_end_stream()
}

/// Whether it may have it. In particular not HTTP/2: behind such a tunnel requests would pass without being asked.
pub(super) fn is_allowed(parts: &Parts, allowed: &[String]) -> bool {
    let mut named = parts.headers.get_all(UPGRADE).iter();
    let (Some(protocol), None) = (named.next(), named.next()) else { return false };
    let is_named = |known: &String| protocol.as_bytes().eq_ignore_ascii_case(known.as_bytes());
    allowed.iter().any(is_named) && lists(&parts.headers, &CONNECTION, "upgrade")
}

/// The server's agreement to an upgrade, for the client.
pub(super) fn agreed<T: Ticket>(response: Response<()>, journey: &Rc<Journey<T>>) -> Response<Outgoing<T>> {
    let (mut parts, ()) = response.into_parts();
    let protocol = parts.headers.get(UPGRADE).cloned();
    Seen::of(&parts.headers).strip_hop_by_hop(&mut parts.headers);
    parts.headers.insert(CONNECTION, HeaderValue::from_static("upgrade"));
    if let Some(protocol) = protocol {
        parts.headers.insert(UPGRADE, protocol);
    }
    parts.extensions.clear();
    journey.decorate(&mut parts.headers);
    Response::from_parts(parts, Outgoing::own(Bytes::new(), journey))
}
