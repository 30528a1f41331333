use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, Waker};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio_rustls::{client, server};

/// A connection, encrypted or not.
#[derive(Debug)]
pub(crate) enum Socket {
    /// As it is.
    Plain(TcpStream),
    /// Encrypted, from a client.
    Accepted(Box<server::TlsStream<TcpStream>>),
    /// Encrypted, to a server.
    Opened(Box<client::TlsStream<TcpStream>>),
}

impl Socket {
    /// Whether nothing came that has not been read, not even the end. It takes a call to the kernel only where something did.
    pub(crate) fn is_quiet(&mut self) -> bool {
        // A session may have decrypted more than was taken out of it, or the end: of that the socket knows nothing. It wants no
        // more then.
        let (tcp, wants_more) = match self {
            Self::Plain(stream) => (&*stream, true),
            Self::Accepted(stream) => (stream.get_ref().0, stream.get_ref().1.wants_read()),
            Self::Opened(stream) => (stream.get_ref().0, stream.get_ref().1.wants_read()),
        };
        if !wants_more {
            return false;
        }
        let mut cx = Context::from_waker(Waker::noop());
        if tcp.poll_read_ready(&mut cx).is_pending() {
            return true;
        }
        // Encryption may have something to say that is none of ours.
        let mut byte = [0];
        Pin::new(self).poll_read(&mut cx, &mut ReadBuf::new(&mut byte)).is_pending()
    }
}

macro_rules! each {
    ($self:ident, $stream:ident => $call:expr) => {
        match $self.get_mut() {
            Socket::Plain($stream) => $call,
            Socket::Accepted($stream) => $call,
            Socket::Opened($stream) => $call,
        }
    };
}

impl AsyncRead for Socket {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        each!(self, stream => Pin::new(stream).poll_read(cx, buf))
    }
}

impl AsyncWrite for Socket {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        each!(self, stream => Pin::new(stream).poll_write(cx, buf))
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        each!(self, stream => Pin::new(stream).poll_write_vectored(cx, bufs))
    }

    fn is_write_vectored(&self) -> bool {
        match self {
            Self::Plain(stream) => stream.is_write_vectored(),
            Self::Accepted(stream) => stream.is_write_vectored(),
            Self::Opened(stream) => stream.is_write_vectored(),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        each!(self, stream => Pin::new(stream).poll_flush(cx))
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        each!(self, stream => Pin::new(stream).poll_shutdown(cx))
    }
}
