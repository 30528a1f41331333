//! Nodes that are there and do nothing but that.

use super::ground::{Ground, apps, key};
use super::node::Node;
use tokio::task::JoinSet;
use tollgate_core::id::ClusterId;
use tollgate_ledger::{Ledger, RedisLedger};

/// How many of them make their call at the same time.
const VOICES: usize = 32;

/// How many of them are kept alive at once, and register in a row: few enough not to take as long as a lease lasts.
const GROUP: usize = 1_000;

/// So many nodes, each with a lease of one application.
pub(super) struct Crowd {
    cluster: ClusterId,
    names: Vec<String>,
}

impl Crowd {
    /// Every node makes itself known by one call.
    pub(super) async fn gather(ground: &mut Ground, cluster: &ClusterId, count: u32) -> anyhow::Result<Self> {
        let ledger = ground.ledger()?;
        let mut crowd = Self { cluster: cluster.clone(), names: Vec::new() };
        let names: Vec<String> = (0..count).map(|number| format!("crowd-{number:05}")).collect();
        for group in names.chunks(GROUP) {
            register(&ledger, cluster, group).await?;
            crowd.names.extend_from_slice(group);
            crowd.keep_alive(ground).await?;
        }
        Ok(crowd)
    }

    /// Lets the ledger think that all of them, as far as it has not written them off, have just made a call. Really
    /// making ten thousand would take about as long as a lease lasts.
    pub(super) async fn keep_alive(&self, ground: &mut Ground) -> anyhow::Result<()> {
        let (seconds, micros): (u64, u64) = ground.ask(&redis::cmd("TIME")).await?;
        let now = seconds * 1_000 + micros / 1_000;
        for group in self.names.chunks(GROUP) {
            let mut command = redis::cmd("ZADD");
            command.arg(key(&self.cluster, "heard")).arg("XX");
            for name in group {
                command.arg(now).arg(name);
            }
            let _: u32 = ground.ask(&command).await?;
        }
        Ok(())
    }

    /// How many of them, the clients aside, the ledger has not written off.
    pub(super) async fn alive(&self, ground: &mut Ground, clients: u32) -> anyhow::Result<u32> {
        let heard: u32 = ground.ask(redis::cmd("ZCARD").arg(key(&self.cluster, "heard"))).await?;
        Ok(heard.saturating_sub(clients))
    }
}

async fn register(ledger: &RedisLedger, cluster: &ClusterId, names: &[String]) -> anyhow::Result<()> {
    let mut tasks = JoinSet::new();
    for some in names.chunks(names.len().div_ceil(VOICES).max(1)) {
        tasks.spawn(call_each(ledger.clone(), cluster.clone(), some.to_vec()));
    }
    while let Some(ended) = tasks.join_next().await {
        ended??;
    }
    Ok(())
}

async fn call_each(ledger: RedisLedger, cluster: ClusterId, names: Vec<String>) -> anyhow::Result<()> {
    let apps = apps(1)?;
    for name in names {
        let mut node = Node::new(&name, &apps)?;
        let reply = ledger.sync(&cluster, node.next_call()).await?;
        node.take(&reply)?;
    }
    Ok(())
}
