//! HTTP/1 as it is spoken with clients: one request after the other.

mod line;
mod reply;
mod wire;

pub(crate) use wire::RequestBody;
#[cfg(test)]
pub(crate) use wire::rehearse;

use super::watch::Patience;
use super::{Inbound, LINGER, Socket, Turn};
use crate::framing::{Bounds, Fault};
use crate::gate::Gate;
use crate::message::Outflow;
use crate::proxy::{Outgoing, Reply, Visitor, respond};
use crate::server::{Mood, Seat};
use bytes::BytesMut;
use http::{Request, StatusCode};
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::rc::Rc;
use std::task::Poll;
use std::time::Instant;
use tokio::io::AsyncWrite;
use wire::{Asked, Looked, Manners, Wire};

/// The most bytes that are taken in and thrown away when closing, so that the client gets to read the answer.
const MAX_LINGER: usize = 4 * 1024 * 1024;

/// A client's connection.
pub(super) struct Session<G: Gate> {
    pub(super) visitor: Rc<Visitor<G>>,
    pub(super) seat: Seat,
    pub(super) bounds: Bounds,
    pub(super) patience: Patience,
    wire: Wire,
}

impl<G: Gate> Drop for Session<G> {
    /// Whoever waits for the connection or reads a body from it hears that it is gone.
    fn drop(&mut self) {
        drop((self.visitor.handover.take(), self.wire.take_raw()));
    }
}

impl<G: Gate> Session<G> {
    /// Of which `first` was read already.
    pub(super) fn new(
        visitor: Rc<Visitor<G>>,
        seat: Seat,
        bounds: Bounds,
        patience: Patience,
        (socket, first): (Socket, BytesMut),
    ) -> Self {
        Self { visitor, seat, bounds, patience, wire: Wire::new(socket, first) }
    }

    /// Serves the client until one of both has had enough.
    pub(super) async fn run(self) {
        let mut outflow = Outflow::default();
        loop {
            let (request, manners, fault) = match self.next().await {
                Some(Ok(asked)) => (asked.request, asked.manners, None),
                Some(Err(fault)) => (self.wire.stand_in(), Manners::UNKNOWN, Some(fault)),
                None => return self.close(false).await,
            };
            // Nobody is left to be told anything.
            let Some(response) = self.answer(Turn::alone(fault), request).await else { return };
            let is_tunnel = response.status() == StatusCode::SWITCHING_PROTOCOLS;
            let stays = reply::start(&mut outflow, response, manners);
            if !self.send(&mut outflow).await {
                return;
            }
            // With it the request comes to its end.
            outflow.clear();
            if is_tunnel {
                return self.hand_over();
            }
            if !stays || !self.wire.is_request_over() {
                return self.close(fault.is_some() || !self.wire.is_request_over()).await;
            }
        }
    }

    /// The next request; none if there will be none.
    async fn next(&self) -> Option<Result<Box<Asked>, Fault>> {
        let resting = Instant::now();
        let mut partial = None;
        let mut alarm = self.visitor.alarm.take().unwrap_or_default();
        let next = poll_fn(|cx| {
            loop {
                let mood = self.seat.mood(cx);
                if mood == Mood::Over || mood == Mood::Closing && self.wire.is_empty() {
                    return Poll::Ready(None);
                }
                match self.wire.look(self.bounds) {
                    Looked::Asked(asked) => return Poll::Ready(Some(Ok(asked))),
                    Looked::Fault(fault) => return Poll::Ready(Some(Err(fault))),
                    Looked::More => {}
                }
                match self.wire.poll_hear(cx) {
                    Poll::Ready(Ok(0) | Err(_)) => return Poll::Ready(None),
                    Poll::Ready(Ok(_)) => continue,
                    Poll::Pending => {}
                }
                let is_idle = self.wire.is_empty();
                let deadline = if is_idle {
                    resting + self.patience.idle
                } else {
                    *partial.get_or_insert_with(Instant::now) + self.patience.header
                };
                if !alarm.is_past(deadline, cx) {
                    return Poll::Pending;
                }
                return Poll::Ready(if is_idle { None } else { Some(Err(Fault::Slow)) });
            }
        })
        .await;
        self.visitor.alarm.set(Some(alarm));
        next
    }

    /// The answer; none if the client does not wait for it.
    async fn answer(&self, turn: Turn, request: Request<Inbound>) -> Option<Reply<G>> {
        // It takes a lot of room, which a connection without a request does not need.
        let mut answering = Box::pin(respond(&self.visitor, turn, request));
        poll_fn(|cx| {
            if self.seat.mood(cx) == Mood::Over {
                return Poll::Ready(None);
            }
            if let Poll::Ready(response) = answering.as_mut().poll(cx) {
                return Poll::Ready(Some(response));
            }
            if self.wire.is_left(cx) { Poll::Ready(None) } else { Poll::Pending }
        })
        .await
    }

    /// Whether all of the answer was sent.
    async fn send(&self, outflow: &mut Outflow<Outgoing<G::Ticket>>) -> bool {
        let mut wire = self.wire.clone();
        let mut alarm = None;
        let (mut moved, mut since) = (0, None);
        let is_sent = poll_fn(|cx| {
            if self.seat.mood(cx) == Mood::Over {
                return Poll::Ready(false);
            }
            if let Poll::Ready(done) = outflow.poll(&mut wire, cx) {
                return Poll::Ready(done.is_ok() && outflow.is_sent());
            }
            if self.wire.is_left(cx) {
                return Poll::Ready(false);
            }
            if !outflow.is_held_up() {
                since = None;
                return Poll::Pending;
            }
            if outflow.moved() != moved {
                moved = outflow.moved();
                since = None;
            }
            let deadline = *since.get_or_insert_with(Instant::now) + self.patience.write;
            let alarm = alarm.get_or_insert_with(|| self.visitor.alarm.take().unwrap_or_default());
            if alarm.is_past(deadline, cx) { Poll::Ready(false) } else { Poll::Pending }
        })
        .await;
        if alarm.is_some() {
            self.visitor.alarm.set(alarm);
        }
        is_sent
    }

    /// The connection is a tunnel now.
    fn hand_over(&self) {
        if let Some((tunnel, raw)) = self.visitor.handover.take().zip(self.wire.take_raw()) {
            // If nobody is there to take it, it is closed.
            let _ = tunnel.send(raw);
        }
    }

    /// Says goodbye. Closing with unread bytes would reset the connection, and the client might never see its answer: if it may
    /// still be sending, it is heard out.
    async fn close(&self, may_send: bool) {
        let mut wire = Some(self.wire.clone());
        let mut lingered = 0;
        let goodbye = poll_fn(|cx| {
            loop {
                if self.seat.mood(cx) == Mood::Over {
                    return Poll::Ready(());
                }
                if let Some(shutdown) = &mut wire {
                    match Pin::new(shutdown).poll_shutdown(cx) {
                        Poll::Ready(Ok(())) if may_send => wire = None,
                        Poll::Ready(_) => return Poll::Ready(()),
                        Poll::Pending => return Poll::Pending,
                    }
                }
                match self.wire.poll_discard(cx) {
                    Poll::Ready(Ok(count)) if count > 0 && lingered < MAX_LINGER => lingered += count,
                    Poll::Ready(_) => return Poll::Ready(()),
                    Poll::Pending => return Poll::Pending,
                }
            }
        });
        let _ = tokio::time::timeout(LINGER, goodbye).await;
    }
}
