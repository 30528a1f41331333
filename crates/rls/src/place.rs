//! Who is let in: so many at a time, and only who speaks HTTP/2 soon.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Sleep, sleep, timeout};
use tonic::transport::server::{Connected, TcpConnectInfo};

/// How long to wait when the process has no file descriptors left.
const EXHAUSTED: Duration = Duration::from_millis(50);

/// What every connection begins with, in bytes (RFC 9113, 3.4).
const PREFACE: usize = 24;

/// How long that may take. Keepalives only begin after it: without an end to this, somebody who says nothing would keep a place
/// for ever.
const PREFACE_PATIENCE: Duration = Duration::from_secs(10);

/// How long those who were let in are waited for when it closes: whoever has just come may have a call on its way.
const GRACE: Duration = Duration::from_secs(1);

/// A listener with so many places.
#[derive(Debug)]
pub(crate) struct Entrance {
    listener: TcpListener,
    most: u32,
    places: Arc<Semaphore>,
}

/// A connection in its place.
#[derive(Debug)]
pub(crate) struct Placed {
    stream: TcpStream,
    /// Goes off unless the preface comes in time; none once it has.
    alarm: Option<Pin<Box<Sleep>>>,
    /// How much of the preface has come.
    heard: usize,
    _place: OwnedSemaphorePermit,
}

impl Entrance {
    pub(crate) fn new(listener: TcpListener, most: u32) -> Self {
        let places = usize::try_from(most).unwrap_or(Semaphore::MAX_PERMITS);
        Self { listener, most, places: Arc::new(Semaphore::new(places)) }
    }

    /// The next connection and a place for it. Whoever finds none waits in the kernel's queue.
    pub(crate) async fn accept(&self) -> (TcpStream, OwnedSemaphorePermit) {
        loop {
            // It is never closed.
            let Ok(place) = Arc::clone(&self.places).acquire_owned().await else { continue };
            match self.listener.accept().await {
                Ok((stream, _)) => return (stream, place),
                Err(_) => sleep(EXHAUSTED).await,
            }
        }
    }

    /// Lets nobody in any more, and waits until everybody has left, but not for long.
    pub(crate) async fn close(self) {
        let Self { listener, most, places } = self;
        drop(listener);
        let _ = timeout(GRACE, places.acquire_many(most)).await;
    }
}

impl Placed {
    /// Must be called on the thread that serves the connection.
    pub(crate) fn new(stream: TcpStream, place: OwnedSemaphorePermit) -> io::Result<Self> {
        stream.set_nodelay(true)?;
        let alarm = Some(Box::pin(sleep(PREFACE_PATIENCE)));
        Ok(Self { stream, alarm, heard: 0, _place: place })
    }
}

impl Connected for Placed {
    type ConnectInfo = TcpConnectInfo;

    fn connect_info(&self) -> TcpConnectInfo {
        self.stream.connect_info()
    }
}

impl AsyncRead for Placed {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let said = Pin::new(&mut self.stream).poll_read(context, buffer);
        if self.alarm.is_some() {
            self.heard += buffer.filled().len() - before;
            if self.heard >= PREFACE {
                self.alarm = None;
            }
        }
        match &mut self.alarm {
            Some(alarm) if said.is_pending() => {
                alarm.as_mut().poll(context).map(|()| Err(io::ErrorKind::TimedOut.into()))
            }
            _ => said,
        }
    }
}

impl AsyncWrite for Placed {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        pieces: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(context, pieces)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    async fn caller() -> (Placed, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let client = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        let (stream, place) = Entrance::new(listener, 1).accept().await;
        (Placed::new(stream, place).unwrap(), client)
    }

    #[tokio::test(start_paused = true)]
    async fn whoever_begins_and_does_not_go_on_has_to_leave() {
        let (mut placed, mut client) = caller().await;
        client.write_all(b"PRI * HTTP/2.0").await.unwrap();
        let mut buffer = Vec::new();
        let error = placed.read_to_end(&mut buffer).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
    }

    #[tokio::test(start_paused = true)]
    async fn whoever_has_begun_well_may_be_silent() {
        let (mut placed, mut client) = caller().await;
        client.write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n").await.unwrap();
        let mut preface = [0; PREFACE];
        placed.read_exact(&mut preface).await.unwrap();
        let mut byte = [0; 1];
        let silence = timeout(PREFACE_PATIENCE * 10, placed.read(&mut byte)).await;
        assert!(silence.is_err(), "{silence:?}");
    }
}
