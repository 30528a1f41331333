use crate::downstream::{Inbound, Socket};
use crate::framing::{Bounds, Fault, Framed, Outline, Places, Scan, end_of, scan};
use crate::message::{Appetite, Inflow, Step};
use crate::proxy::BoxError;
use bytes::{Buf, Bytes, BytesMut};
use http::header::{EXPECT, HeaderName};
use http::{HeaderMap, HeaderValue, Method, Request, Uri, Version};
use http_body::{Body, Frame, SizeHint};
use std::cell::RefCell;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// How much is read at a time of what is no body.
const SCRATCH: usize = 16 * 1024;

/// The most bytes that are read ahead while a request is answered.
const MAX_AHEAD: usize = 64 * 1024;

/// Empty lines before a request that are overlooked, as some clients end a body with one.
const MAX_EMPTY_LINES: u8 = 4;

/// Room in a request's header fields for what is put among them on the way.
const SPARE: usize = 2;

const CONTINUE: &[u8] = b"HTTP/1.1 100 Continue\r\n\r\n";

/// What there is to read for everybody on a thread: who waits for a request needs no buffer of its own.
struct Desk {
    scratch: Box<[u8]>,
    places: Places,
}

thread_local! {
    static DESK: RefCell<Desk> =
        RefCell::new(Desk { scratch: vec![0; SCRATCH].into_boxed_slice(), places: Places::new() });
}

/// A client's connection, which the body of its request and whoever answers it share.
#[derive(Clone)]
pub(crate) struct Wire(Rc<RefCell<Line>>);

/// One end of a connection.
struct Line {
    /// None once it is a tunnel.
    socket: Option<Socket>,
    /// Read, and not used yet.
    read: BytesMut,
    /// How much of it is known to hold no end of a head.
    scanned: usize,
    empty_lines: u8,
    /// For a body.
    appetite: Appetite,
    /// Which request is under way.
    number: u64,
    /// What is left of its body.
    inflow: Inflow,
    /// What the client wants to hear before it sends it, as far as it was not said.
    leave: &'static [u8],
}

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
        Self(Rc::new(RefCell::new(Line { socket: Some(socket), read, ..Line::new() })))
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

impl Line {
    fn new() -> Self {
        Self {
            socket: None,
            read: BytesMut::new(),
            scanned: 0,
            empty_lines: 0,
            appetite: Appetite::default(),
            number: 0,
            inflow: Inflow::Over,
            leave: &[],
        }
    }

    fn socket(&mut self) -> io::Result<&mut Socket> {
        self.socket.as_mut().ok_or_else(|| io::ErrorKind::NotConnected.into())
    }

    /// The head at the start of what was read.
    fn look(&mut self, bounds: Bounds) -> Result<Option<(Outline, Bytes, HeaderMap)>, Fault> {
        while self.read.starts_with(b"\r\n") && self.empty_lines < MAX_EMPTY_LINES {
            self.read.advance(2);
            self.empty_lines += 1;
        }
        if self.read.is_empty() {
            // Who waits for a request needs no room.
            self.read = BytesMut::new();
            return Ok(None);
        }
        if self.read[..] == b"\r"[..] {
            return Ok(None);
        }
        let is_known_partial =
            self.scanned > 0 && self.read.len() < bounds.bytes && end_of(&self.read, self.scanned).is_none();
        if is_known_partial {
            self.scanned = self.read.len();
            return Ok(None);
        }
        DESK.with_borrow_mut(|desk| match scan(&self.read, bounds, &mut desk.places) {
            Scan::Partial => {
                self.scanned = self.read.len();
                Ok(None)
            }
            Scan::Fault(fault) => Err(fault),
            Scan::Head(outline) => {
                self.scanned = 0;
                self.empty_lines = 0;
                let head = if outline.length == self.read.len() {
                    std::mem::take(&mut self.read).freeze()
                } else {
                    self.read.split_to(outline.length).freeze()
                };
                let headers = fields(&head, &desk.places).ok_or(Fault::Header)?;
                Ok(Some((outline, head, headers)))
            }
        })
    }

    fn poll_hear(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<usize>> {
        DESK.with_borrow_mut(|desk| {
            let mut buf = ReadBuf::new(&mut desk.scratch);
            ready!(Pin::new(self.socket()?).poll_read(cx, &mut buf))?;
            self.read.extend_from_slice(buf.filled());
            Poll::Ready(Ok(buf.filled().len()))
        })
    }

    /// The next piece of the request's body.
    fn poll_frame(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        loop {
            match self.inflow.next(&mut self.read) {
                Ok(Step::Frame(frame)) => return Poll::Ready(Some(Ok(frame))),
                Ok(Step::End) => {
                    self.appetite = Appetite::default();
                    return Poll::Ready(None);
                }
                Ok(Step::More) => {}
                Err(why) => return Poll::Ready(Some(Err(why.into()))),
            }
            if let Err(error) = ready!(self.poll_leave(cx)) {
                return Poll::Ready(Some(Err(error.into())));
            }
            match ready!(self.poll_fill(cx)) {
                Ok(0) => return Poll::Ready(Some(Err("the request breaks off".into()))),
                Ok(_) => {}
                Err(error) => return Poll::Ready(Some(Err(error.into()))),
            }
        }
    }

    /// Reads some more of a body.
    fn poll_fill(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<usize>> {
        let Some(socket) = &mut self.socket else {
            return Poll::Ready(Err(io::ErrorKind::NotConnected.into()));
        };
        self.appetite.poll_fill(socket, &mut self.read, cx)
    }

    /// Tells the client to go on, if it waits for that.
    fn poll_leave(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        while !self.leave.is_empty() {
            let leave = self.leave;
            let count = ready!(Pin::new(self.socket()?).poll_write(cx, leave))?;
            if count == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            self.leave = leave.get(count..).unwrap_or_default();
            if self.leave.is_empty() {
                ready!(Pin::new(self.socket()?).poll_flush(cx))?;
            }
        }
        Poll::Ready(Ok(()))
    }
}

fn fields(head: &Bytes, places: &Places) -> Option<HeaderMap> {
    let mut headers = HeaderMap::with_capacity(places.len() + SPARE);
    for (name, value) in places {
        let name = HeaderName::from_bytes(&head[name.clone()]).ok()?;
        let value = HeaderValue::from_maybe_shared(head.slice(value.clone())).ok()?;
        headers.append(name, value);
    }
    Some(headers)
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

impl Line {
    /// What was begun to be said is said to its end, before anything else is.
    fn poll_finish_leave(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.leave.len() == CONTINUE.len() {
            // Nobody wants the body any more.
            self.leave = &[];
        }
        self.poll_leave(cx)
    }
}

/// How a connection is read that gets these bytes in pieces: how many requests came in, how many bytes of bodies, and what ended it.
#[cfg(test)]
pub(crate) fn rehearse(input: &[u8], piece: usize, bounds: Bounds) -> (u64, usize, String) {
    let wire = Wire(Rc::new(RefCell::new(Line::new())));
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
    use super::*;

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
        let wire = Wire(Rc::new(RefCell::new(Line::new())));
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
