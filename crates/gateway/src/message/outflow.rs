use crate::proxy::BoxError;
use bytes::Bytes;
use http::header::HeaderName;
use http::{HeaderMap, HeaderValue};
use http_body::{Body, Frame};
use std::io::{self, ErrorKind, IoSlice, Write};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use tokio::io::AsyncWrite;

/// A message on its way out.
///
/// A chunk and what stands around it leave together; a head and the first piece of its body may.
#[derive(Debug)]
pub(crate) struct Outflow<B> {
    /// A head, or what stands before a piece of a body.
    text: Vec<u8>,
    piece: Bytes,
    /// What stands behind it.
    tail: &'static [u8],
    /// How much of these three is written.
    written: usize,
    body: Option<B>,
    rest: Rest,
    departure: Departure,
    /// Whether something may wait in the socket to be sent.
    is_unflushed: bool,
    /// How much was written of this message.
    moved: u64,
    /// The other side takes nothing any more. It may have answered before that, so what can be read decides.
    is_mute: bool,
}

/// When the first piece of a body is taken out of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Departure {
    /// At once, so that it can leave together with the head. If the head does not leave, the body may be of no use any more.
    Together,
    /// When the head has left.
    HeadFirst,
}

/// What has to follow what was staged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rest {
    Nothing,
    /// So many bytes of the body.
    Sized(u64),
    /// Chunks, behind which the other side wants to see the trailers or not.
    Chunks {
        with_trailers: bool,
    },
    /// The body, whose end is told by that of the connection.
    UntilClosed,
}

impl<B> Default for Outflow<B> {
    fn default() -> Self {
        Self {
            text: Vec::new(),
            piece: Bytes::new(),
            tail: &[],
            written: 0,
            body: None,
            rest: Rest::Nothing,
            departure: Departure::HeadFirst,
            is_unflushed: false,
            moved: 0,
            is_mute: false,
        }
    }
}

impl<B> Outflow<B> {
    pub(crate) const fn has_started(&self) -> bool {
        self.moved > 0
    }

    /// How many bytes of the message were written.
    pub(crate) const fn moved(&self) -> u64 {
        self.moved
    }

    /// Whether all of the message was sent.
    pub(crate) fn is_sent(&self) -> bool {
        self.rest == Rest::Nothing && self.is_written() && !self.is_unflushed && !self.is_mute
    }

    /// Whether something waits for the other side to take it.
    pub(crate) fn is_held_up(&self) -> bool {
        !self.is_written() || self.is_unflushed
    }

    pub(crate) const fn take_body(&mut self) -> Option<B> {
        self.body.take()
    }

    /// Forgets the message, but not the room that it took.
    pub(crate) fn clear(&mut self) {
        self.unstage();
        self.body = None;
        self.rest = Rest::Nothing;
        self.moved = 0;
    }

    fn unstage(&mut self) {
        self.text.clear();
        self.piece = Bytes::new();
        self.tail = &[];
        self.written = 0;
    }

    fn is_written(&self) -> bool {
        self.written == self.text.len() + self.piece.len() + self.tail.len()
    }

