use crate::port::free_port;
use crate::process::Process;
use crate::tool::tool;
use anyhow::Context;
use std::fs;
use std::net::{SocketAddr, TcpStream};
use std::path::PathBuf;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// How long it may take to listen after it was started.
const PATIENCE: Duration = Duration::from_mins(1);

/// The program.
pub fn envoy() -> anyhow::Result<PathBuf> {
    tool("envoy", "TOLLGATE_ENVOY", "scripts/need-envoy")
}

/// An Envoy of our own that asks a rate limit service about each request, and answers those that may pass itself.
///
/// The header `x-app` becomes the entry `app` of a descriptor, with the method as `operation` and the length of the body
/// as `bytes`; `x-also` becomes the entry `app` of a second descriptor.
#[derive(Debug)]
pub struct Envoy {
    port: u16,
    _process: Process,
    _home: TempDir,
}

impl Envoy {
    /// Starts it in front of the service at `service`, and waits until it listens.
    pub fn start(service: SocketAddr) -> anyhow::Result<Self> {
        let program = envoy()?;
        let home = TempDir::new().context("no temporary folder")?;
        let (port, upstream) = (free_port()?, free_port()?);
        let file = home.path().join("envoy.yaml");
        fs::write(&file, configuration(port, upstream, service))?;
        let mut command = Command::new(program);
        command.arg("-c").arg(&file).args([
            "--concurrency",
            "1",
            "--log-level",
            "off",
            "--disable-hot-restart",
        ]);
        let envoy = Self { port, _process: Process::start(&mut command)?, _home: home };
        envoy.wait_until_it_listens()?;
        Ok(envoy)
    }

    /// Where requests go.
    pub fn address(&self) -> SocketAddr {
        SocketAddr::from(([127, 0, 0, 1], self.port))
    }

    fn wait_until_it_listens(&self) -> anyhow::Result<()> {
        let start = Instant::now();
        while TcpStream::connect(self.address()).is_err() {
            anyhow::ensure!(start.elapsed() < PATIENCE, "envoy does not listen on port {}", self.port);
            thread::sleep(Duration::from_millis(20));
        }
        Ok(())
    }
}

fn configuration(port: u16, upstream: u16, service: SocketAddr) -> String {
    let (host, service_port) = (service.ip(), service.port());
    include_str!("envoy.yaml")
        .replace("$PORT", &port.to_string())
        .replace("$UPSTREAM", &upstream.to_string())
        .replace("$RLS_HOST", &host.to_string())
        .replace("$RLS_PORT", &service_port.to_string())
}
