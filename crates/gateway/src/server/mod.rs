//! The gateway as a whole: its threads, and how they are told what to do.

mod core;
mod registry;
mod room;
mod thread;

pub(crate) use core::{Core, CorePlan, Duties};
pub(crate) use registry::{Mood, Seat};
pub(crate) use room::Room;
pub(crate) use thread::GRACE;

use crate::access_log::Writer;
use crate::gate::Gate;
use crate::plan::Plan;
use crate::stats::{Counters, Stats};
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::rc::Rc;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;
use thread::{Command, Sockets};
use tokio::runtime::{Builder, LocalOptions};
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;
use tollgate_config::Errors;
use tollgate_config::error::{Error, Problem};
use tollgate_config::gateway::Gateway as Config;
use tollgate_listen::Listeners;

/// A reverse proxy with a gate.
///
/// Each thread has its own listeners, its own connections to servers and its own clone of the gate; on a request's
/// way nothing is shared between threads but what the gate shares.
#[derive(Debug)]
pub struct Gateway;

/// A gateway at work. Dropping it ends it at once; [`Running::drain`] lets it finish.
#[derive(Debug)]
pub struct Running {
    address: SocketAddr,
    tls_address: Option<SocketAddr>,
    threads: Vec<Thread>,
    counters: Vec<Arc<Counters>>,
    plan: Mutex<Arc<Plan>>,
    log: Writer,
}

#[derive(Debug)]
struct Thread {
    commands: mpsc::UnboundedSender<Command>,
    handle: JoinHandle<io::Result<()>>,
}

/// Why a gateway did not start.
#[derive(Debug)]
pub enum StartError {
    /// Certificates cannot be read, or the like.
    Config(Errors),
    /// An address cannot be listened on.
    Listen(SocketAddr, io::Error),
    /// The access log cannot be written, or a thread cannot be started.
    System(io::Error),
}

/// What came of draining.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Drained {
    /// Connections that had not finished by the deadline, and were cut off.
    pub cut_off: usize,
}

impl Gateway {
    /// Starts a gateway that opens its sockets among these. When this returns it accepts connections.
    #[allow(clippy::needless_pass_by_value, reason = "the gateway has the gate for its own")]
    pub fn start<G: Gate>(config: Config, gate: G, listeners: &Listeners) -> Result<Running, StartError> {
        let plan = Arc::new(Plan::new(config, None).map_err(StartError::Config)?);
        let config = &plan.config;
        let count = threads(config);
        let open =
            |address| listeners.open_many(address, count).map_err(|error| StartError::Listen(address, error));
        let bare = open(config.listen)?;
        let encrypted = config.tls.as_ref().map(|tls| open(tls.listen)).transpose()?;
        let local = |sockets: &[TcpListener]| sockets.first().and_then(|socket| socket.local_addr().ok());
        let mut running = Running {
            address: local(&bare).unwrap_or(config.listen),
            tls_address: encrypted.as_deref().and_then(local),
            threads: Vec::with_capacity(count),
            counters: Vec::with_capacity(count),
            plan: Mutex::new(Arc::clone(&plan)),
            log: Writer::start(&config.access_log).map_err(StartError::System)?,
        };
        let connections = Arc::new(AtomicU64::new(0));
        let encrypted = deal(encrypted.unwrap_or_default(), count);
        for (number, (plain, encrypted)) in deal(bare, count).into_iter().zip(encrypted).enumerate() {
            let sockets = Sockets { plain, encrypted };
            running.spawn(number, &gate, sockets, &plan, &connections).map_err(StartError::System)?;
        }
        Ok(running)
    }
}

impl Running {
    fn spawn<G: Gate>(
        &mut self,
        number: usize,
        gate: &G,
        sockets: Sockets,
        plan: &Arc<Plan>,
        connections: &Arc<AtomicU64>,
    ) -> io::Result<()> {
        let counters = Arc::new(Counters::default());
        let (commands, received) = mpsc::unbounded_channel();
        let (gate, plan, connections) = (gate.clone(), Arc::clone(plan), Arc::clone(connections));
        let log = self.log.book();
        let counted = Arc::clone(&counters);
        let work = move || {
            let runtime = Builder::new_current_thread().enable_all().build_local(LocalOptions::default())?;
            let core = Rc::new(Core::new(gate, plan, counted, log, connections, number));
            runtime.block_on(thread::run(core, sockets, received, number == 0))
        };
        let handle = std::thread::Builder::new().name(format!("gateway-{number}")).spawn(work)?;
        self.counters.push(counters);
        self.threads.push(Thread { commands, handle });
        Ok(())
    }

    /// Where it listens without encryption.
    pub fn local_addr(&self) -> SocketAddr {
        self.address
    }

