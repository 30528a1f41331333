//! A node on a ledger in the same process: requests that pass, one that is rolled back, and one that is refused.

#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use serde_json::json;
use std::time::Duration;
use tollgate_config::Policy;
use tollgate_core::cost::Operation;
use tollgate_core::id::NodeId;
use tollgate_ledger::MemoryLedger;
use tollgate_node::{Node, Permit, Request, Setup};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let policy = Policy::from_value(&json!({
        "apps": [{"id": "photos", "guaranteed_quota": 10, "burst_quota": 10, "borrow": false}],
    }))?;
    let node = Node::start(MemoryLedger::new(), Setup::new(NodeId::new("node-1")?), &policy);

    for bytes in [0, 1_024, 100_000] {
        let request = Request::new("photos", Operation::Get).with_bytes(bytes);
        match node.admit(&request).await {
            Ok(permit) => {
                println!("GET of {bytes} bytes: passes for {} tokens", permit.price().cost());
                // It reached those who do the work.
                permit.keep();
            }
            Err(decision) => println!("GET of {bytes} bytes: {:?}", decision.verdict),
        }
    }

    // The client left before anything was done: dropped, a permit gives back what was paid.
    drop(node.admit(&Request::new("photos", Operation::Put)).await);

    // The fastest way, where nobody has to wait: it was in the purse, or it was not.
    println!(
        "HEAD passes at once: {}",
        node.check(&Request::new("photos", Operation::Head)).map(Permit::keep).is_ok()
    );

    match node.admit(&Request::new("photos", Operation::Copy)).await {
        Ok(_) => println!("COPY passes"),
        Err(decision) => {
            println!("COPY is refused: {:?}, come back in {:?}", decision.verdict, decision.retry_after);
        }
    }
    node.shut_down(Duration::from_secs(1)).await;
    Ok(())
}
