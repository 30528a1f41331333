use crate::authority::Authority;
use crate::port::{free_cluster_port, free_port};
use crate::server::{PATIENCE, RedisServer};
use anyhow::Context;
use std::thread;
use std::time::{Duration, Instant};

/// A Redis Cluster of our own: three primaries, each with a replica.
#[derive(Debug)]
pub struct RedisCluster {
    servers: Vec<RedisServer>,
    url: String,
}

impl RedisCluster {
    /// How long a node may be silent before the others take its place, in milliseconds.
    const NODE_TIMEOUT: &str = "2000";

    const OPTIONS: [[&str; 2]; 3] = [
        ["--cluster-enabled", "yes"],
        ["--cluster-node-timeout", Self::NODE_TIMEOUT],
        // Copies start at once instead of waiting for more to join.
        ["--repl-diskless-sync-delay", "0"],
    ];

    /// Starts six servers and joins them.
    pub fn start() -> anyhow::Result<Self> {
        let servers = (0..6)
            .map(|_| RedisServer::start_on(free_cluster_port()?, Self::OPTIONS.as_flattened()))
            .collect::<anyhow::Result<Vec<_>>>()?;
        let ports: Vec<u16> = servers.iter().map(RedisServer::port).collect();
        let cluster = Self { servers, url: format!("redis+cluster://127.0.0.1:{}", ports[0]) };
        cluster.join(&ports, &[])?;
        Ok(cluster)
    }

    /// The same with TLS between the servers and, on a second port, to clients.
    pub fn start_encrypted(authority: &Authority) -> anyhow::Result<Self> {
        let mut servers = Vec::new();
        let mut ports = Vec::new();
        for _ in 0..6 {
            let port = free_cluster_port()?;
            let tls = authority.options(port, "127.0.0.1")?;
            let mut options = Self::OPTIONS.as_flattened().to_vec();
            options.extend(["--tls-cluster", "yes", "--tls-replication", "yes"]);
            options.extend(tls.iter().map(String::as_str));
            servers.push(RedisServer::start_on(free_port()?, &options)?);
            ports.push(port);
        }
        let cluster = Self { servers, url: format!("rediss+cluster://127.0.0.1:{}", ports[0]) };
        cluster.join(&ports, &["--tls", "--cacert", &authority.ca().to_string_lossy()])?;
        Ok(cluster)
    }

    /// The servers.
    pub fn servers(&self) -> &[RedisServer] {
        &self.servers
    }

    /// Where to reach it.
    pub fn url(&self) -> String {
        self.url.clone()
    }

    /// The position of the primary that has this key.
    pub fn primary_of(&self, key: &str) -> anyhow::Result<usize> {
        let any = self.any_alive()?;
        let slot: u32 = any.cli(&["CLUSTER", "KEYSLOT", key])?.trim().parse().context("not a slot")?;
        let nodes = any.cli(&["CLUSTER", "NODES"])?;
        let port = nodes.lines().find_map(|line| owner_port(line, slot)).context("nobody has the slot")?;
        self.servers.iter().position(|server| server.port() == port).context("not one of ours")
    }

    /// The position of the replica of that primary.
    pub fn replica_of(&self, primary: usize) -> anyhow::Result<usize> {
        let id = self.servers[primary].cli(&["CLUSTER", "MYID"])?;
        let start = Instant::now();
        // It may have joined before word of it has.
        let port = loop {
            let nodes = self.servers[primary].cli(&["CLUSTER", "REPLICAS", id.trim()])?;
            if let Some(port) = nodes.lines().find_map(port) {
                break port;
            }
            anyhow::ensure!(start.elapsed() < PATIENCE, "server {primary} has no replica: {nodes}");
            thread::sleep(Duration::from_millis(20));
        };
        self.servers.iter().position(|server| server.port() == port).context("not one of ours")
    }

    /// One of the servers, to do something to it.
    pub fn server(&mut self, index: usize) -> &mut RedisServer {
        &mut self.servers[index]
    }

    /// Waits until every slot has a primary again.
    pub fn wait_until_whole(&self) -> anyhow::Result<()> {
        self.any_alive()?.wait_for("cluster_state:ok", &["CLUSTER", "INFO"])
    }

