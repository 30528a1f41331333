//! The Redis that the ledger is on, if it is on one.

use super::act::eventually;
use crate::drill::{self, ByLine, ByNetwork, ByRedis, Server};
use anyhow::{Context, bail};
use std::time::Duration;
use tollgate_testkit::{Link, Namespace, RedisCluster, RedisServer, Signal};

/// A key of the cluster that the drills are about.
const KEY: &str = "ratelimit:{cluster-01}";

/// Where the ledger is.
#[derive(Debug)]
pub(super) enum Ledger {
    Cluster {
        cluster: RedisCluster,
        /// Who had the books at first, and who had a copy of them.
        first: (usize, usize),
    },
    Line {
        server: RedisServer,
        link: Link,
    },
    Apart(RedisServer),
    Inside,
}

impl Ledger {
    pub(super) fn start(kind: drill::Ledger) -> anyhow::Result<Self> {
        Ok(match kind {
            drill::Ledger::Cluster => {
                let cluster = RedisCluster::start()?;
                let primary = cluster.primary_of(KEY)?;
                let first = (primary, cluster.replica_of(primary)?);
                Self::Cluster { cluster, first }
            }
            drill::Ledger::Line => {
                let server = RedisServer::start()?;
                let link = Link::to(server.port())?;
                Self::Line { server, link }
            }
            drill::Ledger::Apart => Self::Apart(RedisServer::start_in(Namespace::new()?)?),
            drill::Ledger::Inside => Self::Inside,
        })
    }

    pub(super) fn url(&self) -> Option<String> {
        match self {
            Self::Cluster { cluster, .. } => {
                let servers = cluster.servers().iter();
                let addresses: Vec<String> =
                    servers.map(|server| format!("127.0.0.1:{}", server.port())).collect();
                Some(format!("redis+cluster://{}", addresses.join(",")))
            }
            Self::Line { link, .. } => Some(format!("redis://127.0.0.1:{}", link.port())),
            Self::Apart(server) => Some(server.url()),
            Self::Inside => None,
        }
    }

    pub(super) fn act(&mut self, which: Server, act: ByRedis) -> anyhow::Result<()> {
        let server = self.server(which)?;
        match act {
            ByRedis::Kill => server.kill(),
            ByRedis::Restart => server.restart()?,
            ByRedis::Stop => server.signal(Signal::Stop)?,
            ByRedis::Continue => server.signal(Signal::Continue)?,
            ByRedis::Tell(words) => {
                let answer = server.cli(words)?;
                // The program ends well whatever it was told; an order that was obeyed is answered by OK or by how many it was about.
                let is_done = answer.trim() == "OK" || answer.trim().parse::<u64>().is_ok();
                anyhow::ensure!(is_done, "{words:?} was answered by {answer}");
            }
        }
        Ok(())
    }

    /// Waits until another server has the books than the one that had them first.
    pub(super) fn wait_until_moved(&self) -> anyhow::Result<()> {
        let Self::Cluster { cluster, first } = self else { bail!("there is no other server here") };
        cluster.wait_until_another(first.0, KEY)
    }

    /// Makes sure that the server has the books that had them first.
    pub(super) fn ensure_stayed(&self) -> anyhow::Result<()> {
        let Self::Cluster { cluster, first } = self else { bail!("there is no other server here") };
        let now = cluster.primary_of(KEY)?;
        anyhow::ensure!(now == first.0, "server {} was replaced by {now}", first.0);
        Ok(())
    }

    pub(super) fn line(&self, act: ByLine) -> anyhow::Result<()> {
        let Self::Line { link, .. } = self else { bail!("there is no line in front of this ledger") };
        match act {
            ByLine::Delay(millis) => link.delay(Duration::from_millis(millis)),
            ByLine::Silence => link.silence(true),
            ByLine::Carry => link.silence(false),
            ByLine::Forget => link.forget(),
            ByLine::Cut => {
                eventually("a connection to be cut", || link.is_in_use())?;
                link.cut();
            }
        }
        Ok(())
    }

    pub(super) fn network(&self, act: ByNetwork) -> anyhow::Result<()> {
        let Self::Apart(server) = self else { bail!("this ledger is in no network of its own") };
        let namespace = server.namespace().context("it is in no network of its own")?;
        match act {
            ByNetwork::Cut => namespace.cut(),
            ByNetwork::Mend => namespace.mend(),
        }
    }

    fn server(&mut self, which: Server) -> anyhow::Result<&mut RedisServer> {
        match self {
            Self::Line { server, .. } | Self::Apart(server) => Ok(server),
            Self::Inside => bail!("this ledger is on no Redis"),
            Self::Cluster { cluster, first } => {
                let index = match which {
                    Server::Primary => cluster.primary_of(KEY)?,
                    Server::Replica => cluster.replica_of(cluster.primary_of(KEY)?)?,
                    Server::FirstPrimary => first.0,
                    Server::FirstReplica => first.1,
                };
                Ok(cluster.server(index))
            }
        }
    }
}
