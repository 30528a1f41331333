//! Who is let in: so many at a time, and only as long as something is said.

use axum::serve::Listener;
use std::future::pending;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::time::{Instant, Sleep, sleep_until, timeout};

/// Connections at a time. The rest waits outside: the control plane must not use up the files that the doors beside it need.
pub(crate) const MOST: u32 = 1_000;

/// How long nothing may be said either way. A watcher hears something every second.
pub(crate) const SILENCE: Duration = Duration::from_secs(75);

/// How long those who were let in are waited for when it closes: a call may be on its way.
const GRACE: Duration = Duration::from_secs(1);

/// A listener with so many places.
#[derive(Debug)]
pub(crate) struct Entrance {
    listener: TcpListener,
    most: u32,
    places: Arc<Semaphore>,
    silence: Duration,
    closing: watch::Receiver<bool>,
}

/// Who called, as routes see it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Peer(pub(crate) SocketAddr);

/// A connection in its place.
#[derive(Debug)]
pub(crate) struct Seated {
    stream: TcpStream,
    silence: Duration,
    alarm: Pin<Box<Sleep>>,
    /// When something was said last; the alarm is only set anew when it goes off.
    heard: Instant,
    _place: OwnedSemaphorePermit,
}

impl Entrance {
    /// Lets nobody in any more once it is `closing`.
    pub(crate) fn new(
        listener: TcpListener,
        most: u32,
        silence: Duration,
        closing: watch::Receiver<bool>,
    ) -> Self {
        Self { listener, most, places: Arc::new(Semaphore::new(most as usize)), silence, closing }
    }

    /// Waits until it closes, and then until those who are in have left, but not for long.
    pub(crate) fn deserted(&self) -> impl Future<Output = ()> + use<> {
        let (most, places, mut closing) = (self.most, Arc::clone(&self.places), self.closing.clone());
        async move {
            closed(&mut closing).await;
            let _ = timeout(GRACE, places.acquire_many(most)).await;
        }
    }

    /// The next one, once there is a place.
    pub(crate) async fn accept(&mut self) -> (Seated, SocketAddr) {
        loop {
            // It is never closed.
            let Ok(place) = Arc::clone(&self.places).acquire_owned().await else { continue };
            let accepted = tokio::select! {
                biased;
                () = closed(&mut self.closing) => None,
                accepted = Listener::accept(&mut self.listener) => Some(accepted),
            };
            let Some((stream, address)) = accepted else {
                drop(place);
                return pending().await;
            };
            // Small answers go out at once.
            let _ = stream.set_nodelay(true);
            return (Seated::new(stream, self.silence, place), address);
        }
    }
}

/// Waits until it is closing, or nobody is left who could say so.
async fn closed(closing: &mut watch::Receiver<bool>) {
    let _ = closing.wait_for(|is_closing| *is_closing).await;
}

impl Seated {
    fn new(stream: TcpStream, silence: Duration, place: OwnedSemaphorePermit) -> Self {
        let heard = Instant::now();
        let alarm = Box::pin(sleep_until(heard + silence));
        Self { stream, silence, alarm, heard, _place: place }
    }

    /// Something was said, or nothing was and it may go on for now; an error once it was silent for too long.
    fn heed<T>(&mut self, said: Poll<io::Result<T>>, context: &mut Context<'_>) -> Poll<io::Result<T>> {
        if said.is_ready() {
            self.heard = Instant::now();
            return said;
        }
        loop {
            ready!(self.alarm.as_mut().poll(context));
            let due = self.heard + self.silence;
            if due <= Instant::now() {
                return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
            }
            self.alarm.as_mut().reset(due);
        }
    }
}

impl AsyncRead for Seated {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let said = Pin::new(&mut self.stream).poll_read(context, buffer);
        self.heed(said, context)
    }
}

impl AsyncWrite for Seated {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let said = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.heed(said, context)
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
        let said = Pin::new(&mut self.stream).poll_write_vectored(context, pieces);
        self.heed(said, context)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::pin::pin;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    async fn entrance(most: u32, silence: Duration) -> (Entrance, SocketAddr, watch::Sender<bool>) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (close, closing) = watch::channel(false);
        (Entrance::new(listener, most, silence, closing), address, close)
    }

    #[tokio::test]
    async fn whoever_comes_last_waits_for_a_place() {
        let (mut entrance, address, _close) = entrance(1, SILENCE).await;
        let _clients =
            (TcpStream::connect(address).await.unwrap(), TcpStream::connect(address).await.unwrap());
        let (first, _) = entrance.accept().await;
        let second = timeout(Duration::from_millis(50), entrance.accept()).await;
        assert!(second.is_err(), "there is no place");
        drop(first);
        entrance.accept().await;
    }

    #[tokio::test]
    async fn whoever_is_in_is_waited_for_when_it_closes_and_nobody_else_is_let_in() {
        let (mut entrance, address, close) = entrance(2, SILENCE).await;
        let mut deserted = pin!(entrance.deserted());
        let _clients =
            (TcpStream::connect(address).await.unwrap(), TcpStream::connect(address).await.unwrap());
        let (inside, _) = entrance.accept().await;
        close.send_replace(true);
        let moment = Duration::from_millis(50);
        assert!(timeout(moment, entrance.accept()).await.is_err(), "it is closed");
        assert!(timeout(moment, deserted.as_mut()).await.is_err(), "somebody is inside");
        drop(inside);
        timeout(GRACE, deserted).await.unwrap();
    }

    #[tokio::test]
    async fn whoever_says_nothing_has_to_leave_and_whoever_talks_may_stay() {
        let silence = Duration::from_secs(1);
        let (mut entrance, address, _close) = entrance(2, silence).await;
        let (mut client, _quiet) =
            (TcpStream::connect(address).await.unwrap(), TcpStream::connect(address).await.unwrap());
        let (mut talking, _) = entrance.accept().await;
        let (mut silent, _) = entrance.accept().await;
        let mut buffer = [0; 1];
        for _ in 0..5 {
            tokio::time::sleep(silence / 4).await;
            client.write_all(b"x").await.unwrap();
            talking.read_exact(&mut buffer).await.unwrap();
        }
        let error = silent.read(&mut buffer).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
    }
}
