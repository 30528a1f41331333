//! Listens to what scripts publish, on a connection of its own.
//!
//! In a cluster of servers the channels lie in one slot, and whoever listens has to sit with a server that has that
//! slot. One that has not says which has.

use super::CONNECT_TIMEOUT;
use super::address::Address;
use super::jitter::up_to;
use crate::notice::{Loudspeaker, Notices};
use crate::script::Channels;
use ::redis::aio::MultiplexedConnection;
use ::redis::{
    AsyncConnectionConfig, Client, ConnectionAddr, ConnectionInfo, ProtocolVersion, PushInfo, PushKind,
    RedisError, Value,
};
use std::convert::Infallible;
use std::io;
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::sync::Notify;
use tokio::task::AbortHandle;
use tokio::time::{sleep, timeout};

/// How often a quiet connection is asked whether it is still there.
const HEARTBEAT: Duration = Duration::from_secs(5);

/// The longest pause between two attempts to connect. Nothing depends on this connection, so it can wait longer.
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

const SHORTEST_PAUSE: Duration = Duration::from_millis(20);

/// How often an attempt is sent on to another server before it starts over.
const MAX_REDIRECTS: usize = 3;

/// Hints from those channels until nobody listens any more. Outside of a runtime there are none.
pub(super) fn listen(address: &Arc<Address>, channels: &Channels) -> Notices {
    let Ok(runtime) = Handle::try_current() else { return Notices::silent() };
    let (channels, hints) = (Arc::new(channels.clone()), Arc::new(Loudspeaker::new()));
    let notices = hints.listen();
    let listener = Listener { address: Arc::clone(address), channels, hints };
    let task = runtime.spawn(async move {
        listener.run().await;
    });
    notices.kept_by(Task(task.abort_handle()))
}

/// A task that ends with its owner.
struct Task(AbortHandle);

impl Drop for Task {
    fn drop(&mut self) {
        self.0.abort();
    }
}

struct Listener {
    address: Arc<Address>,
    channels: Arc<Channels>,
    hints: Arc<Loudspeaker>,
}

/// A connection that has subscribed.
struct Seat {
    connection: MultiplexedConnection,
    /// Told when there is nothing more to be heard here.
    is_over: Arc<Notify>,
}

impl Listener {
    /// Listens, and goes looking for another place to listen whenever that ends.
    async fn run(&self) -> Infallible {
        let mut pause = SHORTEST_PAUSE;
        loop {
            for node in &self.address.nodes {
                pause = match self.sit_down(node).await {
                    Ok(seat) => {
                        seat.stay().await;
                        SHORTEST_PAUSE
                    }
                    Err(_) => LONGEST_PAUSE.min(pause * 2),
                };
                sleep(up_to(pause)).await;
            }
        }
    }

    /// Subscribes with that server, or with the one it names.
    async fn sit_down(&self, node: &ConnectionInfo) -> Result<Seat, RedisError> {
        let mut seat = self.connect(node).await?;
        let mut node = node.clone();
        for _ in 0..MAX_REDIRECTS {
            let Err(error) = self.subscribe(&mut seat.connection).await else { return Ok(seat) };
            node = redirected(&node, &error).ok_or(error)?;
            seat = self.connect(&node).await?;
        }
        self.subscribe(&mut seat.connection).await.map(|()| seat)
    }

    async fn connect(&self, node: &ConnectionInfo) -> Result<Seat, RedisError> {
        // Only so can a connection that listens be asked something else, too.
        let settings = node.redis_settings().clone().set_protocol(ProtocolVersion::RESP3);
        let client = Client::open(node.clone().set_redis_settings(settings))?;
        let is_over = Arc::new(Notify::new());
        let config = AsyncConnectionConfig::new()
            .set_connection_timeout(Some(CONNECT_TIMEOUT))
            .set_response_timeout(Some(CONNECT_TIMEOUT))
            .set_push_sender(self.receiver(Arc::clone(&is_over)));
        let connection = client.get_multiplexed_async_connection_with_config(&config);
        Ok(Seat { connection: bounded(CONNECT_TIMEOUT, connection).await?, is_over })
    }

