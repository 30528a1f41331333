//! Threads that serve connections, each alone with its own.
//!
//! Where the tasks of one connection run on one thread, the answers to calls that came together leave together, in one
//! write. On a runtime of several threads each call wakes the connection by itself.

use crate::place::{Entrance, Placed};
use futures_util::stream;
use std::io;
use std::net::TcpStream as StdStream;
use std::thread::{self, available_parallelism};
use tokio::net::TcpStream;
use tokio::runtime::{Builder, Handle, RuntimeFlavor};
use tokio::sync::{OwnedSemaphorePermit, mpsc, watch};
use tokio::task::JoinHandle;
use tonic::transport::server::Router;

/// Connections that were accepted and wait for their thread.
const WAITING: usize = 1_024;

/// A connection on its way to its thread.
type Socket = (StdStream, OwnedSemaphorePermit);

/// Serves whoever connects, once it is `ready`, until `closing`, and then until the calls under way are answered; aborted,
/// it ends at once. A runtime of one thread does it itself.
pub(crate) fn serve(
    entrance: Entrance,
    router: &Router,
    ready: impl Future<Output = ()> + Send + 'static,
    closing: watch::Receiver<bool>,
) -> io::Result<JoinHandle<()>> {
    let (here, parting) = (watch::Sender::new(()), watch::Sender::new(false));
    let (running, mut ended) = mpsc::channel::<()>(1);
    let is_alone = Handle::current().runtime_flavor() == RuntimeFlavor::CurrentThread;
    let count = if is_alone { 1 } else { available_parallelism().map_or(1, usize::from) };
    let threads: io::Result<Vec<mpsc::Sender<Socket>>> = (0..count)
        .map(|i| {
            let (sockets, queue) = mpsc::channel(WAITING);
            let (router, parting, mut here) = (router.clone(), parting.subscribe(), here.subscribe());
            let running = running.clone();
            let served = async move {
                let served = router.serve_with_incoming_shutdown(accepted(queue), closed(parting));
                tokio::select! {
                    result = served => tell(result),
                    // Nobody waits for the end any more.
                    _ = here.changed() => {}
                }
                drop(running);
            };
            if is_alone {
                tokio::spawn(served);
            } else {
                let runtime = Builder::new_current_thread().enable_all().build()?;
                let thread = thread::Builder::new().name(format!("rls-{i}"));
                thread.spawn(move || runtime.block_on(served))?;
            }
            Ok(sockets)
        })
        .collect();
    let threads = threads?;
    Ok(tokio::spawn(async move {
        let _here = here;
        drop(running);
        ready.await;
        tokio::select! {
            () = hand_out(&entrance, &threads) => {}
            () = closed(closing) => {}
        }
        entrance.close().await;
        parting.send_replace(true);
        ended.recv().await;
    }))
}

/// Gives each connection to the next thread in turn: few that are busy must not meet on one.
async fn hand_out(entrance: &Entrance, threads: &[mpsc::Sender<Socket>]) {
    for thread in threads.iter().cycle() {
        loop {
            let (stream, place) = entrance.accept().await;
            if let Ok(stream) = stream.into_std() {
                // A thread that has ended takes no more.
                let _ = thread.send((stream, place)).await;
                break;
            }
        }
    }
}

/// The connections that a thread is given.
fn accepted(mut queue: mpsc::Receiver<Socket>) -> impl stream::Stream<Item = io::Result<Placed>> {
    stream::poll_fn(move |context| {
        queue.poll_recv(context).map(|socket| {
            socket.map(|(stream, place)| {
                TcpStream::from_std(stream).and_then(|stream| Placed::new(stream, place))
            })
        })
    })
}

/// Ends when it is time to close, or when nobody is left who could say so.
async fn closed(mut closing: watch::Receiver<bool>) {
    let _ = closing.wait_for(|is_closing| *is_closing).await;
}

fn tell(result: Result<(), tonic::transport::Error>) {
    if let Err(error) = result {
        tracing::error!(%error, "the rate limit service has stopped");
    }
}
