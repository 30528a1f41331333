use super::station::Station;
use http::{Request, Response};
use http_body::Body;
use hyper::body::Incoming;
use hyper::client::conn::{TrySendError, http1, http2};
use std::cell::Cell;
use std::rc::Rc;

/// A connection in use by one request.
pub(crate) struct Lease<B: 'static> {
    wire: Option<Wire<B>>,
    pub(crate) station: Rc<Station<B>>,
    /// Whether it had been used before.
    pub(crate) reused: bool,
}

/// Where a request is sent.
pub(super) enum Wire<B> {
    /// A connection of its own.
    Http1(http1::SendRequest<B>),
    /// A connection with others on it.
    Http2 { sender: http2::SendRequest<B>, _stream: Stream },
}

/// One request on an HTTP/2 connection, counted for as long as this is held.
pub(super) struct Stream(Rc<Cell<u32>>);

impl<B> Wire<B> {
    pub(super) fn shared(sender: http2::SendRequest<B>, streams: &Rc<Cell<u32>>) -> Self {
        streams.set(streams.get() + 1);
        Self::Http2 { sender, _stream: Stream(Rc::clone(streams)) }
    }
}

impl<B> Lease<B> {
    pub(super) fn new(wire: Wire<B>, station: Rc<Station<B>>, reused: bool) -> Self {
        station.count(1);
        Self { wire: Some(wire), station, reused }
    }

    pub(crate) fn is_http2(&self) -> bool {
        matches!(self.wire, Some(Wire::Http2 { .. }))
    }

    /// The connection is free for the next request.
    pub(crate) fn give_back(mut self) {
        if let Some(Wire::Http1(mut sender)) = self.wire.take() {
            if sender.is_ready() {
                self.station.keep(sender);
            } else if !sender.is_closed() {
                // The server may still be taking in what it did not wait for.
                let station = Rc::clone(&self.station);
                tokio::task::spawn_local(async move {
                    if sender.ready().await.is_ok() {
                        station.keep(sender);
                    }
                });
            }
        }
    }
}

impl<B: Body + 'static> Lease<B> {
    /// Sends a request. It comes back if nothing of it was sent.
    pub(crate) async fn send(
        &mut self,
        request: Request<B>,
    ) -> Result<Response<Incoming>, (Option<hyper::Error>, Option<Request<B>>)> {
        let sent = match &mut self.wire {
            Some(Wire::Http1(sender)) => sender.try_send_request(request).await,
            Some(Wire::Http2 { sender, .. }) => sender.try_send_request(request).await,
            None => return Err((None, Some(request))),
        };
        sent.map_err(|mut error: TrySendError<_>| {
            let message = error.take_message();
            (Some(error.into_error()), message)
        })
    }
}

impl<B> Drop for Lease<B> {
    fn drop(&mut self) {
        self.station.count(-1);
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        self.0.set(self.0.get().saturating_sub(1));
    }
}
