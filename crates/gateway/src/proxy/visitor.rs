use super::Alarm;
use crate::downstream::Socket;
use crate::gate::{Gate, Refusal};
use crate::server::{Core, Room};
use bytes::Bytes;
use http::HeaderValue;
use std::cell::Cell;
use std::net::IpAddr;
use std::rc::Rc;
use tokio::sync::oneshot;

/// Who is at the other end of a connection.
pub(crate) struct Visitor<G: Gate> {
    pub(crate) core: Rc<Core<G>>,
    pub(crate) peer: IpAddr,
    pub(crate) peer_text: HeaderValue,
    /// Whether it is a proxy whose word is taken.
    pub(crate) is_trusted: bool,
    pub(crate) is_encrypted: bool,
    /// For requests that wait for a server, one after the other.
    pub(crate) alarm: Cell<Option<Alarm>>,
    /// Who wants to have the connection, with what was read ahead, once the answer is sent that makes it a tunnel.
    pub(crate) handover: Cell<Option<oneshot::Sender<(Socket, Bytes)>>>,
    /// Held for as long as the connection lasts.
    pub(crate) visit: Result<G::Visit, Box<Refusal>>,
    pub(crate) _room: Room,
}

impl<G: Gate> Visitor<G> {
    pub(crate) fn scheme(&self) -> &'static str {
        if self.is_encrypted { "https" } else { "http" }
    }

    /// What a `Forwarded` field says about this hop.
    pub(super) fn forwarded(&self) -> String {
        let peer = self.peer;
        let scheme = self.scheme();
        if peer.is_ipv6() {
            format!("for=\"[{peer}]\";proto={scheme}")
        } else {
            format!("for={peer};proto={scheme}")
        }
    }
}
