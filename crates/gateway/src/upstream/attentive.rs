use crate::downstream::Socket;
use std::io::{self, ErrorKind, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// A connection to a server that still listens when it cannot speak any more.
///
/// A server may answer and close before it has read all of a request: writing then fails, but the answer is there
/// to be read. hyper gives up when writing fails, so it is not told; what it reads next decides.
#[derive(Debug)]
pub(super) struct Attentive {
    socket: Socket,
    is_mute: bool,
}

impl Attentive {
    pub(super) fn new(socket: Socket) -> Self {
        Self { socket, is_mute: false }
    }

    fn heed<T>(&mut self, wrote: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        match wrote {
            Poll::Ready(Err(error))
                if matches!(error.kind(), ErrorKind::BrokenPipe | ErrorKind::ConnectionReset) =>
            {
                self.is_mute = true;
                // Whoever waits here is woken by what comes to be read: an answer, or the end.
                Poll::Pending
            }
            other => other,
        }
    }
}

impl AsyncRead for Attentive {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_read(cx, buf)
    }
}

impl AsyncWrite for Attentive {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        if self.is_mute {
            return Poll::Pending;
        }
        let wrote = Pin::new(&mut self.socket).poll_write(cx, buf);
        self.heed(wrote)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        if self.is_mute {
            return Poll::Pending;
        }
        let wrote = Pin::new(&mut self.socket).poll_write_vectored(cx, bufs);
        self.heed(wrote)
    }

    fn is_write_vectored(&self) -> bool {
        self.socket.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.is_mute {
            return Poll::Pending;
        }
        let flushed = Pin::new(&mut self.socket).poll_flush(cx);
        self.heed(flushed)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.is_mute {
            return Poll::Ready(Ok(()));
        }
        ready!(Pin::new(&mut self.socket).poll_shutdown(cx))?;
        Poll::Ready(Ok(()))
    }
}
