use super::connect::{ConnectError, Opened, connect};
use super::endpoint::Endpoint;
use super::http1::Http1;
use super::lease::{Lease, Wire};
use crate::stats::Counters;
use http_body::Body;
use hyper::client::conn::http2;
use std::cell::{Cell, RefCell};
use std::error::Error;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// With more requests than this on each of its HTTP/2 connections, a server gets another one.
const BUSY_STREAMS: u32 = 100;

/// The most HTTP/2 connections of a thread to a server.
const MAX_SHARED: usize = 16;

/// A server, as one thread uses it, with the connections the thread has to it.
pub(crate) struct Station<B> {
    pub(crate) endpoint: Arc<Endpoint>,
    /// Unused HTTP/1 connections, the last used at the end.
    idle: RefCell<Vec<(Box<Http1<B>>, Instant)>>,
    max_idle: usize,
    /// HTTP/2 connections.
    shared: RefCell<Vec<Shared<B>>>,
    /// Held by whoever opens an HTTP/2 connection, so that not everybody does.
    opening: tokio::sync::Mutex<()>,
    in_flight: Cell<u32>,
}

/// An HTTP/2 connection.
struct Shared<B> {
    sender: http2::SendRequest<B>,
    streams: Rc<Cell<u32>>,
    used: Cell<Instant>,
}

/// What kind of connection a request needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Wanted {
    /// One that can be upgraded.
    pub(crate) only_http1: bool,
    /// One that was not used before: others turned out to be dead.
    pub(crate) fresh: bool,
}

impl<B> Station<B> {
    pub(crate) fn new(endpoint: Arc<Endpoint>, max_idle: usize) -> Self {
        Self {
            endpoint,
            idle: RefCell::new(Vec::new()),
            max_idle,
            shared: RefCell::new(Vec::new()),
            opening: tokio::sync::Mutex::new(()),
            in_flight: Cell::new(0),
        }
    }

    /// Requests of this thread under way.
    pub(crate) fn in_flight(&self) -> u32 {
        self.in_flight.get()
    }

    pub(super) fn count(&self, change: i32) {
        self.in_flight.set(self.in_flight.get().saturating_add_signed(change));
    }

    /// Keeps a connection for the next request.
    pub(super) fn keep(&self, http1: Box<Http1<B>>) {
        let mut idle = self.idle.borrow_mut();
        if idle.len() < self.max_idle {
            idle.push((http1, Instant::now()));
        }
    }

    /// Closes connections that were not used for `limit`, and forgets those that were closed.
    pub(crate) fn sweep(&self, limit: Duration) {
        let now = Instant::now();
        let is_young = |used: Instant| now.duration_since(used) < limit;
        self.idle.borrow_mut().retain_mut(|(http1, used)| is_young(*used) && http1.is_alive());
        self.shared.borrow_mut().retain(|shared| {
            !shared.sender.is_closed() && (shared.streams.get() > 0 || is_young(shared.used.get()))
        });
    }

    fn idle(&self) -> Option<Box<Http1<B>>> {
        let mut idle = self.idle.borrow_mut();
        while let Some((mut http1, _)) = idle.pop() {
            if http1.is_alive() {
                return Some(http1);
            }
        }
        None
    }

    /// The HTTP/2 connection with the fewest requests; none if there is none or all are busy.
    fn shared(&self) -> Option<Wire<B>> {
        let mut all = self.shared.borrow_mut();
        all.retain(|shared| !shared.sender.is_closed());
        let least = all.iter().min_by_key(|shared| shared.streams.get())?;
        if least.streams.get() >= BUSY_STREAMS && all.len() < MAX_SHARED {
            return None;
        }
        least.used.set(Instant::now());
        Some(Wire::shared(least.sender.clone(), &least.streams))
    }
}

impl<B> Station<B>
where
    B: Body + Unpin + 'static,
    B::Data: Send,
    B::Error: Into<Box<dyn Error + Send + Sync>>,
{
    /// A connection for one request.
    pub(crate) async fn lease(
        self: &Rc<Self>,
        wanted: Wanted,
        limit: Duration,
        counters: &Counters,
    ) -> Result<Lease<B>, ConnectError> {
        if let Some(wire) = self.at_hand(wanted) {
            return Ok(Lease::new(wire, Rc::clone(self), true));
        }
        // It takes a lot of room while it lasts, which requests that find a connection need not carry with them.
        Box::pin(self.open(wanted, limit, counters)).await
    }

    /// A new connection, or one that another request has opened in the meantime.
    async fn open(
        self: &Rc<Self>,
        wanted: Wanted,
        limit: Duration,
        counters: &Counters,
    ) -> Result<Lease<B>, ConnectError> {
        let may_share = !wanted.only_http1 && self.may_speak_http2();
        let opening = if may_share {
            let turn = tokio::time::timeout(limit, self.opening.lock()).await;
            Some(turn.map_err(|_| ConnectError::Timeout)?)
        } else {
            None
        };
        if may_share && let Some(wire) = self.at_hand(wanted) {
            return Ok(Lease::new(wire, Rc::clone(self), true));
        }
        let opened = connect(&self.endpoint, wanted.only_http1, limit).await?;
        counters.upstream_connections.up();
        drop(opening);
        let wire = match opened {
            Opened::Http1(http1) => Wire::Http1(http1),
            Opened::Http2(sender) => self.share(sender),
        };
        Ok(Lease::new(wire, Rc::clone(self), false))
    }

    fn at_hand(&self, wanted: Wanted) -> Option<Wire<B>> {
        if wanted.fresh {
            return None;
        }
        let shared = if wanted.only_http1 { None } else { self.shared() };
        shared.or_else(|| self.idle().map(Wire::Http1))
    }

    fn may_speak_http2(&self) -> bool {
        use tollgate_config::gateway::Protocol;
        match self.endpoint.protocol {
            Protocol::Http2 => true,
            // Until one has been opened, nobody knows.
            Protocol::Auto => self.endpoint.encryption.is_some(),
            Protocol::Http1 => false,
        }
    }

    fn share(&self, sender: http2::SendRequest<B>) -> Wire<B> {
        let streams = Rc::new(Cell::new(0));
        let wire = Wire::shared(sender.clone(), &streams);
        self.shared.borrow_mut().push(Shared { sender, streams, used: Cell::new(Instant::now()) });
        wire
    }
}