    /// Where it listens with encryption, if it does.
    pub fn tls_addr(&self) -> Option<SocketAddr> {
        self.tls_address
    }

    /// What it has done and is doing.
    pub fn stats(&self) -> Stats {
        let mut stats = Stats::default();
        self.counters.iter().for_each(|counters| counters.add_to(&mut stats));
        stats.log_lines_dropped = self.log.dropped();
        stats
    }

    /// Works by another configuration from now on; certificates are read again even if nothing else changed, and
    /// a log that was moved away is opened anew. If anything is wrong with it, all stays as it was. When this
    /// returns every thread has changed; requests under way go on as they started.
    pub async fn reload(&self, config: Config) -> Result<(), Errors> {
        let before = Arc::clone(&self.plan.lock().unwrap_or_else(PoisonError::into_inner));
        let fixed = fixed_changes(&before.config, &config);
        if !fixed.is_empty() {
            return Err(fixed);
        }
        let plan = Arc::new(Plan::new(config, Some(&before))?);
        self.log.reopen(&plan.config.access_log);
        let mut changed = Vec::with_capacity(self.threads.len());
        for thread in &self.threads {
            let (done, when_done) = oneshot::channel();
            // A thread that is gone serves nobody by any plan.
            if thread.commands.send(Command::Change(Arc::clone(&plan), done)).is_ok() {
                changed.push(when_done);
            }
        }
        for when_done in changed {
            let _ = when_done.await;
        }
        *self.plan.lock().unwrap_or_else(PoisonError::into_inner) = plan;
        Ok(())
    }

    /// Stops accepting connections, lets requests finish, and ends: at `deadline` from now at the latest.
    /// Connections are told: HTTP/2 by GOAWAY, HTTP/1.1 with the next answer.
    pub async fn drain(mut self, deadline: Duration) -> Drained {
        let deadline = Instant::now() + deadline;
        let mut drained = Vec::with_capacity(self.threads.len());
        for thread in &self.threads {
            let (done, when_done) = oneshot::channel();
            if thread.commands.send(Command::Drain(deadline, done)).is_ok() {
                drained.push(when_done);
            }
        }
        let mut cut_off = 0;
        for when_done in drained {
            cut_off += when_done.await.unwrap_or(0);
        }
        self.end();
        Drained { cut_off }
    }

    /// Ends the threads and waits for them. They have nothing left to wait for.
    fn end(&mut self) {
        for Thread { commands, handle } in self.threads.drain(..) {
            drop(commands);
            let _ = handle.join();
        }
        self.log.finish();
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.end();
    }
}

impl std::fmt::Display for StartError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Config(errors) => write!(f, "{errors}"),
            Self::Listen(address, error) => write!(f, "cannot listen on {address}: {error}"),
            Self::System(error) => write!(f, "cannot start the gateway: {error}"),
        }
    }
}

impl std::error::Error for StartError {}

fn threads(config: &Config) -> usize {
    let cores = || std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    config.threads.unwrap_or_else(cores).max(1)
}

/// The sockets of each thread. There may be more of them than threads, if they were those of another process.
fn deal(sockets: Vec<TcpListener>, threads: usize) -> Vec<Vec<TcpListener>> {
    let mut hands: Vec<_> = std::iter::repeat_with(Vec::new).take(threads).collect();
    for (number, socket) in sockets.into_iter().enumerate() {
        hands[number % threads].push(socket);
    }
    hands
}

/// What cannot change while a gateway is running.
fn fixed_changes(before: &Config, after: &Config) -> Errors {
    let restart = |path: &str, before: String, after: String| Error {
        path: path.to_owned(),
        problem: Problem::Conflict("cannot change while the gateway is running".into()),
        value: Some(after),
        expected: Some(format!("{before}, or a restart")),
        origin: None,
    };
    let tls = |config: &Config| config.tls.as_ref().map_or("none".to_owned(), |tls| tls.listen.to_string());
    let is_off = |config: &Config| config.access_log == tollgate_config::gateway::AccessLog::Off;
    let mut errors = Vec::new();
    if before.listen != after.listen {
        errors.push(restart("listen.gateway", before.listen.to_string(), after.listen.to_string()));
    }
    if tls(before) != tls(after) {
        errors.push(restart("gateway.tls.listen", tls(before), tls(after)));
    }
    if threads(before) != threads(after) {
        errors.push(restart("gateway.threads", threads(before).to_string(), threads(after).to_string()));
    }
    if is_off(before) != is_off(after) {
        let (before, after) = (before.access_log.to_string(), after.access_log.to_string());
        errors.push(restart("gateway.access_log", before, after));
    }
    errors.into_iter().collect()
}
