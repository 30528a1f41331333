use super::socket::Socket;
use super::watch::{Upgrade, Watch};
use crate::framing::{Bounds, Fault, Framing, Then, end_of};
use bytes::{Buf, BytesMut};
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// Stands for a request that is not let in, so that its answer comes in its turn.
const STAND_IN: &[u8] = b"GET / HTTP/1.1\r\nhost: refused\r\nconnection: close\r\n\r\n";

/// The most bytes that are read ahead while an upgrade is undecided.
const MAX_READ_AHEAD: usize = 64 * 1024;

/// The most bytes that are taken in and thrown away when closing, so that the client gets to read the answer.
const MAX_LINGER: usize = 4 * 1024 * 1024;

/// The bytes of a connection from a client, on their way to hyper.
///
/// Of HTTP/1 only those get through that [`Framing`] lets pass. A request that it does not is replaced by a
/// harmless one, and the [`Watch`] knows which: hyper answers requests in order, so the answers to those before it
/// come first.
#[derive(Debug)]
pub(crate) struct Line {
    socket: Socket,
    watch: Arc<Watch>,
    intake: Intake,
    lingered: usize,
}

#[derive(Debug)]
enum Intake {
    /// Everything passes, these first.
    Opaque(BytesMut),
    Http1(Box<Checked>),
    /// A request was not let in: the rest is thrown away.
    Deaf(BytesMut),
}

#[derive(Debug)]
struct Checked {
    framing: Framing,
    /// Not looked at yet, or half a head.
    raw: BytesMut,
    /// How much of `raw` is known to hold no end of a head.
    scanned: usize,
    /// May pass.
    passed: BytesMut,
}

/// What came of looking at bytes.
enum Looked {
    /// There may be more to pass on.
    On,
    /// It takes more bytes to say more.
    More,
    /// It takes a decision about an upgrade.
    Undecided,
    Fault(Fault),
    Broken(&'static str),
}

impl Line {
    /// HTTP/1, of which `start` has been read already.
    pub(crate) fn http1(socket: Socket, watch: Arc<Watch>, bounds: Bounds, start: BytesMut) -> Self {
        let checked =
            Checked { framing: Framing::new(bounds), raw: start, scanned: 0, passed: BytesMut::new() };
        Self { socket, watch, intake: Intake::Http1(Box::new(checked)), lingered: 0 }
    }

    /// HTTP/2, of which `start` has been read already.
    pub(crate) fn http2(socket: Socket, watch: Arc<Watch>, start: BytesMut) -> Self {
        Self { socket, watch, intake: Intake::Opaque(start), lingered: 0 }
    }

    /// Whether the client may still be sending something that nobody will read.
    fn must_linger(&self) -> bool {
        match &self.intake {
            Intake::Opaque(_) => false,
            Intake::Http1(checked) => !checked.framing.is_between_requests(),
            Intake::Deaf(_) => true,
        }
    }

    fn poll_checked(&mut self, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        loop {
            let Intake::Http1(checked) = &mut self.intake else { return Poll::Ready(Ok(())) };
            if !checked.passed.is_empty() {
                give(&mut checked.passed, buf);
                return Poll::Ready(Ok(()));
            }
            let looked = match self.watch.fault_of(checked.framing.heads()) {
                // The clock found it, not the bytes.
                Some(fault) => Looked::Fault(fault),
                None => checked.look(),
            };
            match looked {
                Looked::On => {
                    self.watch.head_complete();
                    continue;
                }
                Looked::More if checked.raw.is_empty() => {}
                Looked::More => self.watch.head_started(),
                Looked::Undecided => match self.watch.take_upgrade(cx.waker()) {
                    Upgrade::Agreed => {
                        self.intake = Intake::Opaque(std::mem::take(&mut checked.raw));
                        return Pin::new(self).poll_read(cx, buf);
                    }
                    Upgrade::Declined => {
                        checked.framing.go_on();
                        continue;
                    }
                    Upgrade::Undecided if checked.raw.len() >= MAX_READ_AHEAD => return Poll::Pending,
                    Upgrade::Undecided => {}
                },
                Looked::Fault(fault) => {
                    self.watch.blame(checked.framing.heads(), fault);
                    self.watch.head_complete();
                    self.intake = Intake::Deaf(BytesMut::from(STAND_IN));
                    return Pin::new(self).poll_read(cx, buf);
                }
                Looked::Broken(why) => {
                    return Poll::Ready(Err(io::Error::new(io::ErrorKind::InvalidData, why)));
                }
            }
            let start = buf.filled().len();
            ready!(Pin::new(&mut self.socket).poll_read(cx, buf))?;
            if buf.filled().len() == start || checked.take_in(buf, start, &self.watch) {
                return Poll::Ready(Ok(()));
            }
        }
    }

