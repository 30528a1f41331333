//! Connections from clients: encrypted or not, HTTP/1.1 or HTTP/2, watched by the clock.

mod drive;
mod http1;
mod inbound;
mod socket;
mod watch;
mod watched;

#[cfg(test)]
pub(crate) use http1::rehearse;
pub(crate) use inbound::Inbound;
pub(crate) use socket::Socket;
pub(crate) use watch::Turn;

use crate::framing::Bounds;
use crate::gate::Gate;
use crate::plan::tls;
use crate::proxy::{Visitor, respond};
use crate::server::{Core, CorePlan, Room, Seat};
use bytes::BytesMut;
use drive::Drive;
use http::{HeaderValue, Request};
use http1::Session;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use rustls::ServerConfig;
use std::cell::Cell;
use std::convert::Infallible;
use std::net::IpAddr;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::AsyncReadExt;
use tokio::net::TcpStream;
use tokio_rustls::TlsAcceptor;
use watch::{Patience, Watch};
use watched::Watched;

/// How every HTTP/2 connection starts.
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// How long a client may take to go after its last answer.
const LINGER: Duration = Duration::from_secs(2);

/// What is spoken on a connection.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Spoken {
    Http1,
    Http2,
    /// It is told by the first bytes.
    Unknown,
}

/// Serves a connection to its end.
pub(crate) async fn attend<G: Gate>(
    core: Rc<Core<G>>,
    stream: TcpStream,
    peer: IpAddr,
    encryption: Option<Arc<ServerConfig>>,
    seat: Seat,
    room: Room,
) {
    let plan = core.plan();
    let patience = plan.shared.config.timeouts.header;
    // A connection that says nothing waits here, and holds next to nothing; what encryption takes is boxed.
    let greeting = Box::pin(seat.unless_closed(greet(&core, stream, encryption)));
    let start = tokio::time::timeout(patience, greeting).await;
    let Ok(Some(Some((socket, spoken, first)))) = start else { return };
    let is_encrypted = !matches!(socket, Socket::Plain(_));
    let visitor = Rc::new(visitor(&core, &plan, peer, is_encrypted, room));
    let timeouts = &plan.shared.config.timeouts;
    let patience =
        Patience { header: timeouts.header, idle: timeouts.idle, write: timeouts.write, linger: LINGER };
    if spoken == Spoken::Http2 {
        Box::pin(attend_http2(visitor, &plan, patience, seat, (socket, first))).await;
    } else {
        let limits = &plan.shared.config.limits;
        let bounds = Bounds { headers: limits.headers, bytes: limits.header_bytes };
        Session::new(visitor, seat, bounds, patience, (socket, first)).run().await;
    }
}

async fn attend_http2<G: Gate>(
    visitor: Rc<Visitor<G>>,
    plan: &CorePlan<G>,
    patience: Patience,
    seat: Seat,
    (socket, first): (Socket, BytesMut),
) {
    let watch = Rc::new(Watch::new());
    let io = TokioIo::new(Watched::new(socket, Rc::clone(&watch), first));
    let seen = Rc::clone(&watch);
    let service = service_fn(move |request: Request<Incoming>| {
        // Its turn begins here and not when it is polled, so that turns are in order.
        let (visitor, turn) = (Rc::clone(&visitor), seen.begin());
        async move { Ok::<_, Infallible>(respond(&visitor, turn, request.map(Inbound::Http2)).await) }
    });
    Drive::new(plan.http2.serve_connection(io, service), watch, patience, seat).await;
}

fn visitor<G: Gate>(
    core: &Rc<Core<G>>,
    plan: &CorePlan<G>,
    peer: IpAddr,
    is_encrypted: bool,
    room: Room,
) -> Visitor<G> {
    let peer_text = HeaderValue::try_from(peer.to_string());
    Visitor {
        core: Rc::clone(core),
        peer,
        peer_text: peer_text.unwrap_or_else(|_| HeaderValue::from_static("unknown")),
        is_trusted: plan.shared.trust.covers(peer),
        is_encrypted,
        alarm: Cell::default(),
        handover: Cell::default(),
        visit: core.gate.connected(peer),
        _room: room,
    }
}

/// Agrees on encryption and finds out what is spoken; nothing if the client goes away or cannot agree.
async fn greet<G: Gate>(
    core: &Core<G>,
    stream: TcpStream,
    encryption: Option<Arc<ServerConfig>>,
) -> Option<(Socket, Spoken, BytesMut)> {
    let Some(config) = encryption else { return listen(Socket::Plain(stream)).await };
    let Ok(stream) = TlsAcceptor::from(config).accept(stream).await else {
        core.duties.counters.handshakes_failed.up();
        return None;
    };
    let agreed = stream.get_ref().1.alpn_protocol();
    let spoken = match agreed {
        Some(_) if tls::is_http2(agreed) => Spoken::Http2,
        Some(_) => Spoken::Http1,
        None => Spoken::Unknown,
    };
    let socket = Socket::Accepted(Box::new(stream));
    if spoken == Spoken::Unknown { listen(socket).await } else { Some((socket, spoken, BytesMut::new())) }
}

/// Tells by the first bytes.
async fn listen(mut socket: Socket) -> Option<(Socket, Spoken, BytesMut)> {
    let mut first = [0; PREFACE.len()];
    let mut length = 0;
    while length < PREFACE.len() {
        let read = socket.read(&mut first[length..]).await.ok().filter(|read| *read > 0)?;
        length += read;
        if first[..length] != PREFACE[..length] {
            return Some((socket, Spoken::Http1, BytesMut::from(&first[..length])));
        }
    }
    Some((socket, Spoken::Http2, BytesMut::from(&first[..])))
}
