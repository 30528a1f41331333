use crate::downstream::Socket;
use crate::proxy::BoxError;
use crate::upstream::Added;
use bytes::{Buf, Bytes};
use http::header::{CONTENT_LENGTH, HOST, HeaderName, TRANSFER_ENCODING};
use http::request::Parts;
use http::{HeaderMap, HeaderValue};
use http_body::{Body, Frame};
use std::io::{self, ErrorKind, IoSlice, Write};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use tokio::io::AsyncWrite;

/// A request on its way to a server.
#[derive(Debug)]
pub(super) struct Outflow<B> {
    /// A head, or what stands around a piece of a body; written up to here.
    text: Vec<u8>,
    written: usize,
    /// A piece of the body, which comes behind the text.
    piece: Bytes,
    body: Option<B>,
    rest: Rest,
    /// Whether something may wait in the socket to be sent.
    is_unflushed: bool,
    has_started: bool,
    /// The server takes nothing any more. It may have answered before that, so what can be read decides.
    is_mute: bool,
}

/// What has to follow what was staged.
#[derive(Debug, PartialEq, Eq)]
enum Rest {
    Nothing,
    /// So many bytes of the body.
    Sized(u64),
    /// Chunks, of which the one before still has to be ended or not.
    Chunks {
        has_open: bool,
    },
}

impl<B> Default for Outflow<B> {
    fn default() -> Self {
        Self {
            text: Vec::new(),
            written: 0,
            piece: Bytes::new(),
            body: None,
            rest: Rest::Nothing,
            is_unflushed: false,
            has_started: false,
            is_mute: false,
        }
    }
}

impl<B> Outflow<B> {
    pub(super) const fn has_started(&self) -> bool {
        self.has_started
    }

    /// Whether all of the request was sent.
    pub(super) fn is_sent(&self) -> bool {
        self.rest == Rest::Nothing && self.is_written() && !self.is_unflushed && !self.is_mute
    }

    pub(super) const fn take_body(&mut self) -> Option<B> {
        self.body.take()
    }

    /// Forgets the request.
    pub(super) fn clear(&mut self) {
        self.text.clear();
        self.written = 0;
        self.piece = Bytes::new();
        self.body = None;
        self.rest = Rest::Nothing;
        self.has_started = false;
    }

    fn is_written(&self) -> bool {
        self.written == self.text.len() && self.piece.is_empty()
    }

    /// Writes what is staged.
    fn poll_write(&mut self, socket: &mut Socket, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        while !self.is_written() {
            let text = &self.text[self.written..];
            let socket = Pin::new(&mut *socket);
            let wrote = if self.piece.is_empty() {
                socket.poll_write(cx, text)
            } else {
                socket.poll_write_vectored(cx, &[IoSlice::new(text), IoSlice::new(&self.piece)])
            };
            let count = ready!(wrote)?;
            if count == 0 {
                return Poll::Ready(Err(ErrorKind::WriteZero.into()));
            }
            self.has_started = true;
            self.is_unflushed = true;
            let of_text = count.min(self.text.len() - self.written);
            self.written += of_text;
            self.piece.advance(count - of_text);
        }
        if self.is_unflushed {
            ready!(Pin::new(socket).poll_flush(cx))?;
            self.is_unflushed = false;
        }
        Poll::Ready(Ok(()))
    }

    /// Stages a piece of the body, or its trailers.
    fn stage(&mut self, frame: Frame<Bytes>) -> Result<(), BoxError> {
        self.text.clear();
        self.written = 0;
        match frame.into_data() {
            Ok(data) if data.is_empty() => {}
            Ok(data) => self.stage_data(data)?,
            Err(frame) => {
                if let Ok(trailers) = frame.into_trailers() {
                    self.end(&trailers)?;
                }
            }
        }
        Ok(())
    }