    /// Waits until another server than `old` has this key.
    pub fn wait_until_another(&self, old: usize, key: &str) -> anyhow::Result<()> {
        let start = Instant::now();
        while self.primary_of(key).is_ok_and(|primary| primary == old) || self.primary_of(key).is_err() {
            anyhow::ensure!(start.elapsed() < PATIENCE, "nobody took the place of server {old}");
            thread::sleep(Duration::from_millis(50));
        }
        self.wait_until_whole()
    }

    /// Waits until every primary that is alive has a copy that is up to date enough to take its place.
    pub fn wait_until_copied(&self) -> anyhow::Result<()> {
        let start = Instant::now();
        let has_copies = |server: &RedisServer| {
            server
                .cli(&["INFO", "replication"])
                .is_ok_and(|text| text.contains("master_link_status:up") || text.contains("state=online"))
        };
        while !self.servers.iter().all(has_copies) {
            anyhow::ensure!(start.elapsed() < PATIENCE, "some server has no copy");
            thread::sleep(Duration::from_millis(50));
        }
        Ok(())
    }

    /// Waits until the copy of this primary has everything that was written to it so far.
    pub fn wait_until_caught_up(&self, primary: usize) -> anyhow::Result<()> {
        let start = Instant::now();
        let number = |text: &str, name: &str| -> Option<u64> {
            let (_, rest) = text.split_once(name)?;
            rest.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
        };
        loop {
            let text = self.servers[primary].cli(&["INFO", "replication"])?;
            let (written, copied) = (number(&text, "master_repl_offset:"), number(&text, ",offset="));
            if written.is_some() && copied >= written {
                return Ok(());
            }
            anyhow::ensure!(start.elapsed() < PATIENCE, "the copy of server {primary} lags behind: {text}");
            thread::sleep(Duration::from_millis(10));
        }
    }

    fn any_alive(&self) -> anyhow::Result<&RedisServer> {
        let is_alive =
            |server: &&RedisServer| server.cli(&["PING"]).is_ok_and(|answer| answer.contains("PONG"));
        self.servers.iter().find(is_alive).context("no server is alive")
    }

    fn join(&self, ports: &[u16], how: &[&str]) -> anyhow::Result<()> {
        let addresses: Vec<String> = ports.iter().map(|port| format!("127.0.0.1:{port}")).collect();
        let mut words = how.to_vec();
        words.extend(["--cluster", "create"]);
        words.extend(addresses.iter().map(String::as_str));
        words.extend(["--cluster-replicas", "1", "--cluster-yes"]);
        self.servers[0].cli(&words)?;
        for server in &self.servers {
            server.wait_for("cluster_state:ok", &["CLUSTER", "INFO"])?;
            server.wait_for("cluster_known_nodes:6", &["CLUSTER", "INFO"])?;
        }
        self.wait_until_copied()
    }
}

/// The port of the primary that a line of `CLUSTER NODES` is about, if it has the slot.
fn owner_port(line: &str, slot: u32) -> Option<u16> {
    let mut words = line.split(' ');
    let flags = words.nth(2)?;
    if !flags.contains("master") || flags.contains("fail") {
        return None;
    }
    let has = |range: &str| {
        let (from, to) = range.split_once('-').unwrap_or((range, range));
        Some(from.parse::<u32>().ok()? <= slot && slot <= to.parse::<u32>().ok()?)
    };
    words.skip(5).any(|range| has(range) == Some(true)).then(|| port(line))?
}

/// The port of the server that a line of `CLUSTER NODES` is about.
fn port(line: &str) -> Option<u16> {
    let address = line.split(' ').nth(1)?;
    address.split(['@', ',']).next()?.rsplit_once(':')?.1.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_owner_of_a_slot() {
        let line = "07c3 127.0.0.1:30004@40004,host myself,master - 0 142 4 connected 0-5460 7000";
        assert_eq!(owner_port(line, 5460), Some(30_004));
        assert_eq!(owner_port(line, 7_000), Some(30_004));
        assert_eq!(owner_port(line, 5_461), None);
        assert_eq!(owner_port(&line.replace("master", "slave"), 1), None);
    }

    #[test]
    fn a_cluster_stands_and_survives_a_primary() -> anyhow::Result<()> {
        let mut cluster = RedisCluster::start()?;
        let primary = cluster.primary_of("ratelimit:{cluster-01}")?;
        cluster.server(primary).kill();
        cluster.wait_until_another(primary, "ratelimit:{cluster-01}")
    }
}
