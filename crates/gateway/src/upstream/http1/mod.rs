//! HTTP/1 as it is spoken to servers: one request at a time on a connection, by whoever waits for the response.

mod head;

use crate::downstream::Socket;
use crate::framing::end_of;
use crate::message::{Appetite, Departure, Inflow, Outflow, Rest, Step, write_field};
use crate::proxy::BoxError;
use crate::upstream::Added;
use bytes::{Bytes, BytesMut};
use head::Head;
use http::header::{CONTENT_LENGTH, HOST, HeaderName, TRANSFER_ENCODING};
use http::request::Parts;
use http::{HeaderValue, Method, Response, StatusCode};
use http_body::{Body, Frame, SizeHint};
use std::fmt;
use std::future::poll_fn;
use std::io;
use std::task::{Context, Poll, ready};

/// The most bytes of the head of a response.
const MAX_HEAD: usize = 256 * 1024;

/// A connection to a server.
///
/// Nothing runs beside the request that uses it: whoever polls for the response also sends what is left of the
/// request. Dropped, it is closed.
pub(crate) struct Http1<B> {
    socket: Socket,
    outflow: Outflow<B>,
    inflow: Inflow,
    /// Read, and not used yet.
    read: BytesMut,
    /// How much of `read` is known to hold no end of a head.
    scanned: usize,
    appetite: Appetite,
    /// Whether the server will take another request.
    stays: bool,
}

/// Why there is no response.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The server closed the connection.
    Closed,
    /// The connection broke.
    Broken(io::Error),
    /// What the server said is not HTTP.
    Malformed(&'static str),
    /// The request came to no end.
    Request(BoxError),
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Closed => f.write_str("the server closed the connection"),
            Self::Broken(error) => error.fmt(f),
            Self::Malformed(why) => write!(f, "the server does not speak HTTP: {why}"),
            Self::Request(error) => error.fmt(f),
        }
    }
}

impl<B> Http1<B> {
    pub(super) fn new(socket: Socket) -> Self {
        Self {
            socket,
            outflow: Outflow::default(),
            inflow: Inflow::Over,
            read: BytesMut::new(),
            scanned: 0,
            appetite: Appetite::default(),
            stays: false,
        }
    }

    /// Whether the connection, which nobody uses, is still there. It costs no call to the kernel where nothing came.
    pub(super) fn is_alive(&mut self) -> bool {
        self.socket.is_quiet()
    }

    /// Makes it ready for another request; false if there can be none.
    pub(super) fn settle(&mut self) -> bool {
        let is_free = self.stays && self.outflow.is_sent() && self.is_over() && self.read.is_empty();
        self.outflow.clear();
        if self.appetite.is_large() {
            self.appetite = Appetite::default();
            self.read = BytesMut::new();
        }
        is_free
    }

    /// Whether something of the request was sent.
    pub(super) const fn has_sent(&self) -> bool {
        self.outflow.has_started()
    }

    /// The body of the request as far as it was not sent.
    pub(super) const fn take_body(&mut self) -> Option<B> {
        self.outflow.take_body()
    }

    /// What is left when both sides have agreed to speak something else: the connection, and what was read ahead.
    pub(super) fn into_raw(self) -> (Socket, Bytes) {
        (self.socket, self.read.freeze())
    }

    /// Whether the response has come to its end.
    pub(super) const fn is_over(&self) -> bool {
        self.inflow.is_over()
    }

    pub(super) fn size_hint(&self) -> SizeHint {
        self.inflow.size_hint()
    }

