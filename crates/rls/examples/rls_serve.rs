//! The rate limit service on a ledger in the same process, with one application, `bench`, that is never refused:
//! `cargo run --release -p tollgate-rls --example rls_serve -- 127.0.0.1:8082`

#![allow(clippy::print_stdout, reason = "an example is there to be seen")]

use anyhow::Context;
use tollgate_config::Policy;
use tollgate_config::rls::Rls;
use tollgate_core::id::NodeId;
use tollgate_ledger::MemoryLedger;
use tollgate_node::{Node, Setup};

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let policy = Policy::from_value(&serde_json::json!({
        "clusters": [{"id": "c", "capacity": 1_000_000_000}],
        "apps": [{"id": "bench", "guaranteed_quota": 900_000_000, "burst_quota": 900_000_000}],
    }))
    .map_err(|errors| anyhow::anyhow!("{errors}"))?;
    let node = Node::start(MemoryLedger::new(), Setup::new(NodeId::new("node-1")?), &policy);
    let mut settings = Rls::default();
    if let Some(address) = std::env::args().nth(1) {
        settings.listen = address.parse().with_context(|| format!("not an address: {address}"))?;
    }
    let service = tollgate_rls::start(node, settings).await?;
    println!("listening on {}", service.local_addr());
    std::future::pending().await
}
