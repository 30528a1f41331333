//! A client: one connection, one call at a time.

use super::ground::{GUARANTEED, Ground};
use super::node::Node;
use anyhow::ensure;
use redis::Script;
use redis::aio::ConnectionManager;
use tollgate_core::id::{AppId, ClusterId};
use tollgate_ledger::{Ledger, RedisLedger};

/// The key that all counters count in.
const COUNTER: &str = "bench:counter";

/// The key that all bare limiters share.
const BUCKET: &str = "bench:bucket";

/// What a client does over and over.
pub(super) enum Client {
    /// Counts: the least that a round trip with a write can cost.
    Counter(ConnectionManager),
    /// Takes a token from a bucket: what a rate limiter on Redis usually does for each request.
    Limiter { connection: ConnectionManager, script: Script },
    /// Reports and asks, for all of its applications at once.
    Node { ledger: RedisLedger, cluster: ClusterId, node: Box<Node> },
}

impl Client {
    pub(super) async fn counter(ground: &Ground) -> anyhow::Result<Self> {
        Ok(Self::Counter(ground.connection().await?))
    }

    pub(super) async fn limiter(ground: &Ground) -> anyhow::Result<Self> {
        let connection = ground.connection().await?;
        Ok(Self::Limiter { connection, script: Script::new(include_str!("gcra.lua")) })
    }

    pub(super) fn node(
        ground: &Ground,
        cluster: &ClusterId,
        name: &str,
        apps: &[AppId],
    ) -> anyhow::Result<Self> {
        let node = Box::new(Node::new(name, apps)?);
        Ok(Self::Node { ledger: ground.ledger()?, cluster: cluster.clone(), node })
    }

    /// Makes one call, and makes sure that it did what it is there for.
    pub(super) async fn call(&mut self) -> anyhow::Result<()> {
        match self {
            Self::Counter(connection) => {
                let count: u64 = redis::cmd("INCR").arg(COUNTER).query_async(connection).await?;
                ensure!(count > 0, "the counter counted to {count}");
            }
            Self::Limiter { connection, script } => {
                let (interval, tolerance) = (1_000_000 / GUARANTEED, 2_000_000);
                let allowed: u64 =
                    script.key(BUCKET).arg(interval).arg(tolerance).invoke_async(connection).await?;
                ensure!(allowed == 1, "the bare limiter refused");
            }
            Self::Node { ledger, cluster, node } => {
                let reply = ledger.sync(cluster, node.next_call()).await?;
                node.take(&reply)?;
            }
        }
        Ok(())
    }

    /// The command that the server counts its calls under.
    pub(super) const fn command(&self) -> &'static str {
        match self {
            Self::Counter(_) => "incr",
            Self::Limiter { .. } | Self::Node { .. } => "evalsha",
        }
    }
}