    /// Reads some more; nothing if the server has closed.
    fn poll_fill(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<usize>> {
        self.appetite.poll_fill(&mut self.socket, &mut self.read, cx)
    }

    /// The head that has been read, if all of it has.
    fn take_head(&mut self, method: &Method) -> Result<Option<Head>, Failure> {
        let end = end_of(&self.read, self.scanned);
        if end.unwrap_or(self.read.len()) > MAX_HEAD {
            return Err(Failure::Malformed("its head is too large"));
        }
        let Some(end) = end else {
            self.scanned = self.read.len();
            return Ok(None);
        };
        self.scanned = 0;
        Head::parse(&self.read.split_to(end).freeze(), method).map(Some).map_err(Failure::Malformed)
    }
}

impl<B> Http1<B>
where
    B: Body<Data = Bytes> + Unpin,
    B::Error: Into<BoxError>,
{
    /// Sends a request; there is a response when its head is there.
    pub(super) async fn send(
        &mut self,
        parts: &Parts,
        added: &Added,
        body: B,
    ) -> Result<Response<()>, Failure> {
        let rest = match body.size_hint().exact() {
            _ if body.is_end_stream() => Rest::Nothing,
            Some(length) => Rest::Sized(length),
            None => Rest::Chunks { with_trailers: true },
        };
        // If the connection turns out to be dead, the body is needed again as it is.
        self.outflow.start(body, rest, Departure::HeadFirst, |text| write_head(text, parts, added, rest));
        poll_fn(|cx| self.poll_head(&parts.method, cx)).await
    }

    fn poll_head(&mut self, method: &Method, cx: &mut Context<'_>) -> Poll<Result<Response<()>, Failure>> {
        // A server may answer before it has taken all of the request: what can be sent is sent, nothing is waited for.
        if let Poll::Ready(Err(error)) = self.outflow.poll(&mut self.socket, cx) {
            return Poll::Ready(Err(Failure::Request(error)));
        }
        loop {
            match self.take_head(method)? {
                Some(head) if is_interim(head.response.status()) => {}
                Some(head) => {
                    self.inflow = head.inflow;
                    self.stays = head.stays;
                    return Poll::Ready(Ok(head.response));
                }
                None => match ready!(self.poll_fill(cx)) {
                    Ok(0) => return Poll::Ready(Err(Failure::Closed)),
                    Ok(_) => {}
                    Err(error) => return Poll::Ready(Err(Failure::Broken(error))),
                },
            }
        }
    }

    /// The next piece of the response's body.
    pub(super) fn poll_frame(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        if let Poll::Ready(Err(error)) = self.outflow.poll(&mut self.socket, cx) {
            return Poll::Ready(Some(Err(error)));
        }
        loop {
            match self.inflow.next(&mut self.read) {
                Ok(Step::Frame(frame)) => return Poll::Ready(Some(Ok(frame))),
                Ok(Step::End) => return Poll::Ready(None),
                Ok(Step::More) => {}
                Err(why) => return Poll::Ready(Some(Err(why.into()))),
            }
            match ready!(self.poll_fill(cx)) {
                Ok(0) if self.inflow.closed() => return Poll::Ready(None),
                Ok(0) => return Poll::Ready(Some(Err("the response breaks off".into()))),
                Ok(_) => {}
                Err(error) => return Poll::Ready(Some(Err(error.into()))),
            }
        }
    }
}

fn write_head(text: &mut Vec<u8>, parts: &Parts, added: &Added, rest: Rest) {
    text.extend_from_slice(parts.method.as_str().as_bytes());
    text.push(b' ');
    let target = parts.uri.path_and_query().map_or("/", |target| target.as_str());
    text.extend_from_slice(target.as_bytes());
    text.extend_from_slice(b" HTTP/1.1\r\n");
    if let Some(host) = &added.host {
        write_field(text, &HOST, host);
    }
    let is_told_anew = |name: &HeaderName| [HOST, CONTENT_LENGTH, TRANSFER_ENCODING].contains(name);
    let fields = parts.headers.iter().filter(|(name, _)| !is_told_anew(name));
    fields.chain(added.fields()).for_each(|(name, value)| write_field(text, name, value));
    match rest {
        Rest::Sized(length) => write_field(text, &CONTENT_LENGTH, &length.into()),
        Rest::Chunks { .. } => write_field(text, &TRANSFER_ENCODING, &HeaderValue::from_static("chunked")),
        Rest::Nothing if parts.headers.contains_key(CONTENT_LENGTH) => {
            write_field(text, &CONTENT_LENGTH, &0.into());
        }
        Rest::Nothing | Rest::UntilClosed => {}
    }
    text.extend_from_slice(b"\r\n");
}

/// Whether another head will follow.
fn is_interim(status: StatusCode) -> bool {
    status.is_informational() && status != StatusCode::SWITCHING_PROTOCOLS
}

/// How a response is read that comes in pieces: its status, its body, how many trailers, and how it ended.
#[cfg(test)]
pub(crate) fn rehearse(input: &[u8], piece: usize) -> (Option<u16>, Vec<u8>, usize, String) {
    let (mut read, mut body, mut trailers) = (BytesMut::new(), Vec::new(), 0);
    let mut status = None;
    let mut inflow: Option<Inflow> = None;
    let mut pieces = input.chunks(piece.max(1));
    let end = loop {
        let step = match &mut inflow {
            Some(inflow) => inflow.next(&mut read),
            None => match end_of(&read, 0) {
                None => Ok(Step::More),
                Some(end) => match Head::parse(&read.split_to(end).freeze(), &Method::GET) {
                    Ok(head) => {
                        status = Some(head.response.status().as_u16());
                        inflow = (!is_interim(head.response.status())).then_some(head.inflow);
                        continue;
                    }
                    Err(why) => Err(why),
                },
            },
        };
        match step {
            Ok(Step::Frame(frame)) => match frame.into_data() {
                Ok(data) => body.extend_from_slice(&data),
                Err(frame) => trailers += frame.into_trailers().map_or(0, |fields| fields.len()),
            },
            Ok(Step::End) => break "whole",
            Ok(Step::More) => match pieces.next() {
                Some(piece) => read.extend_from_slice(piece),
                None if inflow.as_mut().is_some_and(Inflow::closed) => {}
                None => break "broken off",
            },
            Err(why) => break why,
        }
    };
    (status, body, trailers, end.to_owned())
}