    fn stage_data(&mut self, data: Bytes) -> Result<(), BoxError> {
        match &mut self.rest {
            Rest::Nothing => return Err("the body of the request goes on after its end".into()),
            Rest::Sized(left) => {
                *left = left
                    .checked_sub(data.len() as u64)
                    .ok_or("the body of the request is longer than announced")?;
            }
            Rest::Chunks { has_open } => {
                let end = if std::mem::replace(has_open, true) { "\r\n" } else { "" };
                write!(self.text, "{end}{:x}\r\n", data.len())?;
            }
        }
        self.piece = data;
        Ok(())
    }

    /// The body has ended.
    fn end(&mut self, trailers: &HeaderMap) -> Result<(), BoxError> {
        match std::mem::replace(&mut self.rest, Rest::Nothing) {
            Rest::Nothing | Rest::Sized(0) => {}
            Rest::Sized(_) => return Err("the body of the request is shorter than announced".into()),
            Rest::Chunks { has_open } => {
                self.text.extend_from_slice(if has_open { b"\r\n0\r\n" } else { b"0\r\n" });
                trailers.iter().for_each(|(name, value)| self.field(name, value));
                self.text.extend_from_slice(b"\r\n");
            }
        }
        Ok(())
    }

    fn field(&mut self, name: &HeaderName, value: &HeaderValue) {
        self.text.extend_from_slice(name.as_str().as_bytes());
        self.text.extend_from_slice(b": ");
        self.text.extend_from_slice(value.as_bytes());
        self.text.extend_from_slice(b"\r\n");
    }

    fn head(&mut self, parts: &Parts, added: &Added) {
        self.text.extend_from_slice(parts.method.as_str().as_bytes());
        self.text.push(b' ');
        let target = parts.uri.path_and_query().map_or("/", |target| target.as_str());
        self.text.extend_from_slice(target.as_bytes());
        self.text.extend_from_slice(b" HTTP/1.1\r\n");
        if let Some(host) = &added.host {
            self.field(&HOST, host);
        }
        let is_told_anew = |name: &HeaderName| [HOST, CONTENT_LENGTH, TRANSFER_ENCODING].contains(name);
        let fields = parts.headers.iter().filter(|(name, _)| !is_told_anew(name));
        fields.chain(added.fields()).for_each(|(name, value)| self.field(name, value));
        match self.rest {
            Rest::Sized(length) => self.field(&CONTENT_LENGTH, &length.into()),
            Rest::Chunks { .. } => self.field(&TRANSFER_ENCODING, &HeaderValue::from_static("chunked")),
            Rest::Nothing if parts.headers.contains_key(CONTENT_LENGTH) => {
                self.field(&CONTENT_LENGTH, &0.into());
            }
            Rest::Nothing => {}
        }
        self.text.extend_from_slice(b"\r\n");
    }
}

impl<B> Outflow<B>
where
    B: Body<Data = Bytes> + Unpin,
    B::Error: Into<BoxError>,
{
    /// Stages the head of a request.
    pub(super) fn start(&mut self, parts: &Parts, added: &Added, body: B) {
        self.clear();
        self.rest = match body.size_hint().exact() {
            _ if body.is_end_stream() => Rest::Nothing,
            Some(length) => Rest::Sized(length),
            None => Rest::Chunks { has_open: false },
        };
        self.body = Some(body);
        self.head(parts, added);
    }

    /// Sends as much as can be sent; ready when it is all, or when the server takes no more.
    pub(super) fn poll(&mut self, socket: &mut Socket, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        while !self.is_mute {
            match ready!(self.poll_write(socket, cx)) {
                Ok(()) if self.rest == Rest::Nothing => break,
                Ok(()) => {}
                Err(error) if is_gone(&error) => {
                    self.is_mute = true;
                    break;
                }
                Err(error) => return Poll::Ready(Err(error.into())),
            }
            let Some(body) = &mut self.body else { break };
            match ready!(Pin::new(body).poll_frame(cx)) {
                Some(Ok(frame)) => self.stage(frame)?,
                Some(Err(error)) => return Poll::Ready(Err(error.into())),
                None => {
                    self.text.clear();
                    self.written = 0;
                    self.end(&HeaderMap::new())?;
                }
            }
        }
        Poll::Ready(Ok(()))
    }
}

fn is_gone(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::BrokenPipe | ErrorKind::ConnectionReset)
}
