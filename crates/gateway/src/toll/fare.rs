use super::Marked;
use crate::gate::{BodySize, Receipt, Ticket, Traffic};
use http::{HeaderMap, HeaderValue};
use tollgate_core::cost::Price;
use tollgate_core::units::Nanos;
use tollgate_node::answer::{self, SHADOW};
use tollgate_node::connection::Guard;
use tollgate_node::{Permit, wall};

/// A request that has paid and is on its way to a server. Dropped, it gets its money back.
#[derive(Debug)]
pub struct TollTicket(TollReceipt);

/// A request that reached a server.
#[derive(Debug)]
pub struct TollReceipt {
    permit: Permit,
    body: BodySize,
    /// Only shadow mode lets it pass.
    marked: Option<Marked>,
    /// Held for as long as the request lasts.
    _guard: Option<Guard>,
}

impl TollTicket {
    pub(super) fn new(permit: Permit, guard: Option<Guard>, body: BodySize, marked: Option<Marked>) -> Self {
        // The guard ends with the request, and every phase of a request has an end: it needs no signs of life.
        if let Some(guard) = &guard {
            guard.touch(Nanos::MAX);
        }
        Self(TollReceipt { permit, body, marked, _guard: guard })
    }
}

impl Ticket for TollTicket {
    type Receipt = TollReceipt;

    fn reached(self) -> TollReceipt {
        self.0
    }
}

impl TollReceipt {
    /// What the request turned out to cost, if that is not what was paid.
    fn actual(&self, traffic: Traffic) -> Option<Price> {
        let paid = self.permit.price();
        let charges_response = self.permit.app().terms().policy.charge_response;
        let request = match self.body {
            BodySize::Unknown => traffic.request,
            // What was announced was paid for; bytes beyond that came by an upgraded connection.
            BodySize::Known(_) if !charges_response => return None,
            BodySize::Known(bytes) => bytes.max(traffic.request),
        };
        let response = if charges_response { traffic.response } else { 0 };
        Some(self.permit.app().price(paid.operation, request.saturating_add(response)))
    }
}

impl Receipt for TollReceipt {
    fn decorate(&self, headers: &mut HeaderMap) {
        answer::describe(self.permit.app().id(), &self.permit.decision(), wall(), headers);
        if let Some((reason, id)) = self.marked {
            headers.insert(SHADOW, HeaderValue::from_static(reason.code()));
            answer::name(id, headers);
        }
    }

    fn finish(self, traffic: Traffic) {
        match self.actual(traffic) {
            Some(price) => self.permit.settle(price),
            None => self.permit.keep(),
        }
    }
}