    /// Throws away what comes, up to a limit.
    fn poll_discard(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let mut scratch = [0; 4_096];
        while self.lingered < MAX_LINGER {
            let mut buf = ReadBuf::new(&mut scratch);
            ready!(Pin::new(&mut self.socket).poll_read(cx, &mut buf))?;
            if buf.filled().is_empty() {
                return Poll::Ready(Ok(()));
            }
            self.lingered += buf.filled().len();
        }
        Poll::Ready(Ok(()))
    }
}

impl Checked {
    /// Looks at what was kept back, and moves what may pass.
    fn look(&mut self) -> Looked {
        if self.raw.is_empty() {
            // Behind a request to upgrade it must be known whether to look at what comes.
            return if self.framing.is_undecided() { Looked::Undecided } else { Looked::More };
        }
        if self.scanned > 0
            && end_of(&self.raw, self.scanned).is_none()
            && !self.framing.is_full(self.raw.len())
        {
            self.scanned = self.raw.len();
            return Looked::More;
        }
        self.scanned = 0;
        let step = self.framing.advance(&self.raw);
        self.passed.unsplit(self.raw.split_to(step.bytes));
        match step.then {
            Then::All => Looked::On,
            Then::Skip(bytes) => {
                self.raw.advance(bytes);
                Looked::On
            }
            _ if !self.passed.is_empty() => Looked::On,
            Then::Partial => {
                self.scanned = self.raw.len();
                Looked::More
            }
            Then::Undecided => Looked::Undecided,
            Then::Fault(fault) => Looked::Fault(fault),
            Then::Broken(why) => Looked::Broken(why),
        }
    }

    /// Takes in what was read into `buf` from `start`; true if hyper can have it as it is.
    fn take_in(&mut self, buf: &mut ReadBuf<'_>, start: usize, watch: &Watch) -> bool {
        let fresh = &buf.filled()[start..];
        if self.raw.is_empty() {
            let step = self.framing.advance(fresh);
            if step.then == Then::All {
                watch.head_complete();
                return true;
            }
            self.raw.extend_from_slice(&fresh[step.bytes..]);
            buf.set_filled(start + step.bytes);
            if step.then == Then::Partial {
                self.scanned = self.raw.len();
                watch.head_started();
            }
            return step.bytes > 0;
        }
        self.raw.extend_from_slice(fresh);
        buf.set_filled(start);
        false
    }
}

fn give(bytes: &mut BytesMut, buf: &mut ReadBuf<'_>) {
    let here = bytes.len().min(buf.remaining());
    buf.put_slice(&bytes[..here]);
    bytes.advance(here);
}

impl AsyncRead for Line {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        match &mut this.intake {
            Intake::Opaque(first) | Intake::Deaf(first) if !first.is_empty() => {
                give(first, buf);
                Poll::Ready(Ok(()))
            }
            Intake::Opaque(_) => Pin::new(&mut this.socket).poll_read(cx, buf),
            Intake::Deaf(_) => this.poll_discard(cx),
            Intake::Http1(_) => this.poll_checked(cx, buf),
        }
    }
}

impl AsyncWrite for Line {
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

    /// Closing with unread bytes would reset the connection, and the client might never see its answer.
    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        this.watch.closing();
        ready!(Pin::new(&mut this.socket).poll_shutdown(cx))?;
        if this.must_linger() { this.poll_discard(cx) } else { Poll::Ready(Ok(())) }
    }
}
