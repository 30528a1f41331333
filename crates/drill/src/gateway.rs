//! `tollgate serve` on ports that stay the same however often it is started.

use crate::level::Level;
use crate::load::Excuse;
use crate::play::Program;
use anyhow::Context;
use serde_json::Value;
use std::fs;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};
use tempfile::TempDir;
use tollgate_testkit::{Process, Signal, free_port};

/// How long it may take to start, and to stop.
const PATIENCE: Duration = Duration::from_secs(30);

/// A gateway in a folder of its own.
#[derive(Debug)]
pub(crate) struct Gateway {
    program: Program,
    /// What the ledger knows it by, if it is to be the same after a restart.
    name: Option<String>,
    /// How long its requests wait for the ledger.
    patience: Duration,
    folder: TempDir,
    process: Option<Process>,
    pub(crate) address: SocketAddr,
    pub(crate) tls: SocketAddr,
    pub(crate) admin: SocketAddr,
    pub(crate) excuse: Excuse,
}

impl Gateway {
    /// Starts one by a configuration that is made for its port for TLS, and waits until it has spoken to its ledger.
    pub(crate) fn start(
        program: &Program,
        name: Option<String>,
        patience: Duration,
        config: impl Fn(SocketAddr) -> String,
    ) -> anyhow::Result<Self> {
        let address = || Ok::<_, anyhow::Error>(SocketAddr::from((Ipv4Addr::LOCALHOST, free_port()?)));
        let mut gateway = Self {
            program: program.clone(),
            name,
            patience,
            folder: TempDir::new().context("no temporary folder")?,
            process: None,
            address: address()?,
            tls: address()?,
            admin: address()?,
            excuse: Excuse::default(),
        };
        gateway.write(&config(gateway.tls))?;
        gateway.process = Some(gateway.spawn(&[])?);
        gateway.wait_until_ready()?;
        Ok(gateway)
    }

    /// Writes its configuration, in one step, as whoever cares does.
    pub(crate) fn write(&self, config: &str) -> anyhow::Result<()> {
        let half = self.folder.path().join("half-written");
        fs::write(&half, config)?;
        fs::rename(half, self.config()).context("the configuration cannot be written")
    }

    pub(crate) fn config(&self) -> PathBuf {
        self.folder.path().join("tollgate.toml")
    }

    /// What it said, all its processes together.
    pub(crate) fn log(&self) -> String {
        fs::read_to_string(self.folder.path().join("log")).unwrap_or_default()
    }

    pub(crate) fn signal(&self, signal: Signal) -> anyhow::Result<()> {
        self.process.as_ref().context("the gateway does not run")?.signal(signal)
    }

    pub(crate) fn kill(&mut self) {
        self.process = None;
    }

    pub(crate) fn start_again(&mut self) -> anyhow::Result<()> {
        self.process = Some(self.spawn(&[])?);
        self.wait_until_ready()
    }

    /// Another process shares its ports, then it is told to end.
    pub(crate) fn replace(&mut self) -> anyhow::Result<()> {
        // Both will answer on the same port: only the log tells when the new one does.
        let doors_opened = || self.log().matches("\"door\":\"admin\"").count();
        let before = doors_opened();
        let new = self.spawn(&["--take-over"])?;
        let (id, start) = (new.id(), Instant::now());
        while doors_opened() == before {
            anyhow::ensure!(start.elapsed() < PATIENCE, "process {id} does not take over: {}", self.log());
            thread::sleep(Duration::from_millis(20));
        }
        let old = self.process.replace(new);
        let code = old.context("the gateway does not run")?.end(Signal::Terminate, PATIENCE)?;
        anyhow::ensure!(code == Some(0), "the gateway ended with {code:?}: {}", self.log());
        self.wait_until_ready()
    }

    /// Tells it to end, and waits until it has.
    pub(crate) fn stop(&mut self) -> anyhow::Result<()> {
        let Some(mut process) = self.process.take() else { return Ok(()) };
        let code = process.end(Signal::Terminate, PATIENCE).with_context(|| self.log())?;
        anyhow::ensure!(code == Some(0), "the gateway ended with {code:?}: {}", self.log());
        Ok(())
    }

    /// The memory that it has taken for itself, in KiB. What is mapped from files, such as the program, comes and goes as the system
    /// likes.
    pub(crate) fn memory_kib(&self) -> anyhow::Result<u64> {
        let process = self.process.as_ref().context("the gateway does not run")?;
        let text = fs::read_to_string(format!("/proc/{}/status", process.id()))?;
        let line = text.lines().find_map(|line| line.strip_prefix("RssAnon:"));
        let line = line.context("the system does not tell what memory it has")?;
        Ok(line.trim().trim_end_matches(" kB").parse()?)
    }

    /// What `tollgate audit` says of the ledger's books, whether they add up or not. An error is that it cannot read them.
    pub(crate) fn audit(&self) -> anyhow::Result<Value> {
        let mut command = self.program.command();
        let output = command.args(["audit", "--json", "--config"]).arg(self.config()).output()?;
        let complaint = String::from_utf8_lossy(&output.stderr);
        anyhow::ensure!(matches!(output.status.code(), Some(0 | 1)), "no audit: {complaint}");
        serde_json::from_slice(&output.stdout).context("an audit that cannot be read")
    }

    fn spawn(&self, words: &[&str]) -> anyhow::Result<Process> {
        let mut command: Command = self.program.command();
        command.args(["serve", "--config"]).arg(self.config()).args(words);
        // What is free goes back to the system at once, so that what is left is what is held. As shipped, mimalloc gives it back when it
        // comes to it: after five hundred half bodies 22 MiB stayed for anything between two and twenty seconds.
        command.env("MIMALLOC_PURGE_DELAY", "0");
        // Nor is a page of four kilobytes made a huge one of two megabytes: whenever the kernel came to it, memory seemed to grow by that.
        command.env("MIMALLOC_ALLOW_THP", "0");
        for (key, value) in [
            ("listen.gateway", self.address.to_string()),
            ("listen.admin", self.admin.to_string()),
            ("listen.check", "127.0.0.1:0".into()),
            ("listen.rls", "127.0.0.1:0".into()),
            ("ledger.timeout_ms", self.patience.as_millis().to_string()),
            ("log.format", "json".into()),
        ] {
            command.args(["--set", &format!("{key}={value}")]);
        }
        if let Some(name) = &self.name {
            command.args(["--set", &format!("node.id={name}")]);
        }
        Process::start_logged(command.current_dir(self.folder.path()), &self.folder.path().join("log"))
    }

    fn wait_until_ready(&self) -> anyhow::Result<()> {
        let start = Instant::now();
        while Level::of(self.admin) == Level::NoAnswer {
            anyhow::ensure!(start.elapsed() < PATIENCE, "the gateway does not start: {}", self.log());
            thread::sleep(Duration::from_millis(20));
        }
        Ok(())
    }
}
