//! The seam between the proxy and whoever decides which requests may pass.
//!
//! A request goes down once and comes up once: it is admitted or refused, then it reaches a server or not, then
//! it is over. A [`Ticket`] is what an admitted request holds. Either it is dropped, and then the request never
//! reached a server and costs nothing, or it becomes a [`Receipt`], which is told once what went through. The
//! types leave no other way, whatever is cancelled when.

use bytes::Bytes;
use http::{HeaderMap, Method, StatusCode, Uri};
use std::fmt;
use std::future::Future;
use std::net::IpAddr;
use tollgate_core::cost::Operation;

/// Decides which connections and requests may pass.
///
/// Each thread has a clone of its own. A decision that can be made at once is made without waiting and, if
/// possible, without allocating: it is on the way of every request.
pub trait Gate: Clone + Send + 'static {
    /// Held for as long as a connection lasts.
    type Visit: 'static;
    /// Held by a request that was admitted.
    type Ticket: Ticket;
    /// A decision that takes some time. Dropping it takes the question back.
    type Wait: Future<Output = Verdict<Self::Ticket>> + 'static;

    /// A connection from `peer` was opened. If it is refused, its first request gets that answer and it is
    /// closed.
    fn connected(&self, peer: IpAddr) -> Result<Self::Visit, Box<Refusal>>;

    /// Decides about a request.
    fn admit(&self, request: &RequestInfo<'_>) -> Admission<Self::Ticket, Self::Wait>;
}

/// A decision, now or later.
#[derive(Debug)]
pub enum Admission<T, W> {
    /// Here it is.
    Decided(Verdict<T>),
    /// It has to be waited for.
    Waiting(W),
}

/// What was decided about a request.
#[derive(Debug)]
pub enum Verdict<T> {
    /// It may pass.
    Pass(T),
    /// It may not, and gets this answer.
    Refuse(Box<Refusal>),
}

/// What an admitted request holds until it reaches a server. Dropped before, it gives back what was taken.
pub trait Ticket: 'static {
    /// What it becomes.
    type Receipt: Receipt;

    /// The request reached a server.
    fn reached(self) -> Self::Receipt;
}

/// What a request holds from when it reached a server until it is over. [`Receipt::finish`] is called exactly
/// once, also if the request breaks off.
pub trait Receipt: 'static {
    /// Adds headers to the response.
    fn decorate(&self, headers: &mut HeaderMap);

    /// The request is over.
    fn finish(self, traffic: Traffic);
}

/// What went through, in bytes of bodies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// From the client.
    pub request: u64,
    /// To the client.
    pub response: u64,
}

/// What is known about a request when it is decided upon.
#[derive(Clone, Copy)]
pub struct RequestInfo<'a> {
    /// The method.
    pub method: &'a Method,
    /// The target as it came.
    pub uri: &'a Uri,
    /// The header fields as they came.
    pub headers: &'a HeaderMap,
    /// The host, perhaps with a port.
    pub host: &'a str,
    /// Who asks, as far as trusted proxies tell.
    pub client: IpAddr,
    /// How large the body is.
    pub body: BodySize,
    /// How many bytes to reckon with: the size, or what a body of unknown size is taken for until it has passed.
    pub presumed_bytes: u64,
    /// Whose request it is, if that could be told: 1 to 128 of `A-Z a-z 0-9 _ -`.
    pub app: Option<&'a str>,
    /// What it does, as far as its price is concerned.
    pub operation: Operation,
}

/// The size of a body that is still to come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BodySize {
    /// So many bytes, perhaps none.
    Known(u64),
    /// Any number of bytes: it tells its end when it comes to it.
    Unknown,
}

/// An answer to a request that may not pass.
#[derive(Clone, Debug)]
pub struct Refusal {
    /// The status. A gRPC client gets the code that corresponds to it.
    pub status: StatusCode,
    /// The header fields.
    pub headers: HeaderMap,
    /// The body.
    pub body: Bytes,
    /// Why, in one word: for logs, and for gRPC clients.
    pub reason: &'static str,
}

impl fmt::Debug for RequestInfo<'_> {
    /// Without header fields, which may hold secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RequestInfo")
            .field("method", self.method)
            .field("host", &self.host)
            .field("path", &self.uri.path())
            .field("client", &self.client)
            .field("body", &self.body)
            .field("app", &self.app)
            .field("operation", &self.operation)
            .finish_non_exhaustive()
    }
}
