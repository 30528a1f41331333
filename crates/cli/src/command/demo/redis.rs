//! A Redis of the demo's own.

use anyhow::{Context, bail};
use std::io::ErrorKind;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use tokio::net::TcpStream;

/// The programs that will do, the first that there is.
const PROGRAMS: [&str; 2] = ["redis-server", "valkey-server"];

/// How often to look whether it has started, and for how long.
const LOOKS: u32 = 100;
const LOOK: Duration = Duration::from_millis(50);

/// A server on a free port, which forgets everything; stopped when dropped.
#[derive(Debug)]
pub(super) struct Redis {
    child: Child,
    address: SocketAddr,
    password: String,
}

impl Redis {
    /// Starts it, with its files in that directory.
    pub(super) async fn start(home: &Path) -> anyhow::Result<Self> {
        let address = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).and_then(|socket| socket.local_addr());
        let address = address.context("cannot find a port for the demo's Redis")?;
        let mut secret = [0; 16];
        getrandom::fill(&mut secret).context("cannot make a password for the demo's Redis")?;
        let password = format!("{:032x}", u128::from_le_bytes(secret));
        let settings = format!(
            "bind 127.0.0.1\nport {}\nrequirepass {password}\ndir \"{}\"\nsave \"\"\nappendonly no\n",
            address.port(),
            home.display()
        );
        // Not on the command line, which everybody on the machine can read.
        let file = home.join("redis.conf");
        std::fs::write(&file, settings).context("cannot write the settings of the demo's Redis")?;
        let redis = Self { child: spawn(&file)?, address, password };
        for _ in 0..LOOKS {
            if TcpStream::connect(address).await.is_ok() {
                return Ok(redis);
            }
            tokio::time::sleep(LOOK).await;
        }
        bail!("the demo's Redis on {address} does not start")
    }

    /// Where a ledger finds it.
    pub(super) fn url(&self) -> String {
        format!("redis://:{}@{}", self.password, self.address)
    }

    pub(super) const fn address(&self) -> SocketAddr {
        self.address
    }

    /// The number of its process.
    pub(super) fn process(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for Redis {
    fn drop(&mut self) {
        // It may be dead already, if somebody wanted to see what happens then.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn spawn(file: &Path) -> anyhow::Result<Child> {
    for program in PROGRAMS {
        let mut command = Command::new(program);
        command.arg(file).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        // Ctrl-C is not for it: the gateways give back what they hold first.
        match command.process_group(0).spawn() {
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            other => return other.with_context(|| format!("cannot start {program}")),
        }
    }
    bail!(
        "there is no {} here: install it (apt install redis-server), or leave --redis out",
        PROGRAMS.join(" or ")
    )
}
