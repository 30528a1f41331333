use crate::downstream::Socket;
use crate::framing::{Bounds, Fault, Outline, Places, Scan, end_of, scan};
use crate::message::{Appetite, Inflow, Step};
use crate::proxy::BoxError;
use bytes::{Buf, Bytes, BytesMut};
use http::header::HeaderName;
use http::{HeaderMap, HeaderValue};
use http_body::Frame;
use std::cell::RefCell;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// How much is read at a time of what is no body.
const SCRATCH: usize = 16 * 1024;

/// Empty lines before a request that are overlooked, as some clients end a body with one.
pub(super) const MAX_EMPTY_LINES: u8 = 4;

/// Room in a request's header fields for what is put among them on the way.
const SPARE: usize = 2;

/// Tells a client to send its body.
pub(super) const CONTINUE: &[u8] = b"HTTP/1.1 100 Continue\r\n\r\n";

/// What there is to read for everybody on a thread: who waits for a request needs no buffer of its own.
struct Desk {
    scratch: Box<[u8]>,
    places: Places,
}

thread_local! {
    static DESK: RefCell<Desk> =
        RefCell::new(Desk { scratch: vec![0; SCRATCH].into_boxed_slice(), places: Places::new() });
}

/// One end of a connection.
pub(super) struct Line {
    /// None once it is a tunnel.
    pub(super) socket: Option<Socket>,
    /// Read, and not used yet.
    pub(super) read: BytesMut,
    /// How much of it is known to hold no end of a head.
    scanned: usize,
    empty_lines: u8,
    /// For a body.
    appetite: Appetite,
    /// Which request is under way.
    pub(super) number: u64,
    /// What is left of its body.
    pub(super) inflow: Inflow,
    /// What the client wants to hear before it sends it, as far as it was not said.
    pub(super) leave: &'static [u8],
    /// Whether something of that may wait in the socket to be sent.
    is_unflushed: bool,
}

impl Line {
    /// Of which `read` has been read already.
    pub(super) fn new(socket: Option<Socket>, read: BytesMut) -> Self {
        Self {
            socket,
            read,
            scanned: 0,
            empty_lines: 0,
            appetite: Appetite::default(),
            number: 0,
            inflow: Inflow::Over,
            leave: &[],
            is_unflushed: false,
        }
    }

    pub(super) fn socket(&mut self) -> io::Result<&mut Socket> {
        self.socket.as_mut().ok_or_else(|| io::ErrorKind::NotConnected.into())
    }

    /// The head at the start of what was read.
    pub(super) fn look(&mut self, bounds: Bounds) -> Result<Option<(Outline, Bytes, HeaderMap)>, Fault> {
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

    pub(super) fn poll_hear(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<usize>> {
        DESK.with_borrow_mut(|desk| {
            let mut buf = ReadBuf::new(&mut desk.scratch);
            ready!(Pin::new(self.socket()?).poll_read(cx, &mut buf))?;
            self.read.extend_from_slice(buf.filled());
            Poll::Ready(Ok(buf.filled().len()))
        })
    }

    /// The next piece of the request's body.
    pub(super) fn poll_frame(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
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
            self.is_unflushed = true;
        }
        if self.is_unflushed {
            ready!(Pin::new(self.socket()?).poll_flush(cx))?;
            self.is_unflushed = false;
        }
        Poll::Ready(Ok(()))
    }

    /// What was begun to be said is said to its end, before anything else is.
    pub(super) fn poll_finish_leave(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.leave.len() == CONTINUE.len() {
            // Nobody wants the body any more.
            self.leave = &[];
        }
        self.poll_leave(cx)
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
