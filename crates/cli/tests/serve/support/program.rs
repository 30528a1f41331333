use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use super::eventually;

/// A program of somebody else, killed when dropped.
pub(crate) struct Program(Child);

impl Program {
    /// Starts it and waits until it listens on `address`.
    pub(crate) fn start(name: &str, arguments: &[&str], home: &Path, address: SocketAddr) -> Self {
        let log = std::fs::File::create(home.join("log")).unwrap();
        let mut command = Command::new(find(name));
        command.args(arguments).current_dir(home).env("HOME", home).stdin(Stdio::null());
        let started = command.stdout(log.try_clone().unwrap()).stderr(log).spawn();
        let program =
            Self(started.unwrap_or_else(|error| panic!("{name}: {error}; see scripts/need-proxies")));
        let log = home.join("log");
        let start = std::time::Instant::now();
        while TcpStream::connect(address).is_err() {
            let said = || std::fs::read_to_string(&log).unwrap_or_default();
            assert!(start.elapsed() < super::PATIENCE, "{name} does not start: {}", said());
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        eventually(name, || TcpStream::connect(address).is_ok());
        program
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Where a program is: on the path, where Debian puts servers, or where `scripts/need-proxies` put it.
fn find(name: &str) -> PathBuf {
    let tools = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/tools").join(name);
    let usual = ["/usr/bin", "/usr/sbin", "/usr/local/bin"].map(|folder| Path::new(folder).join(name));
    [tools].into_iter().chain(usual).find(|path| path.exists()).unwrap_or_else(|| name.into())
}

/// The block of a document of ours that is to be saved as `file`.
pub(crate) fn docs_block(document: &str, file: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/integrations").join(document);
    let text = std::fs::read_to_string(path).unwrap();
    let heading = text.lines().find(|line| line.starts_with("```") && line.ends_with(&format!(" {file}")));
    let (_, rest) = text.split_once(heading.unwrap()).unwrap();
    format!("{}\n", rest.split_once("\n```").unwrap().0.trim_start())
}
