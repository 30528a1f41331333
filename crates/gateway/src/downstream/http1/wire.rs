use super::line::{CONTINUE, Line};
use crate::downstream::{Inbound, Socket};
use crate::framing::{Bounds, Fault, Framed, Outline};
use crate::message::Inflow;
use crate::proxy::BoxError;
use bytes::{Bytes, BytesMut};
use http::header::EXPECT;
use http::{HeaderMap, Method, Request, Uri, Version};
use http_body::{Body, Frame, SizeHint};
use std::cell::RefCell;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};
use tokio::io::AsyncWrite;

/// The most bytes that are read ahead while a request is answered.
const MAX_AHEAD: usize = 64 * 1024;

/// A client's connection, which the body of its request and whoever answers it share.
#[derive(Clone)]
pub(crate) struct Wire(Rc<RefCell<Line>>);

/// A request that has come in.
pub(super) struct Asked {
    pub(super) request: Request<Inbound>,
    pub(super) manners: Manners,
}

/// What the client of a request can take, and wants.
#[derive(Clone, Copy, Debug)]
#[allow(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub(super) struct Manners {
    pub(super) is_1_1: bool,
    pub(super) is_head: bool,
    pub(super) takes_trailers: bool,
    /// Whether it will go on after it.
    pub(super) stays: bool,
}

impl Manners {
    /// Of a request that is not let in.
    pub(super) const UNKNOWN: Self =
        Self { is_1_1: true, is_head: false, takes_trailers: false, stays: false };
}

/// The body of a request.
pub(crate) struct RequestBody {
    wire: Wire,
    number: u64,
}

/// What came of looking at what was read.
pub(super) enum Looked {
    Asked(Box<Asked>),
    Fault(Fault),
    /// It takes more bytes to tell.
    More,
}

impl Wire {
    /// A connection, of which `read` has been read already.
    pub(super) fn new(socket: Socket, read: BytesMut) -> Self {
        Self(Rc::new(RefCell::new(Line::new(Some(socket), read))))
    }

    /// Whether nothing was read that has not been used.
    pub(super) fn is_empty(&self) -> bool {
        self.0.borrow().read.is_empty()
    }

    /// Whether all of the request has come in.
    pub(super) fn is_request_over(&self) -> bool {
        self.0.borrow().inflow.is_over()
    }

    /// Looks for the next request in what was read.
    pub(super) fn look(&self, bounds: Bounds) -> Looked {
        let looked = self.0.borrow_mut().look(bounds);
        match looked {
            Ok(Some((outline, head, headers))) => match self.ask(&outline, &head, headers, bounds) {
                Some(asked) => Looked::Asked(Box::new(asked)),
                None => Looked::Fault(Fault::RequestLine),
            },
            Ok(None) => Looked::More,
            Err(fault) => Looked::Fault(fault),
        }
    }

    fn ask(&self, outline: &Outline, head: &Bytes, headers: HeaderMap, bounds: Bounds) -> Option<Asked> {
        let mut line = self.0.borrow_mut();
        line.number += 1;
        line.inflow = match outline.body {
            Framed::Length(length) => Inflow::sized(length),
            Framed::Chunked => Inflow::chunked_strictly(bounds.bytes),
        };
        let waits = outline.is_1_1 && !line.inflow.is_over() && headers.contains_key(EXPECT);
        line.leave = if waits { CONTINUE } else { &[] };
        let mut request =
            Request::new(Inbound::Http1(RequestBody { wire: self.clone(), number: line.number }));
        *request.method_mut() = Method::from_bytes(&head[outline.method.clone()]).ok()?;
        *request.uri_mut() = Uri::from_maybe_shared(head.slice(outline.target.clone())).ok()?;
        *request.version_mut() = if outline.is_1_1 { Version::HTTP_11 } else { Version::HTTP_10 };
        *request.headers_mut() = headers;
        let manners = Manners {
            is_1_1: outline.is_1_1,
            is_head: request.method() == Method::HEAD,
            takes_trailers: outline.takes_trailers,
            stays: outline.wish.stays(outline.is_1_1),
        };
        Some(Asked { request, manners })
    }

    /// Stands for a request that is not let in.
    pub(super) fn stand_in(&self) -> Request<Inbound> {
        let mut line = self.0.borrow_mut();
        line.number += 1;
        line.inflow = Inflow::Over;
        Request::new(Inbound::Http1(RequestBody { wire: self.clone(), number: line.number }))
    }

    /// Reads some more that is no body; nothing if the client has closed.
    pub(super) fn poll_hear(&self, cx: &mut Context<'_>) -> Poll<io::Result<usize>> {
        self.0.borrow_mut().poll_hear(cx)
    }

    /// Whether the client is gone, while it is answered; what it says in the meantime is kept.
    pub(super) fn is_left(&self, cx: &mut Context<'_>) -> bool {
        let mut line = self.0.borrow_mut();
        while line.inflow.is_over() && line.read.len() < MAX_AHEAD {
            match line.poll_hear(cx) {
                Poll::Ready(Ok(0) | Err(_)) => return true,
                Poll::Ready(Ok(_)) => {}
                Poll::Pending => return false,
            }
        }
        false
    }

    /// Throws away what comes; tells how much, nothing if the client has closed.
    pub(super) fn poll_discard(&self, cx: &mut Context<'_>) -> Poll<io::Result<usize>> {
        let mut line = self.0.borrow_mut();
        let count = ready!(line.poll_hear(cx))?;
        line.read.clear();
        Poll::Ready(Ok(count))
    }

