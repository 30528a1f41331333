use crate::downstream::Socket;
use bytes::BytesMut;
use std::future::Future;
use std::io;
use std::pin::pin;
use std::task::{Context, Poll, ready};
use tokio::io::AsyncReadExt;

const MIN: usize = 8 * 1024;
const MAX: usize = 256 * 1024;

/// How much is read at a time of a message: more if it keeps coming.
#[derive(Debug)]
pub(crate) struct Appetite(usize);

impl Default for Appetite {
    fn default() -> Self {
        Self(MIN)
    }
}

impl Appetite {
    /// Whether more came at a time than is usual.
    pub(crate) const fn is_large(&self) -> bool {
        self.0 > MIN
    }

    /// Reads some more; nothing if the other side has closed.
    pub(crate) fn poll_fill(
        &mut self,
        socket: &mut Socket,
        read: &mut BytesMut,
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<usize>> {
        read.reserve(self.0);
        let count = ready!(pin!(socket.read_buf(read)).poll(cx))?;
        if count >= self.0 {
            self.0 = (self.0 * 2).min(MAX);
        } else if count < self.0 / 4 {
            self.0 = (self.0 / 2).max(MIN);
        }
        Poll::Ready(Ok(count))
    }
}
