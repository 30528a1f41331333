use super::http1::{Failure, Http1};
use super::station::Station;
use crate::downstream::Socket;
use crate::proxy::BoxError;
use bytes::Bytes;
use http::header::HeaderName;
use http::request::Parts;
use http::{HeaderValue, Request, Response};
use http_body::{Body, Frame, SizeHint};
use hyper::body::Incoming;
use hyper::client::conn::http2;
use std::cell::Cell;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

/// A connection in use by one request, and then by the body of its response.
pub(crate) struct Lease<B: 'static> {
    wire: Option<Wire<B>>,
    pub(crate) station: Rc<Station<B>>,
    /// Whether it had been used before.
    pub(crate) reused: bool,
}

/// Where a request is sent.
pub(super) enum Wire<B> {
    /// A connection of its own.
    Http1(Box<Http1<B>>),
    /// A connection with others on it.
    Http2 { sender: http2::SendRequest<B>, response: Option<Incoming>, _stream: Stream },
}

/// One request on an HTTP/2 connection, counted for as long as this is held.
pub(super) struct Stream(Rc<Cell<u32>>);

/// A request that can be sent, and sent again for as long as it has its body, be it an empty one.
pub(crate) struct Outbound<'a, B> {
    pub(crate) parts: &'a mut Parts,
    pub(crate) added: Added,
    pub(crate) body: Option<B>,
}

/// Fields that a request is sent with besides those it came with, none of which has one of these names.
///
/// They are not among the others because nobody looks them up any more: that would be more work than sending them.
#[derive(Debug, Default)]
pub(crate) struct Added {
    /// What HTTP/1 says instead of the client's host.
    pub(crate) host: Option<HeaderValue>,
    fields: Vec<(HeaderName, HeaderValue)>,
}

impl Added {
    pub(crate) fn push(&mut self, name: HeaderName, value: HeaderValue) {
        if self.fields.capacity() == 0 {
            self.fields.reserve_exact(USUALLY_ADDED);
        }
        self.fields.push((name, value));
    }

    pub(super) fn fields(&self) -> impl Iterator<Item = (&HeaderName, &HeaderValue)> {
        self.fields.iter().map(|(name, value)| (name, value))
    }
}

/// How many fields most requests are sent with besides their own.
const USUALLY_ADDED: usize = 4;

/// Why a request got no response.
pub(crate) struct Unanswered {
    /// Whether nothing of it was sent.
    pub(crate) is_unsent: bool,
    /// Whether the server said something, if not what it should have.
    pub(crate) is_malformed: bool,
    pub(crate) why: String,
}

impl Unanswered {
    fn unsent(why: &str) -> Self {
        Self { is_unsent: true, is_malformed: false, why: why.into() }
    }
}

impl<B> Wire<B> {
    pub(super) fn shared(sender: http2::SendRequest<B>, streams: &Rc<Cell<u32>>) -> Self {
        streams.set(streams.get() + 1);
        Self::Http2 { sender, response: None, _stream: Stream(Rc::clone(streams)) }
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

    /// The response is over: the connection is free for the next request.
    pub(crate) fn give_back(&mut self) {
        if let Some(Wire::Http1(mut http1)) = self.wire.take()
            && http1.settle()
        {
            self.station.keep(http1);
        }
    }

    /// The connection itself, and what was read ahead, once the server has agreed to speak something else.
    pub(crate) fn into_raw(mut self) -> Option<(Socket, Bytes)> {
        match self.wire.take() {
            Some(Wire::Http1(http1)) => Some(http1.into_raw()),
            Some(Wire::Http2 { .. }) | None => None,
        }
    }

    /// Whether the response is known to have come to its end.
    pub(crate) fn is_end_stream(&self) -> bool {
        match &self.wire {
            Some(Wire::Http1(http1)) => http1.is_over(),
            Some(Wire::Http2 { response, .. }) => response.as_ref().is_none_or(Body::is_end_stream),
            None => true,
        }
    }

    /// What is left of the response.
    pub(crate) fn size_hint(&self) -> SizeHint {
        match &self.wire {
            Some(Wire::Http1(http1)) => http1.size_hint(),
            Some(Wire::Http2 { response: Some(body), .. }) => body.size_hint(),
            Some(Wire::Http2 { .. }) | None => SizeHint::with_exact(0),
        }
    }
}

impl<B> Lease<B>
where
    B: Body<Data = Bytes> + Unpin + 'static,
    B::Error: Into<BoxError>,
{
    /// Sends a request and waits for the head of the response.
    pub(crate) async fn send(&mut self, request: &mut Outbound<'_, B>) -> Result<Response<()>, Unanswered> {
        let Some(body) = request.body.take() else { return Err(Unanswered::unsent("it has no body")) };
        match &mut self.wire {
            Some(Wire::Http1(http1)) => {
                let why = match http1.send(request.parts, &request.added, body).await {
                    // What was said before anything was asked is no answer.
                    Ok(_) if self.reused && !http1.has_sent() => Failure::Closed,
                    Ok(response) => return Ok(response),
                    Err(why) => why,
                };
                request.body = http1.take_body();
                let is_malformed = matches!(why, Failure::Malformed(_));
                Err(Unanswered { is_unsent: !http1.has_sent(), is_malformed, why: why.to_string() })
            }
            Some(Wire::Http2 { sender, response, .. }) => {
                let mut parts = request.parts.clone();
                let added = request.added.fields().map(|(name, value)| (name.clone(), value.clone()));
                parts.headers.extend(added);
                let message = Request::from_parts(parts, body);
                let mut error = match sender.try_send_request(message).await {
                    Ok(answer) => {
                        let (parts, body) = answer.into_parts();
                        *response = Some(body);
                        return Ok(Response::from_parts(parts, ()));
                    }
                    Err(error) => error,
                };
                request.body = error.take_message().map(Request::into_body);
                let (is_unsent, error) = (request.body.is_some(), error.into_error());
                Err(Unanswered { is_unsent, is_malformed: error.is_parse(), why: error.to_string() })
            }
            None => Err(Unanswered::unsent("the connection is gone")),
        }
    }

    /// The next piece of the response's body.
    pub(crate) fn poll_frame(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        match &mut self.wire {
            Some(Wire::Http1(http1)) => http1.poll_frame(cx),
            Some(Wire::Http2 { response: Some(body), .. }) => {
                Pin::new(body).poll_frame(cx).map_err(BoxError::from)
            }
            Some(Wire::Http2 { .. }) | None => Poll::Ready(None),
        }
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
