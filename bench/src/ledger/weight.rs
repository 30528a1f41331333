//! What the server keeps, and which commands a call comes to.

use super::client::Client;
use super::ground::{Ground, apps, key, root};
use super::stats::Stats;
use serde::Serialize;
use tollgate_core::id::ClusterId;
use tollgate_ledger::Ledger;

/// Bytes of one thing.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Weight {
    pub(super) what: String,
    pub(super) bytes: f64,
}

/// What one command comes to in a call.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Share {
    pub(super) command: String,
    pub(super) calls: f64,
    pub(super) micros: f64,
}

/// Applications that are weighed.
const APPS: u32 = 1_000;

/// Calls that are counted.
const CALLS: u32 = 2_000;

/// Weighs applications, nodes and leases.
pub(super) async fn weigh(ground: &mut Ground) -> anyhow::Result<Vec<Weight>> {
    let cluster = ground.cluster("weight", APPS).await?;
    let mut of_each = Vec::new();
    for part in ["", ":bodies", ":apps", ":order"] {
        let key = format!("{}{part}", root(&cluster));
        of_each.push(f64::from(ground.bytes(&key).await?) / f64::from(APPS));
    }
    let bare = node(ground, &cluster, 0).await?.after;
    let mut weights = vec![
        weight("an application", of_each[0]),
        weight("the text of its policy", of_each[1]),
        weight("an application in the indices", of_each[2] + of_each[3]),
        weight("a node without leases", bare),
    ];
    for leases in [16, 128, APPS] {
        let Weighed { during, after } = node(ground, &cluster, leases).await?;
        let each = |bytes: f64| bytes / f64::from(leases);
        weights.push(weight(&format!("a lease of a node with {leases}"), each(after - bare)));
        weights
            .push(weight(&format!("its part of the last reply, {leases} in a call"), each(during - after)));
    }
    Ok(weights)
}

fn weight(what: &str, bytes: f64) -> Weight {
    Weight { what: what.into(), bytes }
}

/// The bytes of a node.
struct Weighed {
    /// With the reply to a call about all its leases.
    during: f64,
    /// With the reply to a call about nothing.
    after: f64,
}

async fn node(ground: &mut Ground, cluster: &ClusterId, leases: u32) -> anyhow::Result<Weighed> {
    let name = format!("node-with-{leases}");
    let mut client = Client::node(ground, cluster, &name, &apps(leases)?)?;
    client.call().await?;
    let key = key(cluster, &format!("node:{name}"));
    let during = f64::from(ground.bytes(&key).await?);
    if let Client::Node { ledger, node, .. } = &mut client {
        let mut call = node.next_call().clone();
        call.entries.clear();
        ledger.sync(cluster, &call).await?;
    }
    Ok(Weighed { during, after: f64::from(ground.bytes(&key).await?) })
}

/// What the calls of one client come to, one after the other.
pub(super) async fn commands(ground: &mut Ground, client: &mut Client) -> anyhow::Result<Vec<Share>> {
    client.call().await?;
    let before = ground.stats().await?;
    for _ in 0..CALLS {
        client.call().await?;
    }
    let spent = ground.stats().await?.since(&before);
    Ok(shares(&spent, client.command()))
}

/// The whole call first, then what it is made of. Looking at it is not part of it.
fn shares(spent: &Stats, whole: &str) -> Vec<Share> {
    let each = |count: u32| f64::from(count) / f64::from(CALLS);
    let mut shares: Vec<Share> = spent
        .iter()
        .filter(|(command, _)| *command != "info")
        .map(|(command, effort)| Share {
            command: command.to_uppercase(),
            calls: each(effort.calls),
            micros: each(effort.micros),
        })
        .collect();
    shares.sort_by(|a, b| b.micros.total_cmp(&a.micros));
    let (mut first, parts): (Vec<_>, Vec<_>) =
        shares.into_iter().partition(|share| share.command.eq_ignore_ascii_case(whole));
    first.extend(parts);
    first
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_whole_stands_before_its_parts() {
        let spent = Stats::parse(
            "cmdstat_hset:calls=6000,usec=9000\ncmdstat_info:calls=1,usec=90\n\
             cmdstat_evalsha:calls=2000,usec=80000\ncmdstat_time:calls=2000,usec=1000\n\
             cmdstat_hmget:calls=6000,usec=99000\n",
        );
        let shares = shares(&spent, "evalsha");
        let names: Vec<&str> = shares.iter().map(|share| share.command.as_str()).collect();
        assert_eq!(names, ["EVALSHA", "HMGET", "HSET", "TIME"]);
        assert!((shares[0].micros - 40.0).abs() < 1e-9 && (shares[1].calls - 3.0).abs() < 1e-9);
    }
}
