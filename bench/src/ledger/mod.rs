//! The ledger on a real server, beside a counter and a bare rate limiter on the same server.

mod client;
mod crowd;
mod finding;
mod ground;
mod growth;
mod node;
mod relay;
mod report;
mod stats;
mod tables;
mod weight;

use crate::progress::Progress;
use crate::report::Report;
use client::Client;
use ground::{Ground, apps};
use relay::{Relay, Team, Track};
use report::Answers;
use std::time::Duration;
use tollgate_core::id::{AppId, ClusterId};

/// How long to measure.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    /// In each, every contender runs one slice.
    pub(crate) rounds: u32,
    pub(crate) slice: Duration,
}

/// Clients of each contender, all at once.
const CLIENTS: u32 = 4;

/// Rounds between two signs of progress, and before nodes that are only there are kept alive again.
const BATCH: u32 = 5;

/// Applications per call, and known to the cluster of the race.
const SIZES: [u32; 3] = [1, 16, 128];

impl Plan {
    const fn batches(self) -> u32 {
        self.rounds.div_ceil(BATCH)
    }
}

/// Asks all questions.
pub(crate) fn ask(plan: Plan) -> anyhow::Result<Report> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let answers = runtime.block_on(measure(plan))?;
    Ok(answers.report()?)
}

async fn measure(plan: Plan) -> anyhow::Result<Answers> {
    let mut ground = Ground::open().await?;
    let mut progress = Progress::new(1 + plan.batches() as usize + growth::steps(plan));
    progress.step("memory and commands")?;
    let weights = weight::weigh(&mut ground).await?;
    let cluster = ground.cluster("race", SIZES[2]).await?;
    let mut node = Client::node(&ground, &cluster, "alone", &apps(1)?)?;
    let commands = weight::commands(&mut ground, &mut node).await?;
    let tracks = race(plan, &mut ground, &cluster, &mut progress).await?;
    let growth = growth::measure(plan, &mut ground, &mut progress).await?;
    progress.finish()?;
    Ok(Answers {
        plan,
        server: ground.version().await?,
        tracks,
        growth: growth.growth,
        weights,
        commands,
        remarks: growth.remarks,
    })
}

async fn race(
    plan: Plan,
    ground: &mut Ground,
    cluster: &ClusterId,
    progress: &mut Progress,
) -> anyhow::Result<Vec<Track>> {
    let mut relay = Relay::start(contenders(ground, cluster).await?, plan.slice, ground).await?;
    for _ in 0..plan.batches() {
        progress.step("race")?;
        for _ in 0..BATCH {
            relay.round(plan.slice, ground).await?;
        }
    }
    Ok(relay.finish())
}

/// The counter, the bare limiter and then the ledger, in the order of [`SIZES`].
async fn contenders(ground: &Ground, cluster: &ClusterId) -> anyhow::Result<Vec<Team>> {
    let (mut counters, mut limiters) = (Vec::new(), Vec::new());
    for _ in 0..CLIENTS {
        counters.push(Client::counter(ground).await?);
        limiters.push(Client::limiter(ground).await?);
    }
    let mut teams = vec![
        Team { name: "INCR of one key".into(), applications: 0, clients: counters },
        Team { name: "bare GCRA script".into(), applications: 0, clients: limiters },
    ];
    for size in SIZES {
        let clients = nodes(ground, cluster, &format!("sync-{size}"), &apps(size)?)?;
        teams.push(Team { name: format!("sync, {size} in a call"), applications: size, clients });
    }
    Ok(teams)
}

/// A node for each client.
fn nodes(ground: &Ground, cluster: &ClusterId, name: &str, apps: &[AppId]) -> anyhow::Result<Vec<Client>> {
    (0..CLIENTS).map(|number| Client::node(ground, cluster, &format!("{name}-{number}"), apps)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_run_on_a_real_server_answers_everything() {
        let plan = Plan { rounds: 1, slice: Duration::from_millis(5) };
        let report = ask(plan).unwrap();
        let numbers: serde_json::Value = serde_json::from_str(&report.numbers).unwrap();
        assert_eq!(numbers["contenders"].as_array().map(Vec::len), Some(2 + SIZES.len()));
        assert_eq!(numbers["growth"].as_array().map(Vec::len), Some(6));
        assert!(numbers["commands_per_sync"][0]["calls"].as_f64().is_some_and(|calls| calls > 0.99));
        assert!(report.text().contains("sync, 128 in a call"));
    }
}
