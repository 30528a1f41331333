//! Whether a call costs more when the cluster knows more.

use super::client::Client;
use super::crowd::Crowd;
use super::ground::{Ground, apps_among};
use super::relay::{Relay, Slice, Team, Track};
use super::{BATCH, CLIENTS, Plan, nodes};
use crate::progress::Progress;
use crate::spread::Quartiles;
use serde::Serialize;
use tollgate_core::id::ClusterId;

/// How many applications each call is about.
const PER_CALL: u32 = 16;

/// How many applications the cluster knows; no less than are in a call.
const APPS: [u32; 3] = [PER_CALL, 1_000, 10_000];

/// How many nodes the cluster knows, besides the clients.
const NODES: [u32; 3] = [10, 1_000, 10_000];

/// A call about sixteen applications, in a cluster that knows so many of something.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Growth {
    pub(super) what: &'static str,
    pub(super) known: u32,
    /// Wall clock per application in a call, of all clients together.
    pub(super) micros: Quartiles,
    /// What the server worked per application in a call.
    pub(super) server_micros: Quartiles,
    /// Wall clock to that of the smallest, within a round.
    pub(super) ratio: Quartiles,
    /// What the server worked to that of the smallest, within a round.
    pub(super) server_ratio: Quartiles,
}

impl Growth {
    /// Such as `1,000 nodes`.
    pub(super) fn name(&self) -> String {
        let (thousands, rest) = (self.known / 1_000, self.known % 1_000);
        let what = self.what;
        if thousands > 0 { format!("{thousands},{rest:03} {what}") } else { format!("{rest} {what}") }
    }

    /// Whether it is what the others are compared with.
    pub(super) fn is_smallest(&self) -> bool {
        [APPS[0], NODES[0]].contains(&self.known)
    }
}

/// What was found about growth, and what went wrong meanwhile.
#[derive(Debug, Default)]
pub(super) struct Findings {
    pub(super) growth: Vec<Growth>,
    pub(super) remarks: Vec<String>,
}

/// How many steps of progress this takes.
pub(super) fn steps(plan: Plan) -> usize {
    2 * plan.batches() as usize
}

pub(super) async fn measure(
    plan: Plan,
    ground: &mut Ground,
    progress: &mut Progress,
) -> anyhow::Result<Findings> {
    let mut findings = Findings::default();
    findings.growth.extend(of_applications(plan, ground, progress).await?);
    let (growth, remark) = of_nodes(plan, ground, progress).await?;
    findings.growth.extend(growth);
    findings.remarks.extend(remark);
    Ok(findings)
}

async fn of_applications(
    plan: Plan,
    ground: &mut Ground,
    progress: &mut Progress,
) -> anyhow::Result<Vec<Growth>> {
    let mut teams = Vec::new();
    for known in APPS {
        let cluster = ground.cluster(&format!("apps-{known}"), known).await?;
        teams.push(team(ground, &cluster, known)?);
    }
    let mut relay = Relay::start(teams, plan.slice, ground).await?;
    for _ in 0..plan.batches() {
        progress.step("growth: known applications")?;
        for _ in 0..BATCH {
            relay.round(plan.slice, ground).await?;
        }
    }
    Ok(compare("applications", APPS, &relay.finish()))
}

/// Nodes that do not speak fall silent, so they are kept alive before every few rounds.
async fn of_nodes(
    plan: Plan,
    ground: &mut Ground,
    progress: &mut Progress,
) -> anyhow::Result<(Vec<Growth>, Option<String>)> {
    let (mut teams, mut crowds): (_, Vec<Crowd>) = (Vec::new(), Vec::new());
    for known in NODES {
        let cluster = ground.cluster(&format!("nodes-{known}"), PER_CALL).await?;
        teams.push(team(ground, &cluster, PER_CALL)?);
        crowds.push(Crowd::gather(ground, &cluster, known).await?);
        for crowd in &crowds {
            crowd.keep_alive(ground).await?;
        }
    }
    let mut relay = Relay::start(teams, plan.slice, ground).await?;
    let mut fewest = NODES;
    for _ in 0..plan.batches() {
        progress.step("growth: known nodes")?;
        for crowd in &crowds {
            crowd.keep_alive(ground).await?;
        }
        for _ in 0..BATCH {
            relay.round(plan.slice, ground).await?;
        }
        for (crowd, fewest) in crowds.iter().zip(&mut fewest) {
            *fewest = crowd.alive(ground, CLIENTS).await?.min(*fewest);
        }
    }
    Ok((compare("nodes", NODES, &relay.finish()), lost(fewest)))
}

fn lost(fewest: [u32; 3]) -> Option<String> {
    (fewest != NODES).then(|| {
        format!(
            "**The machine was too slow to keep all nodes alive**: of {NODES:?} there were at times only {fewest:?}, \
             and calls had leases of the others to write off."
        )
    })
}

fn team(ground: &Ground, cluster: &ClusterId, known: u32) -> anyhow::Result<Team> {
    let clients: Vec<Client> = nodes(ground, cluster, "client", &apps_among(PER_CALL, known)?)?;
    Ok(Team { name: cluster.to_string(), applications: PER_CALL, clients })
}

fn compare(what: &'static str, known: [u32; 3], tracks: &[Track]) -> Vec<Growth> {
    let each = |value: fn(&Slice) -> f64| move |slice: &Slice| value(slice) / f64::from(PER_CALL);
    let growth = |(known, track): (u32, &Track)| Growth {
        what,
        known,
        micros: track.over(each(Slice::micros)),
        server_micros: track.over(each(Slice::server_micros)),
        ratio: track.ratio_to(&tracks[0], Slice::micros),
        server_ratio: track.ratio_to(&tracks[0], Slice::server_micros),
    };
    known.into_iter().zip(tracks).map(growth).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn growth_is_relative_to_the_smallest() {
        let track = |millis| {
            let (took, server) = (Duration::from_millis(millis), Duration::from_millis(millis / 2));
            let slice = Slice { calls: 100, took, server, latencies: Vec::new() };
            Track { name: String::new(), applications: PER_CALL, slices: vec![slice] }
        };
        let growth = compare("nodes", NODES, &[track(160), track(160), track(240)]);
        assert_eq!(growth.iter().map(|each| each.known).collect::<Vec<_>>(), NODES);
        assert!((growth[2].ratio.median - 1.5).abs() < 1e-9);
        assert!((growth[0].micros.median - 100.0).abs() < 1e-9);
        assert!((growth[0].server_micros.median - 50.0).abs() < 1e-9);
    }

    #[test]
    fn nodes_that_fell_silent_are_told_of() {
        assert_eq!(lost(NODES), None);
        assert!(lost([10, 1_000, 9_000]).is_some_and(|told| told.contains("9000")));
    }
}
