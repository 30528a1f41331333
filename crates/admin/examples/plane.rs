//! A node with its control plane and some traffic, to look at: `cargo run -p tollgate-admin --example plane -- [DATABASE]`.
//!
//! Prints where it listens and, at the first start, the password of `admin`. Ends with Ctrl-C.

#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use serde_json::json;
use std::time::Duration;
use tollgate_admin::Settings;
use tollgate_config::Policy;
use tollgate_core::cost::Operation;
use tollgate_core::id::NodeId;
use tollgate_ledger::MemoryLedger;
use tollgate_listen::Listeners;
use tollgate_node::{Node, Request, Setup};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let policy = Policy::from_value(&json!({
        "clusters": [{"id": "cluster-01", "capacity": 1_000_000}],
        "apps": [
            {"id": "video-service", "guaranteed_quota": 20_000, "burst_quota": 80_000, "priority": 0},
            {"id": "app-a", "guaranteed_quota": 10_000, "burst_quota": 50_000, "priority": 1},
            {"id": "app-c", "guaranteed_quota": 100, "burst_quota": 200, "priority": 2, "borrow": false},
        ],
    }))?;
    let id = NodeId::new("node-01")?;
    let node = Node::start(MemoryLedger::new(), Setup::new(id.clone()), &policy);
    let mut settings = Settings::new(id);
    settings.listen = std::env::var("TOLLGATE_LISTEN__ADMIN").unwrap_or("127.0.0.1:8090".into()).parse()?;
    settings.database = std::env::args().nth(1).unwrap_or("tollgate.db".into());
    settings.calls_per_second = 10_000;
    settings.logins_per_minute = 1_000;
    let handle = tollgate_admin::start(node.clone(), settings, &Listeners::default()).await?;
    println!("listening on http://{}", handle.local_addr());
    if let Some(password) = handle.first_password() {
        println!("user {} password {password}", tollgate_admin::FIRST_USER);
    }
    tokio::select! {
        () = traffic(&node) => {}
        _ = tokio::signal::ctrl_c() => {}
    }
    handle.drain(Duration::from_secs(5)).await;
    node.shut_down(Duration::from_secs(1)).await;
    Ok(())
}

/// Requests of three applications, one of which asks for more than it may have.
async fn traffic(node: &Node<MemoryLedger>) {
    let mut clock = tokio::time::interval(Duration::from_millis(20));
    loop {
        clock.tick().await;
        for (app, operation, bytes) in [
            ("video-service", Operation::Get, 200_000),
            ("video-service", Operation::List, 0),
            ("app-a", Operation::Put, 40_000),
            ("app-c", Operation::Get, 100_000),
            ("app-c", Operation::Post, 1_000),
        ] {
            let request = Request::new(app, operation).with_bytes(bytes);
            match node.admit(&request).await {
                Ok(permit) => {
                    node.record(app, &permit.decision());
                    permit.keep();
                }
                Err(decision) => {
                    node.record(app, &decision);
                }
            }
        }
    }
}
