use crate::port::free_port;
use crate::process::{Process, Signal, run};
use crate::server::PATIENCE;
use anyhow::Context;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// A PostgreSQL server of our own, on a free loopback port, that trusts everybody and writes nothing safely.
#[derive(Debug)]
pub struct PostgresServer {
    port: u16,
    programs: PathBuf,
    _home: TempDir,
    process: Process,
}

impl PostgresServer {
    /// Starts a server and waits until it answers.
    pub fn start() -> anyhow::Result<Self> {
        let programs = programs()?;
        let (port, home) = (free_port()?, TempDir::new().context("no temporary folder")?);
        let data = home.path().join("data");
        if is_root() {
            run(Command::new("chown").arg("postgres").arg(home.path()))?;
        }
        run(as_postgres(&programs.join("initdb"))
            .args(["-U", "postgres", "-A", "trust", "-E", "UTF8", "-D"])
            .arg(&data))?;
        let mut command = as_postgres(&programs.join("postgres"));
        command.arg("-D").arg(&data).args(["-p", &port.to_string(), "-h", "127.0.0.1", "-k", ""]);
        command.args(["-c", "fsync=off", "-c", "max_connections=50"]);
        let server = Self { port, programs, _home: home, process: Process::start(&mut command)? };
        let start = Instant::now();
        while server.psql("SELECT 1").is_err() {
            anyhow::ensure!(start.elapsed() < PATIENCE, "postgres does not answer on port {port}");
            thread::sleep(Duration::from_millis(50));
        }
        Ok(server)
    }

    /// Makes an empty database; returns where to reach it.
    pub fn database(&self, name: &str) -> anyhow::Result<String> {
        self.psql(&format!("CREATE DATABASE \"{name}\""))?;
        Ok(format!("postgres://postgres@127.0.0.1:{}/{name}", self.port))
    }

    fn psql(&self, text: &str) -> anyhow::Result<String> {
        let port = self.port.to_string();
        let words = ["-h", "127.0.0.1", "-p", &port, "-U", "postgres", "-d", "postgres", "-c", text];
        run(Command::new(self.programs.join("psql")).args(words))
    }
}

/// A server that is killed leaves its own processes behind: it is asked to end them first.
impl Drop for PostgresServer {
    fn drop(&mut self) {
        let _ = self.process.end(Signal::Quit, PATIENCE);
    }
}

/// Where the programs of the newest version that is installed are.
fn programs() -> anyhow::Result<PathBuf> {
    let versions = fs::read_dir("/usr/lib/postgresql").context("PostgreSQL is not installed")?;
    let mut found: Vec<PathBuf> = versions.flatten().map(|version| version.path().join("bin")).collect();
    found.sort();
    found.pop().context("PostgreSQL is not installed")
}

/// The server refuses to run as root.
fn as_postgres(program: &Path) -> Command {
    if is_root() {
        let mut command = Command::new("setpriv");
        command.args(["--reuid", "postgres", "--regid", "postgres", "--clear-groups", "--"]).arg(program);
        return command;
    }
    Command::new(program)
}

fn is_root() -> bool {
    run(Command::new("id").arg("-u")).is_ok_and(|id| id.trim() == "0")
}