    /// Writes what is staged.
    fn poll_write<W>(&mut self, socket: &mut W, cx: &mut Context<'_>) -> Poll<io::Result<()>>
    where
        W: AsyncWrite + Unpin,
    {
        while !self.is_written() {
            let mut skip = self.written;
            let left = [&self.text[..], &self.piece, self.tail].map(|slice| {
                let here = skip.min(slice.len());
                skip -= here;
                IoSlice::new(&slice[here..])
            });
            let socket = Pin::new(&mut *socket);
            let is_text_only = left[1].is_empty() && left[2].is_empty();
            let wrote = if is_text_only {
                socket.poll_write(cx, &left[0])
            } else {
                socket.poll_write_vectored(cx, &left)
            };
            let count = ready!(wrote)?;
            if count == 0 {
                return Poll::Ready(Err(ErrorKind::WriteZero.into()));
            }
            self.is_unflushed = true;
            self.written += count;
            self.moved += count as u64;
        }
        if self.is_unflushed {
            ready!(Pin::new(socket).poll_flush(cx))?;
            self.is_unflushed = false;
        }
        Poll::Ready(Ok(()))
    }

    /// Stages a piece of the body, or its trailers, behind what is staged already.
    fn stage(&mut self, frame: Frame<Bytes>) -> Result<(), BoxError> {
        match frame.into_data() {
            Ok(data) if data.is_empty() => Ok(()),
            Ok(data) => self.stage_data(data),
            Err(frame) => frame.into_trailers().map_or(Ok(()), |trailers| self.end(&trailers)),
        }
    }

    fn stage_data(&mut self, data: Bytes) -> Result<(), BoxError> {
        match &mut self.rest {
            Rest::Nothing => return Err("the body goes on after its end".into()),
            Rest::Sized(left) => {
                *left = left.checked_sub(data.len() as u64).ok_or("the body is longer than announced")?;
                if *left == 0 {
                    self.rest = Rest::Nothing;
                }
            }
            Rest::Chunks { .. } => {
                write!(self.text, "{:x}\r\n", data.len())?;
                self.tail = b"\r\n";
            }
            Rest::UntilClosed => {}
        }
        self.piece = data;
        Ok(())
    }

    /// The body has ended.
    fn end(&mut self, trailers: &HeaderMap) -> Result<(), BoxError> {
        match std::mem::replace(&mut self.rest, Rest::Nothing) {
            Rest::Nothing | Rest::UntilClosed => {}
            Rest::Sized(_) => return Err("the body is shorter than announced".into()),
            Rest::Chunks { with_trailers: true } if !trailers.is_empty() => {
                self.text.extend_from_slice(b"0\r\n");
                trailers.iter().for_each(|(name, value)| write_field(&mut self.text, name, value));
                self.text.extend_from_slice(b"\r\n");
            }
            // Behind a chunk that has not left yet, so that both leave together.
            Rest::Chunks { .. } if !self.piece.is_empty() => self.tail = b"\r\n0\r\n\r\n",
            Rest::Chunks { .. } => self.text.extend_from_slice(b"0\r\n\r\n"),
        }
        Ok(())
    }
}

impl<B> Outflow<B>
where
    B: Body<Data = Bytes> + Unpin,
    B::Error: Into<BoxError>,
{
    /// Stages the head of a message, which `write` writes; `rest` follows.
    pub(crate) fn start(
        &mut self,
        body: B,
        rest: Rest,
        departure: Departure,
        write: impl FnOnce(&mut Vec<u8>),
    ) {
        self.clear();
        self.rest = rest;
        self.departure = departure;
        self.body = Some(body);
        write(&mut self.text);
    }

    /// Sends as much as can be sent; ready when it is all, or when the other side takes no more.
    pub(crate) fn poll<W>(&mut self, socket: &mut W, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>>
    where
        W: AsyncWrite + Unpin,
    {
        while !self.is_mute {
            let is_due = self.departure == Departure::Together || self.is_written();
            let staged = if is_due { self.poll_stage(cx)? } else { Poll::Ready(()) };
            match ready!(self.poll_write(socket, cx)) {
                Ok(()) if self.rest == Rest::Nothing => break,
                Ok(()) if staged.is_ready() => self.unstage(),
                Ok(()) => return Poll::Pending,
                Err(error) if is_gone(&error) => self.is_mute = true,
                Err(error) => return Poll::Ready(Err(error.into())),
            }
        }
        Poll::Ready(Ok(()))
    }

    /// Stages what comes next of the body, unless a piece waits to be written already.
    fn poll_stage(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        if !self.piece.is_empty() || self.rest == Rest::Nothing {
            return Poll::Ready(Ok(()));
        }
        if self.is_written() {
            self.unstage();
        }
        let Some(body) = &mut self.body else { return Poll::Ready(Err("the body is gone".into())) };
        match ready!(Pin::new(&mut *body).poll_frame(cx)) {
            Some(Ok(frame)) => {
                let is_last = body.is_end_stream();
                self.stage(frame)?;
                if is_last && self.rest != Rest::Nothing {
                    self.end(&HeaderMap::new())?;
                }
            }
            Some(Err(error)) => return Poll::Ready(Err(error.into())),
            None => self.end(&HeaderMap::new())?,
        }
        Poll::Ready(Ok(()))
    }
}

/// Writes a header field.
pub(crate) fn write_field(text: &mut Vec<u8>, name: &HeaderName, value: &HeaderValue) {
    text.extend_from_slice(name.as_str().as_bytes());
    text.extend_from_slice(b": ");
    text.extend_from_slice(value.as_bytes());
    text.extend_from_slice(b"\r\n");
}

fn is_gone(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::BrokenPipe | ErrorKind::ConnectionReset)
}
