//! Nodes that are there, and do no more than it takes not to fall silent.

use super::ground::{Ground, apps, key};
use super::node::Node;
use tokio::task::JoinSet;
use tollgate_core::id::ClusterId;
use tollgate_ledger::{Ledger, RedisLedger};

/// How many of them speak at the same time.
const VOICES: usize = 32;

/// So many nodes, each with a lease of one application.
pub(super) struct Crowd {
    ledger: RedisLedger,
    cluster: ClusterId,
    nodes: Vec<Node>,
}

impl Crowd {
    pub(super) fn new(ground: &Ground, cluster: &ClusterId, count: u32) -> anyhow::Result<Self> {
        let apps = apps(1)?;
        let nodes = (0..count).map(|number| Node::new(&format!("crowd-{number:05}"), &apps));
        let nodes = nodes.collect::<anyhow::Result<_>>()?;
        Ok(Self { ledger: ground.ledger()?, cluster: cluster.clone(), nodes })
    }

    /// Every node makes a call.
    pub(super) async fn speak(&mut self) -> anyhow::Result<()> {
        let mut tasks = JoinSet::new();
        let each = self.nodes.len().div_ceil(VOICES).max(1);
        while !self.nodes.is_empty() {
            let some = self.nodes.split_off(self.nodes.len().saturating_sub(each));
            tasks.spawn(speak(self.ledger.clone(), self.cluster.clone(), some));
        }
        while let Some(ended) = tasks.join_next().await {
            self.nodes.extend(ended??);
        }
        Ok(())
    }

    /// How many of them, the clients aside, the ledger has not written off.
    pub(super) async fn heard(&self, ground: &mut Ground, clients: u32) -> anyhow::Result<u32> {
        let heard: u32 = ground.ask(redis::cmd("ZCARD").arg(key(&self.cluster, "heard"))).await?;
        Ok(heard.saturating_sub(clients))
    }
}

async fn speak(ledger: RedisLedger, cluster: ClusterId, mut nodes: Vec<Node>) -> anyhow::Result<Vec<Node>> {
    for node in &mut nodes {
        let reply = ledger.sync(&cluster, node.next_call()).await?;
        node.take(&reply)?;
    }
    Ok(nodes)
}
