use super::socket::Socket;
use super::watch::Watch;
use bytes::{Buf, BytesMut};
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// The bytes of an HTTP/2 connection from a client, on their way from and to hyper.
#[derive(Debug)]
pub(crate) struct Watched {
    socket: Socket,
    watch: Rc<Watch>,
    /// Read already.
    first: BytesMut,
}

impl Watched {
    /// A connection of which `first` has been read already.
    pub(crate) fn new(socket: Socket, watch: Rc<Watch>, first: BytesMut) -> Self {
        Self { socket, watch, first }
    }
}

impl AsyncRead for Watched {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if this.first.is_empty() {
            return Pin::new(&mut this.socket).poll_read(cx, buf);
        }
        let here = this.first.len().min(buf.remaining());
        buf.put_slice(&this.first[..here]);
        this.first.advance(here);
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Watched {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        let wrote = Pin::new(&mut self.socket).poll_write(cx, buf);
        self.watch.wrote(wrote.is_ready());
        wrote
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let wrote = Pin::new(&mut self.socket).poll_write_vectored(cx, bufs);
        self.watch.wrote(wrote.is_ready());
        wrote
    }

    fn is_write_vectored(&self) -> bool {
        self.socket.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        this.watch.closing();
        Pin::new(&mut this.socket).poll_shutdown(cx)
    }
}