    async fn subscribe(&self, connection: &mut MultiplexedConnection) -> Result<(), RedisError> {
        for channel in [&self.channels.changes, &self.channels.questions] {
            let mut say = async |command| ::redis::cmd(command).arg(channel).exec_async(connection).await;
            if !self.address.is_cluster {
                say("SUBSCRIBE").await?;
                continue;
            }
            match say("SSUBSCRIBE").await {
                // Servers before 7.0: scripts tell everybody then.
                Err(error) if is_unknown_command(&error) => say("SUBSCRIBE").await?,
                answer => answer?,
            }
        }
        Ok(())
    }

    /// Takes what the server sends by itself. Of versions it keeps the latest, of questions a few, so nothing piles up.
    fn receiver(
        &self,
        is_over: Arc<Notify>,
    ) -> impl Fn(PushInfo) -> Result<(), Infallible> + Send + Sync + 'static {
        let (channels, hints) = (Arc::clone(&self.channels), Arc::clone(&self.hints));
        move |push| {
            match push.kind {
                PushKind::Message | PushKind::SMessage => hear(&push.data, &channels, &hints),
                // The slot has moved away.
                PushKind::Disconnection | PushKind::SUnsubscribe => is_over.notify_one(),
                _ => {}
            }
            Ok(())
        }
    }
}

impl Seat {
    /// Returns when there is nothing more to be heard.
    async fn stay(mut self) {
        while timeout(HEARTBEAT, self.is_over.notified()).await.is_err() {
            let ping = ::redis::cmd("PING");
            let answer = bounded(CONNECT_TIMEOUT, ping.exec_async(&mut self.connection)).await;
            if answer.is_err_and(|error| error.is_io_error() || error.is_unrecoverable_error()) {
                return;
            }
        }
    }
}

/// Passes on what was published. Anybody may publish anything: what is neither a version nor a question is no hint.
fn hear(message: &[Value], channels: &Channels, hints: &Loudspeaker) {
    let [Value::BulkString(channel), Value::BulkString(text)] = message else { return };
    let Ok(text) = str::from_utf8(text) else { return };
    if channel == channels.questions.as_bytes() {
        if let Ok(question) = text.parse() {
            hints.ask(question);
        }
    } else if let Ok(version) = text.parse() {
        hints.tell(version);
    }
}

fn is_unknown_command(error: &RedisError) -> bool {
    error.detail().is_some_and(|text| text.starts_with("unknown command"))
}

/// The server that was named instead of `node`, spoken to in the same way.
fn redirected(node: &ConnectionInfo, error: &RedisError) -> Option<ConnectionInfo> {
    let (host, port) = error.redirect_node()?.0.rsplit_once(':')?;
    let port = port.parse().ok()?;
    // A server that does not know its own name leaves it out.
    let host = |same: &str| if host.is_empty() || host == "?" { same.to_owned() } else { host.to_owned() };
    let addr = match node.addr() {
        ConnectionAddr::Tcp(same, _) => ConnectionAddr::Tcp(host(same), port),
        ConnectionAddr::TcpTls { host: same, insecure, tls_params, .. } => ConnectionAddr::TcpTls {
            host: host(same),
            port,
            insecure: *insecure,
            tls_params: tls_params.clone(),
        },
        _ => return None,
    };
    Some(node.clone().set_addr(addr))
}

/// The same, for no longer than that.
async fn bounded<T>(
    longest: Duration,
    step: impl Future<Output = Result<T, RedisError>>,
) -> Result<T, RedisError> {
    let late = || RedisError::from(io::Error::from(io::ErrorKind::TimedOut));
    timeout(longest, step).await.unwrap_or_else(|_| Err(late()))
}
