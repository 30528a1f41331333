//! Threads that serve connections, each alone with its own.
//!
//! Where the tasks of one connection run on one thread, the answers to calls that came together leave together, in one
//! write. On a runtime of several threads each call wakes the connection by itself.

use futures_util::stream;
use std::io;
use std::net::TcpStream as StdStream;
use std::thread::{self, available_parallelism};
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::{Builder, Handle, RuntimeFlavor};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;
use tonic::transport::server::{Router, TcpIncoming};

/// How long to wait when the process has no file descriptors left.
const EXHAUSTED: Duration = Duration::from_millis(50);

/// Connections that were accepted and wait for their thread.
const WAITING: usize = 1_024;

/// Serves whoever connects, once it is `ready`, until `closing`, and then until the calls under way are answered; aborted,
/// it ends at once. A runtime of one thread does it itself.
pub(crate) fn serve(
    listener: TcpListener,
    router: Router,
    ready: impl Future<Output = ()> + Send + 'static,
    closing: watch::Receiver<bool>,
) -> io::Result<JoinHandle<()>> {
    if Handle::current().runtime_flavor() == RuntimeFlavor::CurrentThread {
        let incoming = TcpIncoming::from(listener).with_nodelay(Some(true));
        let served = router.serve_with_incoming_shutdown(incoming, closed(closing));
        return Ok(tokio::spawn(async {
            ready.await;
            tell(served.await);
        }));
    }
    let (here, _) = watch::channel(());
    let (running, mut ended) = mpsc::channel::<()>(1);
    let count = available_parallelism().map_or(1, usize::from);
    let threads: io::Result<Vec<mpsc::Sender<StdStream>>> = (0..count)
        .map(|i| {
            let (sockets, queue) = mpsc::channel(WAITING);
            let (router, closing, mut here) = (router.clone(), closing.clone(), here.subscribe());
            let running = running.clone();
            let runtime = Builder::new_current_thread().enable_all().build()?;
            thread::Builder::new().name(format!("rls-{i}")).spawn(move || {
                runtime.block_on(async {
                    let served = router.serve_with_incoming_shutdown(accepted(queue), closed(closing));
                    tokio::select! {
                        result = served => tell(result),
                        // Nobody waits for the end any more.
                        _ = here.changed() => {}
                    }
                });
                drop(running);
            })?;
            Ok(sockets)
        })
        .collect();
    let threads = threads?;
    Ok(tokio::spawn(async move {
        let _here = here;
        drop(running);
        ready.await;
        tokio::select! {
            () = hand_out(listener, threads) => {}
            () = closed(closing) => {}
        }
        ended.recv().await;
    }))
}

/// Gives each connection to the next thread in turn: few that are busy must not meet on one.
async fn hand_out(listener: TcpListener, threads: Vec<mpsc::Sender<StdStream>>) {
    for thread in threads.iter().cycle() {
        loop {
            let accepted = listener.accept().await.and_then(|(socket, _)| socket.into_std());
            match accepted {
                Ok(socket) => {
                    // A thread that has ended takes no more.
                    let _ = thread.send(socket).await;
                    break;
                }
                Err(_) => tokio::time::sleep(EXHAUSTED).await,
            }
        }
    }
}

/// The connections that a thread is given.
fn accepted(mut queue: mpsc::Receiver<StdStream>) -> impl stream::Stream<Item = io::Result<TcpStream>> {
    stream::poll_fn(move |context| {
        queue.poll_recv(context).map(|socket| {
            socket.map(|socket| {
                socket.set_nodelay(true)?;
                TcpStream::from_std(socket)
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
