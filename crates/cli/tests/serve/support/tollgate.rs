use super::{PATIENCE, eventually};
use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Instant;
use tempfile::TempDir;

/// Runs the binary to its end.
pub(crate) fn run(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_tollgate")).args(arguments).output().unwrap()
}

/// `tollgate serve` on free ports, killed when dropped.
pub(crate) struct Tollgate {
    child: Child,
    log: Arc<Mutex<Vec<Value>>>,
    pub(crate) config: PathBuf,
    pub(crate) gateway: SocketAddr,
    pub(crate) check: SocketAddr,
    pub(crate) rls: SocketAddr,
    pub(crate) admin: SocketAddr,
    folder: Arc<TempDir>,
}

impl Tollgate {
    /// Starts it by this configuration, to which free ports and a log for programs are added.
    pub(crate) fn start(config: &str) -> Self {
        let folder = TempDir::new().unwrap();
        std::fs::write(folder.path().join("tollgate.toml"), config).unwrap();
        let anywhere = SocketAddr::from(([127, 0, 0, 1], 0));
        Self::launch(Arc::new(folder), [anywhere; 4], &[])
    }

    /// Starts another by the same configuration, which takes over the doors of this one.
    pub(crate) fn successor(&self) -> Self {
        let doors = [self.gateway, self.check, self.rls, self.admin];
        Self::launch(Arc::clone(&self.folder), doors, &["--take-over"])
    }

    fn launch(folder: Arc<TempDir>, [gateway, check, rls, admin]: [SocketAddr; 4], words: &[&str]) -> Self {
        let config = folder.path().join("tollgate.toml");
        let mut child = Command::new(env!("CARGO_BIN_EXE_tollgate"))
            .args(["serve", "--config"])
            .arg(&config)
            .args(words)
            .args(["--set", &format!("listen.gateway={gateway}"), "--set", &format!("listen.check={check}")])
            .args(["--set", &format!("listen.rls={rls}"), "--set", &format!("listen.admin={admin}")])
            // A busy machine may be late by more than requests are usually patient with: what is asked here is not how soon.
            .args(["--set", "log.format=json", "--set", "ledger.timeout_ms=5000"])
            // Where its accounts go.
            .current_dir(folder.path())
            .stdin(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let log = Arc::new(Mutex::new(Vec::new()));
        let (lines, written) = (BufReader::new(child.stderr.take().unwrap()).lines(), Arc::clone(&log));
        thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                let entry = serde_json::from_str(&line).unwrap_or(Value::String(line));
                written.lock().unwrap().push(entry);
            }
        });
        let mut tollgate = Self { child, log, config, gateway, check, rls, admin, folder };
        tollgate.gateway = tollgate.door("gateway");
        tollgate.check = tollgate.door("check");
        tollgate.rls = tollgate.door("rls");
        tollgate.admin = tollgate.door("admin");
        tollgate
    }

    /// The address that it said it listens on.
    pub(crate) fn door(&self, name: &str) -> SocketAddr {
        let mut found = None;
        eventually(name, || {
            let log = self.log.lock().unwrap();
            let entry = log.iter().find(|entry| entry["door"] == name);
            found = entry.and_then(|entry| entry["address"].as_str()?.parse().ok());
            found.is_some()
        });
        found.unwrap()
    }

    /// Whether anything that it said contains this.
    pub(crate) fn has_said(&self, text: &str) -> bool {
        self.log.lock().unwrap().iter().any(|entry| entry.to_string().contains(text))
    }

    /// The number of its process.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn signal(&self, name: &str) {
        let killed = Command::new("kill").arg(name).arg(self.child.id().to_string()).status().unwrap();
        assert!(killed.success());
    }

    /// Tells it to stop and waits until it has; the code it ended with.
    pub(crate) fn stop(&mut self) -> Option<i32> {
        self.signal("-TERM");
        self.ended()
    }

    pub(crate) fn ended(&mut self) -> Option<i32> {
        let start = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status.code();
            }
            assert!(start.elapsed() < PATIENCE, "it does not stop: {:?}", self.log.lock().unwrap());
            thread::sleep(std::time::Duration::from_millis(10));
        }
    }

    /// By how much the most memory that it ever used has grown, in KiB. The kernel adds up what its processors counted only roughly, so it
    /// may seem to have shrunk.
    pub(crate) fn grown_since(&self, before: u64) -> u64 {
        self.peak_memory().saturating_sub(before)
    }

    /// The most memory that it ever used, in KiB.
    pub(crate) fn peak_memory(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
        line.trim().trim_end_matches(" kB").parse().unwrap()
    }
}

impl Drop for Tollgate {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        if thread::panicking() {
            eprintln!("{:#?}", self.log.lock().unwrap());
        }
    }
}
