use crate::{Process, free_port};
use std::fs;
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// How long it may take to start.
const PATIENCE: Duration = Duration::from_secs(30);

/// A Prometheus that looks at one target every second, by the given rules.
#[derive(Debug)]
pub struct Prometheus {
    address: SocketAddr,
    _process: Process,
    _folder: TempDir,
}

impl Prometheus {
    /// Starts it.
    pub fn start(target: SocketAddr, rules: &Path) -> anyhow::Result<Self> {
        let (folder, address) = (TempDir::new()?, SocketAddr::from((Ipv4Addr::LOCALHOST, free_port()?)));
        let config = format!(
            "global: {{scrape_interval: 1s, evaluation_interval: 1s}}\nrule_files: [\"{}\"]\n\
             scrape_configs: [{{job_name: tollgate, static_configs: [{{targets: [\"{target}\"]}}]}}]\n",
            rules.canonicalize()?.display(),
        );
        let file = folder.path().join("prometheus.yml");
        fs::write(&file, config)?;
        let mut command = Command::new("prometheus");
        command.arg(format!("--config.file={}", file.display()));
        command.arg(format!("--storage.tsdb.path={}", folder.path().join("data").display()));
        command.arg(format!("--web.listen-address={address}"));
        let process = Process::start(&mut command)?;
        let start = Instant::now();
        while TcpStream::connect(address).is_err() {
            anyhow::ensure!(start.elapsed() < PATIENCE, "prometheus does not start");
            thread::sleep(Duration::from_millis(50));
        }
        Ok(Self { address, _process: process, _folder: folder })
    }

    /// Where it answers.
    pub const fn address(&self) -> SocketAddr {
        self.address
    }
}
