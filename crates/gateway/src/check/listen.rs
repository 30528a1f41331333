//! Connections to the check.

use super::service::Service;
use crate::plan::Identifier;
use crate::server::{GRACE, StartError};
use arc_swap::ArcSwap;
use http::header::CONNECTION;
use http::{HeaderValue, Request};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};
use tokio::task::{JoinHandle, JoinSet};
use tollgate_config::gateway::Identity;
use tollgate_ledger::{Ledger, Slots};
use tollgate_listen::Listeners;

/// The most connections at a time.
const MOST: usize = 10_000;

/// How long the header of a request may take, from when the last one was answered.
const HEADER_PATIENCE: Duration = Duration::from_secs(75);

/// The largest header.
const MAX_HEADER: usize = 64 * 1024;

/// How long to wait when the process has no file descriptors left.
const EXHAUSTED: Duration = Duration::from_millis(50);

/// An HTTP check at work. Dropping it ends it at once.
#[derive(Debug)]
pub struct CheckRunning {
    address: SocketAddr,
    identifier: Arc<ArcSwap<Identifier>>,
    stop: watch::Sender<bool>,
    task: JoinHandle<()>,
}

impl CheckRunning {
    /// Where it listens.
    pub fn local_addr(&self) -> SocketAddr {
        self.address
    }

    /// Tells applications by these rules from now on.
    pub fn reload(&self, identity: &Identity) {
        self.identifier.store(Arc::new(Identifier::new(identity)));
    }

    /// Stops accepting connections and lets requests finish, for so long.
    pub async fn drain(mut self, deadline: Duration) {
        self.stop.send_replace(true);
        let _ = tokio::time::timeout(deadline, &mut self.task).await;
    }
}

impl Drop for CheckRunning {
    fn drop(&mut self) {
        self.task.abort();
    }
}

pub(super) fn start<L: Ledger + Slots + 'static>(
    address: SocketAddr,
    service: Arc<Service<L>>,
    identifier: Arc<ArcSwap<Identifier>>,
    listeners: &Listeners,
) -> Result<CheckRunning, StartError> {
    let failed = |error| StartError::Listen(address, error);
    let listener = listeners.open(address).and_then(TcpListener::from_std).map_err(failed)?;
    let address = listener.local_addr().map_err(failed)?;
    let (stop, stopped) = watch::channel(false);
    let task = tokio::spawn(accept(listener, service, stopped));
    Ok(CheckRunning { address, identifier, stop, task })
}

async fn accept<L: Ledger + Slots + 'static>(
    listener: TcpListener,
    service: Arc<Service<L>>,
    mut stopped: watch::Receiver<bool>,
) {
    let room = Arc::new(Semaphore::new(MOST));
    let mut connections = JoinSet::new();
    loop {
        let accepted = tokio::select! {
            accepted = accept_one(&listener, &room) => accepted,
            _ = stopped.changed() => break,
            Some(_) = connections.join_next() => continue,
        };
        let Some((stream, place)) = accepted else { continue };
        let (service, stopped) = (Arc::clone(&service), stopped.clone());
        connections.spawn(async move {
            serve(stream, service, stopped).await;
            drop(place);
        });
    }
    drop(listener);
    while connections.join_next().await.is_some() {}
}

/// A connection and a place for it. Whoever finds none waits in the kernel's queue.
async fn accept_one(
    listener: &TcpListener,
    room: &Arc<Semaphore>,
) -> Option<(TcpStream, tokio::sync::OwnedSemaphorePermit)> {
    let place = Arc::clone(room).acquire_owned().await.ok()?;
    match listener.accept().await {
        Ok((stream, _)) => Some((stream, place)),
        Err(error) if error.kind() == io::ErrorKind::ConnectionAborted => None,
        Err(_) => {
            tokio::time::sleep(EXHAUSTED).await;
            None
        }
    }
}

async fn serve<L: Ledger + Slots + 'static>(
    stream: TcpStream,
    service: Arc<Service<L>>,
    mut stopped: watch::Receiver<bool>,
) {
    // Without it answers would wait for acknowledgements.
    let _ = stream.set_nodelay(true);
    let is_over = stopped.clone();
    let answer = service_fn(move |request: Request<Incoming>| {
        let (service, is_over) = (Arc::clone(&service), is_over.clone());
        async move {
            let mut reply = service.answer(request).await;
            if *is_over.borrow() {
                reply.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
            }
            Ok::<_, Infallible>(reply)
        }
    });
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(HEADER_PATIENCE).max_buf_size(MAX_HEADER);
    let mut connection = pin!(builder.serve_connection(TokioIo::new(stream), answer));
    // How a connection ends is the client's business.
    tokio::select! {
        _ = connection.as_mut() => return,
        _ = stopped.wait_for(|is_over| *is_over) => {}
    }
    // A request may be on its way, which hyper does not wait for.
    if tokio::time::timeout(GRACE, connection.as_mut()).await.is_err() {
        connection.as_mut().graceful_shutdown();
        let _ = connection.await;
    }
}
