//! The gate that is always open: for a proxy without a limiter.

use crate::gate::{Admission, Gate, Receipt, Refusal, RequestInfo, Ticket, Traffic, Verdict};
use http::HeaderMap;
use std::future::Ready;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Lets everything pass and counts it.
#[derive(Clone, Debug, Default)]
pub struct Open {
    counts: Arc<Counts>,
}

/// What has gone through an [`Open`] gate.
#[derive(Debug, Default)]
struct Counts {
    connections: AtomicU64,
    admitted: AtomicU64,
    rolled_back: AtomicU64,
    finished: AtomicU64,
    request_bytes: AtomicU64,
    response_bytes: AtomicU64,
}

/// What has gone through an [`Open`] gate up to a moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Passed {
    /// Connections.
    pub connections: u64,
    /// Requests that were let in.
    pub admitted: u64,
    /// Of those, the ones that never reached a server.
    pub rolled_back: u64,
    /// Of those, the ones that did, and are over.
    pub finished: u64,
    /// Bytes from and to clients in bodies of requests that are over.
    pub traffic: Traffic,
}

/// A request on its way to a server.
#[derive(Debug)]
pub struct OpenTicket(Option<Arc<Counts>>);

/// A request that reached a server.
#[derive(Debug)]
pub struct OpenReceipt(Arc<Counts>);

impl Open {
    /// What has gone through up to now, by this gate and its clones.
    pub fn passed(&self) -> Passed {
        let read = |count: &AtomicU64| count.load(Ordering::Relaxed);
        Passed {
            connections: read(&self.counts.connections),
            admitted: read(&self.counts.admitted),
            rolled_back: read(&self.counts.rolled_back),
            finished: read(&self.counts.finished),
            traffic: Traffic {
                request: read(&self.counts.request_bytes),
                response: read(&self.counts.response_bytes),
            },
        }
    }
}

impl Gate for Open {
    type Visit = ();
    type Ticket = OpenTicket;
    type Wait = Ready<Verdict<OpenTicket>>;

    fn connected(&self, _peer: IpAddr) -> Result<(), Box<Refusal>> {
        self.counts.connections.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    fn admit(&self, _request: &RequestInfo<'_>) -> Admission<OpenTicket, Self::Wait> {
        self.counts.admitted.fetch_add(1, Ordering::Relaxed);
        Admission::Decided(Verdict::Pass(OpenTicket(Some(Arc::clone(&self.counts)))))
    }
}

impl Ticket for OpenTicket {
    type Receipt = OpenReceipt;

    fn reached(mut self) -> OpenReceipt {
        OpenReceipt(self.0.take().unwrap_or_default())
    }
}

impl Drop for OpenTicket {
    fn drop(&mut self) {
        if let Some(counts) = &self.0 {
            counts.rolled_back.fetch_add(1, Ordering::Relaxed);
        }
    }
}

impl Receipt for OpenReceipt {
    fn decorate(&self, _headers: &mut HeaderMap) {}

    fn finish(self, traffic: Traffic) {
        self.0.finished.fetch_add(1, Ordering::Relaxed);
        self.0.request_bytes.fetch_add(traffic.request, Ordering::Relaxed);
        self.0.response_bytes.fetch_add(traffic.response, Ordering::Relaxed);
    }
}
