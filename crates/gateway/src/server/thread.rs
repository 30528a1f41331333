//! A thread of the gateway: it accepts connections and serves them, alone.

use super::core::Core;
use super::registry::Mood;
use super::room::Room;
use crate::downstream::attend;
use crate::gate::Gate;
use crate::plan::Plan;
use crate::upstream::probe_all;
use std::io;
use std::net::TcpListener as StdListener;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::Instant;

/// How long to wait when the process has no file descriptors left.
const EXHAUSTED: Duration = Duration::from_millis(50);

/// The longest time that connections without a request are left open while draining: a request may be on its
/// way to them.
pub(crate) const GRACE: Duration = Duration::from_secs(1);

/// What a thread is told to do.
pub(crate) enum Command {
    /// Work by this plan.
    Change(Arc<Plan>, oneshot::Sender<()>),
    /// Come to an end by then.
    Drain(Instant, oneshot::Sender<usize>),
}

/// The sockets of a thread.
pub(crate) struct Sockets {
    pub(crate) plain: Vec<StdListener>,
    pub(crate) encrypted: Vec<StdListener>,
}

/// Runs until it is told to end, or nobody is left to tell it anything.
pub(crate) async fn run<G: Gate>(
    core: Rc<Core<G>>,
    sockets: Sockets,
    mut commands: mpsc::UnboundedReceiver<Command>,
    asks: bool,
) -> io::Result<()> {
    let (stop, stopped) = watch::channel(false);
    let plain = sockets.plain.into_iter().map(|socket| (socket, false));
    let encrypted = sockets.encrypted.into_iter().map(|socket| (socket, true));
    let mut accepting = Vec::new();
    for (socket, is_encrypted) in plain.chain(encrypted) {
        let listener = TcpListener::from_std(socket)?;
        let welcomes = accept(Rc::clone(&core), listener, is_encrypted, stopped.clone());
        accepting.push(tokio::task::spawn_local(welcomes));
    }
    if asks {
        probe_all(core.plan().shared.endpoints());
    }
    let mut ticks = tokio::time::interval(Duration::from_secs(1));
    loop {
        tokio::select! {
            _ = ticks.tick() => core.tick(),
            command = commands.recv() => match command {
                Some(Command::Change(next, done)) => {
                    core.change(next);
                    if asks {
                        probe_all(core.plan().shared.endpoints());
                    }
                    let _ = done.send(());
                }
                Some(Command::Drain(deadline, done)) => {
                    let _ = stop.send(true);
                    for task in accepting {
                        let _ = task.await;
                    }
                    let _ = done.send(drain(&core, deadline).await);
                    return Ok(());
                }
                None => return Ok(()),
            },
        }
    }
}

/// Lets connections finish; tells how many had not by the deadline.
async fn drain<G: Gate>(core: &Core<G>, deadline: Instant) -> usize {
    core.registry.change(Mood::Draining);
    let grace = deadline.min(Instant::now() + GRACE);
    if tokio::time::timeout_at(grace, core.registry.emptied()).await.is_err() {
        core.registry.change(Mood::Closing);
        let _ = tokio::time::timeout_at(deadline, core.registry.emptied()).await;
    }
    let left = core.registry.count();
    core.registry.change(Mood::Over);
    left
}

async fn accept<G: Gate>(
    core: Rc<Core<G>>,
    listener: TcpListener,
    is_encrypted: bool,
    mut stopped: watch::Receiver<bool>,
) {
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            _ = stopped.changed() => break,
        };
        match accepted {
            Ok((stream, peer)) => welcome(&core, stream, peer.ip().to_canonical(), is_encrypted),
            // One that is gone already is no matter, the rest are: wait until there is room again.
            Err(error) if error.kind() == io::ErrorKind::ConnectionAborted => {}
            Err(_) => tokio::time::sleep(EXHAUSTED).await,
        }
    }
    // Those who were let in by the kernel before the socket is closed are served too.
    let socket = listener.into_std();
    while let Ok((stream, peer)) =
        socket.as_ref().map_or(Err(io::ErrorKind::Other.into()), StdListener::accept)
    {
        let stream = stream.set_nonblocking(true).and_then(|()| TcpStream::from_std(stream));
        if let Ok(stream) = stream {
            welcome(&core, stream, peer.ip().to_canonical(), is_encrypted);
        }
    }
}

/// Takes a connection in, unless there are too many.
fn welcome<G: Gate>(core: &Rc<Core<G>>, stream: TcpStream, peer: std::net::IpAddr, is_encrypted: bool) {
    let counters = &core.duties.counters;
    let plan = core.plan();
    let room = Room::take(&core.connections);
    if room.number() > u64::from(plan.shared.config.max_connections) {
        counters.connections_refused.up();
        if !is_encrypted {
            // Best effort: the socket is new, so this much fits.
            let _ = stream.try_write(FULL);
        }
        return;
    }
    counters.connections_accepted.up();
    // Without it answers would wait for acknowledgements.
    let _ = stream.set_nodelay(true);
    let encryption = if is_encrypted { plan.shared.tls.clone() } else { None };
    let seat = core.registry.seat();
    let core = Rc::clone(core);
    tokio::task::spawn_local(attend(core, stream, peer, encryption, seat, room));
}

const FULL: &[u8] =
    b"HTTP/1.1 503 Service Unavailable\r\nconnection: close\r\ncontent-type: application/json\r\n\
    x-tollgate-error: too_many_connections\r\ncontent-length: 78\r\n\r\n\
    {\"error\":\"too_many_connections\",\"message\":\"the gateway takes no more of them\"}";
