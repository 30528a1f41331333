use crate::namespace::Namespace;
use crate::port::free_port;
use crate::process::{Process, Signal, run};
use anyhow::Context;
use std::env;
use std::ffi::{OsStr, OsString};
use std::net::{IpAddr, Ipv4Addr};
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// How long a server may take to answer after it was started.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

/// Names another program to be tested than the `redis-server` that is installed: an older or newer one, or Valkey.
const PROGRAM: &str = "TOLLGATE_REDIS_SERVER";

/// A `redis-server` of our own, with nothing saved to disk.
#[derive(Debug)]
pub struct RedisServer {
    port: u16,
    /// Where it runs, if not where we do. It outlives the process that is in it.
    namespace: Option<Namespace>,
    options: Vec<String>,
    home: TempDir,
    process: Option<Process>,
}

/// The process ends before its network does: fields are dropped in their order.
impl Drop for RedisServer {
    fn drop(&mut self) {
        self.kill();
    }
}

impl RedisServer {
    /// Starts a server on a free port and waits until it answers.
    pub fn start() -> anyhow::Result<Self> {
        Self::start_on(free_port()?, &[])
    }

    /// Starts a server on that port with more options, as `["--name", "value"]`.
    pub fn start_on(port: u16, options: &[&str]) -> anyhow::Result<Self> {
        let options = options.iter().map(ToString::to_string).collect();
        let home = TempDir::new().context("no temporary folder")?;
        let mut server = Self { port, namespace: None, options, home, process: None };
        server.restart()?;
        Ok(server)
    }

    /// Starts a server in a network of its own, which can be cut off.
    pub fn start_in(namespace: Namespace) -> anyhow::Result<Self> {
        let (port, home) = (free_port()?, TempDir::new().context("no temporary folder")?);
        let mut server = Self { port, namespace: Some(namespace), options: Vec::new(), home, process: None };
        server.restart()?;
        Ok(server)
    }

    /// The network it is in, if it is one of its own.
    pub const fn namespace(&self) -> Option<&Namespace> {
        self.namespace.as_ref()
    }

    fn host(&self) -> IpAddr {
        self.namespace.as_ref().map_or(Ipv4Addr::LOCALHOST.into(), |namespace| namespace.inside().into())
    }

    fn command(&self, program: &OsStr) -> Command {
        self.namespace.as_ref().map_or_else(|| Command::new(program), |inside| inside.command(program))
    }

    /// The port it listens on.
    pub const fn port(&self) -> u16 {
        self.port
    }

    /// Where to reach it.
    pub fn url(&self) -> String {
        format!("redis://{}:{}", self.host(), self.port)
    }

    /// Kills it, if it runs.
    pub fn kill(&mut self) {
        self.process = None;
    }

    /// Starts it again, empty, on the same port.
    pub fn restart(&mut self) -> anyhow::Result<()> {
        self.kill();
        let process = Process::start(
            self.command(&program())
                .args(["--port", &self.port.to_string(), "--bind", &self.host().to_string(), "--save", ""])
                .args(["--protected-mode", "no"])
                .args(["--appendonly", "no", "--dir"])
                .arg(self.home.path())
                .args(&self.options),
        )?;
        self.process = Some(process);
        // One that wants a password first answers too.
        self.wait_until("no answer", || {
            self.cli(&["PING"]).is_ok_and(|answer| answer.contains("PONG") || answer.contains("NOAUTH"))
        })
    }

    /// Does something to its process.
    pub fn signal(&self, signal: Signal) -> anyhow::Result<()> {
        self.process.as_ref().context("the server is not running")?.signal(signal)
    }

    /// Runs a command by `redis-cli` and returns what it printed.
    pub fn cli(&self, words: &[&str]) -> anyhow::Result<String> {
        let port = self.port.to_string();
        let host = self.host().to_string();
        run(self.command("redis-cli".as_ref()).args(["-h", &host, "-p", &port]).args(words))
    }

    /// Asks until the answer contains `expected`.
    pub fn wait_for(&self, expected: &str, words: &[&str]) -> anyhow::Result<()> {
        self.wait_until(expected, || self.cli(words).is_ok_and(|answer| answer.contains(expected)))
    }

    fn wait_until(&self, what: &str, is_so: impl Fn() -> bool) -> anyhow::Result<()> {
        let start = Instant::now();
        while !is_so() {
            anyhow::ensure!(start.elapsed() < PATIENCE, "waited in vain on port {}: {what}", self.port);
            thread::sleep(Duration::from_millis(20));
        }
        Ok(())
    }
}

fn program() -> OsString {
    env::var_os(PROGRAM).filter(|name| !name.is_empty()).unwrap_or_else(|| "redis-server".into())
}
