//! Upgraded connections: bytes go both ways, whatever they mean.

use super::Visitor;
use super::journey::Journey;
use crate::downstream::Socket;
use crate::gate::{Gate, Ticket};
use bytes::Bytes;
use std::cell::Cell;
use std::io;
use std::pin::pin;
use std::rc::Rc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::sync::oneshot;
use tokio::time::Instant;

/// Bytes that are taken at a time in each direction.
const BUFFER: usize = 16 * 1024;

/// How long one direction may be still when the other has ended.
const HALF_CLOSED: Duration = Duration::from_secs(5);

/// Connects the two ends once the client's is upgraded, beginning with what both have said already, until both are closed or nothing moves for `patience`. The
/// connection lasts, as far as the gate and the limits are concerned.
pub(crate) fn open<G: Gate>(
    (client, server): (oneshot::Receiver<(Socket, Bytes)>, (Socket, Bytes)),
    journey: Rc<Journey<G::Ticket>>,
    visitor: Rc<Visitor<G>>,
    patience: Duration,
) {
    let seat = visitor.core.registry.seat();
    tokio::task::spawn_local(async move {
        let counters = &journey.duties().counters;
        counters.tunnels_active.up();
        if let Ok(client) = client.await {
            run(client, server, &journey, patience).await;
        }
        counters.tunnels_active.down();
        drop((visitor, seat));
    });
}

async fn run<T: Ticket>(
    (client, from_client_first): (Socket, Bytes),
    (server, from_server_first): (Socket, Bytes),
    journey: &Journey<T>,
    patience: Duration,
) {
    let moved = Cell::new(Instant::now());
    let (mut from_client, mut to_client) = tokio::io::split(client);
    let (mut from_server, mut to_server) = tokio::io::split(server);
    let up = copy(&from_client_first, &mut from_client, &mut to_server, |bytes| {
        moved.set(Instant::now());
        journey.sent(bytes, moved.get().into());
    });
    let down = copy(&from_server_first, &mut from_server, &mut to_client, |bytes| {
        moved.set(Instant::now());
        journey.received(bytes);
    });
    let (mut up, mut down) = (pin!(up), pin!(down));
    let ended = tokio::select! {
        ended = &mut up => ended.is_ok().then_some(Rest::Down),
        ended = &mut down => ended.is_ok().then_some(Rest::Up),
        () = stillness(&moved, patience) => None,
    };
    moved.set(Instant::now());
    let patience = patience.min(HALF_CLOSED);
    match ended {
        Some(Rest::Up) => tokio::select! { _ = up => {}, () = stillness(&moved, patience) => {} },
        Some(Rest::Down) => tokio::select! { _ = down => {}, () = stillness(&moved, patience) => {} },
        None => {}
    }
}

/// The direction that has not ended.
enum Rest {
    Up,
    Down,
}

/// Copies until the end, what was there first before everything, and passes the end on.
async fn copy<R, W>(first: &[u8], from: &mut R, to: &mut W, moved: impl Fn(usize)) -> io::Result<()>
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin,
{
    if !first.is_empty() {
        to.write_all(first).await?;
        to.flush().await?;
        moved(first.len());
    }
    let mut buffer = vec![0; BUFFER];
    loop {
        let count = from.read(&mut buffer).await?;
        if count == 0 {
            return to.shutdown().await;
        }
        to.write_all(&buffer[..count]).await?;
        to.flush().await?;
        moved(count);
    }
}

/// Ends when nothing moved for `patience`.
async fn stillness(moved: &Cell<Instant>, patience: Duration) {
    loop {
        let deadline = moved.get() + patience;
        tokio::time::sleep_until(deadline).await;
        if moved.get() + patience <= deadline {
            return;
        }
    }
}