    /// What is left when both sides have agreed to speak something else: the connection, and what was read ahead.
    pub(super) fn take_raw(&self) -> Option<(Socket, Bytes)> {
        let mut line = self.0.borrow_mut();
        let read = std::mem::take(&mut line.read).freeze();
        line.socket.take().map(|socket| (socket, read))
    }
}

impl Body for RequestBody {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        let mut line = self.wire.0.borrow_mut();
        // Whoever is late must not be given what belongs to the next request.
        if line.number == self.number { line.poll_frame(cx) } else { Poll::Ready(None) }
    }

    fn is_end_stream(&self) -> bool {
        let line = self.wire.0.borrow();
        line.number != self.number || line.inflow.is_over()
    }

    fn size_hint(&self) -> SizeHint {
        let line = self.wire.0.borrow();
        if line.number == self.number { line.inflow.size_hint() } else { SizeHint::with_exact(0) }
    }
}

/// Writes to the client. Whatever is written is borrowed for no longer than that: the answer's body may want to read.
impl AsyncWrite for Wire {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        let mut line = self.0.borrow_mut();
        ready!(line.poll_finish_leave(cx))?;
        Pin::new(line.socket()?).poll_write(cx, buf)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let mut line = self.0.borrow_mut();
        ready!(line.poll_finish_leave(cx))?;
        Pin::new(line.socket()?).poll_write_vectored(cx, bufs)
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(self.0.borrow_mut().socket()?).poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(self.0.borrow_mut().socket()?).poll_shutdown(cx)
    }
}

/// How a connection is read that gets these bytes in pieces: how many requests came in, how many bytes of bodies, and what ended it.
#[cfg(test)]
pub(crate) fn rehearse(input: &[u8], piece: usize, bounds: Bounds) -> (u64, usize, String) {
    use crate::message::Step;
    let wire = Wire(Rc::new(RefCell::new(Line::new(None, BytesMut::new()))));
    let (mut heads, mut bytes) = (0, 0);
    let mut pieces = input.chunks(piece.max(1));
    loop {
        let is_stuck = if wire.is_request_over() {
            match wire.look(bounds) {
                Looked::Asked(_) => {
                    heads += 1;
                    false
                }
                Looked::Fault(fault) => return (heads, bytes, format!("{fault:?}")),
                Looked::More => true,
            }
        } else {
            let line = &mut *wire.0.borrow_mut();
            match line.inflow.next(&mut line.read) {
                Ok(Step::Frame(frame)) => {
                    bytes += frame.data_ref().map_or(0, Bytes::len);
                    false
                }
                Ok(Step::End) => false,
                Ok(Step::More) => true,
                Err(why) => return (heads, bytes, format!("broken: {why}")),
            }
        };
        if is_stuck {
            let Some(piece) = pieces.next() else {
                let is_all = wire.is_empty() && wire.is_request_over();
                return (heads, bytes, if is_all { "all" } else { "partial" }.into());
            };
            wire.0.borrow_mut().read.extend_from_slice(piece);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::line::MAX_EMPTY_LINES;
    use super::*;
    use crate::message::Step;

    const GET: &str = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
    const PUT: &str = "PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nGET /";
    const POST: &str =
        "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nGET /\r\n0\r\n\r\n";

    fn read(input: &str) -> (u64, usize, String) {
        let bounds = Bounds { headers: 10, bytes: 1_024 };
        let whole = rehearse(input.as_bytes(), input.len(), bounds);
        for piece in 1..40 {
            assert_eq!(rehearse(input.as_bytes(), piece, bounds), whole, "in pieces of {piece}");
        }
        whole
    }

    #[test]
    fn requests_follow_one_another() {
        assert_eq!(read(&[GET, PUT, GET, POST, GET].concat()), (5, 10, "all".into()));
    }

    #[test]
    fn a_bad_request_is_found_behind_good_ones() {
        let (heads, bytes, end) = read(&[GET, PUT, "GET / HTTP/1.1\r\n\r\n"].concat());
        assert_eq!((heads, bytes, end.as_str()), (2, 5, "HostMissing"));
    }

    #[test]
    fn a_few_empty_lines_are_left_out() {
        let lines = |count: usize| read(&[GET, &"\r\n".repeat(count), GET].concat());
        assert_eq!(lines(usize::from(MAX_EMPTY_LINES)), (2, 0, "all".into()));
        assert_eq!(lines(usize::from(MAX_EMPTY_LINES) + 1).2, "RequestLine");
        assert_eq!(read("\nGET / HTTP/1.1\r\n\r\n").2, "LineEnd");
    }

    #[test]
    fn trailers_are_bounded_as_heads_are() {
        let head = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nX: ";
        let with = |count: usize| read(&format!("{head}{}\r\n\r\n", "y".repeat(count))).2;
        assert_eq!(with(1_000), "all");
        assert_eq!(with(1_100), "broken: too many trailers");
    }

    #[test]
    fn a_body_is_its_requests_alone() {
        let wire = Wire(Rc::new(RefCell::new(Line::new(None, BytesMut::new()))));
        let bounds = Bounds { headers: 10, bytes: 1_024 };
        wire.0.borrow_mut().read.extend_from_slice([PUT, PUT].concat().as_bytes());
        let Looked::Asked(first) = wire.look(bounds) else { panic!("no request") };
        {
            let line = &mut *wire.0.borrow_mut();
            assert!(matches!(line.inflow.next(&mut line.read), Ok(Step::Frame(_))));
        }
        let Looked::Asked(second) = wire.look(bounds) else { panic!("no request") };
        let (late, due) = (first.request.into_body(), second.request.into_body());
        assert!(late.is_end_stream() && !due.is_end_stream());
        assert_eq!((late.size_hint().exact(), due.size_hint().exact()), (Some(0), Some(5)));
    }
}
