//! What would have been under another policy.

use super::apps::{AppInput, read};
use super::page::Segment;
use crate::auth::Viewer;
use crate::form::Form;
use crate::history::Range;
use crate::policy;
use crate::problem::Problem;
use crate::state::{Admin, Shared};
use crate::whatif::{Demand, Outcome, Terms, World, price_ratio, replay};
use axum::Json;
use axum::extract::State;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;
use tokio::sync::{Semaphore, SemaphorePermit};
use tollgate_core::id::{AppId, ClusterId};
use tollgate_ledger::protocol::AppPolicy;
use utoipa::ToSchema;

/// How many neighbours are looked at: those that asked for most.
const MAX_NEIGHBOURS: usize = 10;

/// How many replays there are at a time: each takes the memory of a day of demand, and two threads.
static TURNS: Semaphore = Semaphore::const_new(2);

/// How long to wait for one of them.
const PATIENCE: Duration = Duration::from_secs(2);

/// A policy to try on recorded demand.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "describes what is read field by field")]
pub(crate) struct WhatIf {
    /// The application as it might be.
    policy: AppInput,
    /// How far back to look: `1h`, `6h` or `24h`.
    range: Option<Range>,
}

/// What would have been.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct WhatIfAnswer {
    /// Since when demand was played, in milliseconds since 1970.
    from: i64,
    /// Until when.
    until: i64,
    /// Whose demand that is.
    demand: DemandOf,
    /// What the same requests of the application would cost under the prices that are tried, as a share of what they did.
    price_ratio: f64,
    /// The application.
    app: Comparison,
    /// Its neighbours on the cluster that asked this node for most.
    neighbours: Vec<Comparison>,
}

/// The nodes whose demand was played. What was asked of the others is missing, as if it had not happened.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct DemandOf {
    /// This node, and those whose history is in the same database: up to some minutes ago.
    nodes: Vec<String>,
    /// How many nodes there are.
    of: u64,
}

/// What became of an application's demand, and what would have.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct Comparison {
    /// Which application.
    app_id: String,
    /// Under the policies of today.
    before: Played,
    /// Under the policy that is tried.
    after: Played,
}

/// What became of an application's demand.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
pub(crate) struct Played {
    /// Tokens that were asked for.
    demanded: u64,
    /// Tokens that were had.
    granted: u64,
    /// Tokens that were refused.
    refused: u64,
    /// The share that was refused.
    refused_ratio: f64,
    /// Seconds in which something was refused.
    dry_seconds: u64,
}

impl From<Outcome> for Played {
    fn from(outcome: Outcome) -> Self {
        let Outcome { demanded, granted, refused, dry_seconds } = outcome;
        let refused_ratio = if demanded == 0 { 0.0 } else { refused as f64 / demanded as f64 };
        Self { demanded, granted, refused, refused_ratio, dry_seconds }
    }
}

/// Plays recorded demand under a policy that is tried, and under those of today. Nothing is changed. It is the demand of this
/// node and of those whose history is in the same database; `demand` says of how many that is.
#[utoipa::path(post, path = "/api/v1/apps/{app_id}/what-if", tag = "apps", request_body = WhatIf,
    params(("app_id" = String, Path,)), extensions(("x-required-role" = json!("viewer"))),
    responses((status = 200, description = "what would have been", body = WhatIfAnswer)))]
pub(crate) async fn what_if(
    State(admin): State<Shared>,
    _: Viewer,
    Segment(name): Segment<String>,
    mut form: Form,
) -> Result<Json<WhatIfAnswer>, Problem> {
    let ranges = [("1h", Range::Hour), ("6h", Range::SixHours), ("24h", Range::Day)];
    let range = form.word("range", &ranges).unwrap_or_default();
    let id = AppId::new(&name).map_err(|_| Problem::not_found("application", &name))?;
    let mut inner = form.nested("policy");
    super::apps::terms(&mut inner, "update");
    let app = match read(&admin, &id, inner) {
        Ok(app) => Some(app),
        Err(problem) => {
            problem.errors().iter().cloned().for_each(|mut error| {
                error.path = format!("policy.{}", error.path);
                form.fault(error);
            });
            None
        }
    };
    form.finish()?;
    let app = app.ok_or_else(|| Problem::malformed("no policy"))?;
    let before = policy::find(&*admin.plane, &id).await?;
    if let Some(error) = admin.room_error(&app.cluster, app.quota.guaranteed, before.as_ref()).await? {
        let path = format!("policy.{}", error.path);
        return Err(Problem::invalid(vec![crate::problem::FieldError { path, ..error }]));
    }
    let _turn = turn(&TURNS).await?;
    let until = admin.live().at;
    let since = u32::try_from(until / 1_000).unwrap_or(u32::MAX).saturating_sub(range.seconds());
    let today = today(&admin, &app.cluster).await?;
    let mut tried = today.world.clone();
    tried.apps.insert(id.clone(), Terms { quota: app.quota, enabled: app.enabled });
    let (demand, nodes) = demand(&admin, &id, &today.world, since).await?;
    let price_ratio = before
        .as_ref()
        .map_or(1.0, |found| price_ratio(&found.view.by_operation, &found.app.prices, &app.prices));
    let mut repriced = demand.clone();
    repriced.entry(id.clone()).and_modify(|seconds| scale(seconds, price_ratio));
    let (before, after) = play((today.world, demand), (tried, repriced)).await?;
    let compare = |app: &AppId| Comparison {
        app_id: app.to_string(),
        before: before.get(app).copied().unwrap_or_default().into(),
        after: after.get(app).copied().unwrap_or_default().into(),
    };
    let neighbours = after.keys().filter(|app| **app != id).map(compare).collect();
    let demand = DemandOf { of: today.nodes.max(nodes.len() as u64), nodes };
    let from = i64::from(since) * 1_000;
    Ok(Json(WhatIfAnswer { from, until, demand, price_ratio, app: compare(&id), neighbours }))
}

/// A turn to replay, unless others take too long.
async fn turn(turns: &Semaphore) -> Result<SemaphorePermit<'_>, Problem> {
    let turn = tokio::time::timeout(PATIENCE, turns.acquire()).await;
    turn.ok().and_then(Result::ok).ok_or_else(|| Problem::too_many(Some(PATIENCE)))
}

/// A cluster under the policies of today.
struct Today {
    world: World,
    /// How many nodes it has.
    nodes: u64,
}

async fn today(admin: &Admin, cluster: &ClusterId) -> Result<Today, Problem> {
    let view = admin.plane.cluster(cluster).await?;
    let views = crate::plane::all_apps(&*admin.plane, cluster).await?;
    let apps = views.into_iter().map(|view| {
        let AppPolicy { app, quota, enabled, .. } = view.policy.policy;
        (app, Terms { quota, enabled })
    });
    Ok(Today { world: World { capacity: view.capacity, apps: apps.collect() }, nodes: view.nodes })
}

/// What the application and its busiest neighbours at this node asked for, and the nodes that they asked: this one, and those
/// whose history is in the same database.
async fn demand(
    admin: &Admin,
    id: &AppId,
    world: &World,
    since: u32,
) -> Result<(BTreeMap<AppId, Demand>, Vec<String>), Problem> {
    let mut demand = own_demand(admin, id, world, since);
    let mut nodes = BTreeSet::from([admin.settings.node.to_string()]);
    if admin.is_shared {
        for (app, seconds) in &mut demand {
            let others = admin.store.demand_of(app).await?;
            for (node, data) in others.into_iter().filter(|(node, _)| *node != *admin.settings.node) {
                *seconds = sum(std::mem::take(seconds), recorded(app, &data, since));
                nodes.insert(node);
            }
        }
    }
    Ok((demand, nodes.into_iter().collect()))
}

fn own_demand(admin: &Admin, id: &AppId, world: &World, since: u32) -> BTreeMap<AppId, Demand> {
    let recorder = admin.recorder();
    let of = |app: &AppId| -> Demand { recorder.demand().of(app, since).collect() };
    let neighbours = world.apps.keys().filter(|app| *app != id).map(|app| (app.clone(), of(app)));
    let mut neighbours: Vec<(AppId, Demand)> = neighbours.filter(|(_, demand)| !demand.is_empty()).collect();
    neighbours.sort_by_cached_key(|(_, demand)| {
        std::cmp::Reverse(demand.iter().map(|(_, cost)| cost).sum::<u64>())
    });
    neighbours.truncate(MAX_NEIGHBOURS);
    neighbours.into_iter().chain(std::iter::once((id.clone(), of(id)))).collect()
}

/// What a node has written down.
fn recorded(app: &AppId, data: &[u8], since: u32) -> Demand {
    let mut kept = crate::history::Demand::default();
    kept.restore(app, data);
    kept.of(app, since).collect()
}

/// What was asked for at both.
fn sum(one: Demand, other: Demand) -> Demand {
    let mut seconds: BTreeMap<u32, u64> = BTreeMap::new();
    for (at, cost) in one.into_iter().chain(other) {
        *seconds.entry(at).or_default() += cost;
    }
    seconds.into_iter().collect()
}

/// The same requests at other prices.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "rounded, and not below zero")]
fn scale(seconds: &mut Demand, ratio: f64) {
    for (_, cost) in seconds {
        *cost = (*cost as f64 * ratio).round() as u64;
    }
}

type Outcomes = BTreeMap<AppId, Outcome>;

/// Plays both at once, away from the threads that serve requests.
async fn play(
    (today, demand): (World, BTreeMap<AppId, Demand>),
    (tried, repriced): (World, BTreeMap<AppId, Demand>),
) -> Result<(Outcomes, Outcomes), Problem> {
    let before = tokio::task::spawn_blocking(move || replay(&today, &demand));
    let after = tokio::task::spawn_blocking(move || replay(&tried, &repriced));
    let failed = |_| Problem::unavailable("the replay ended early");
    Ok((before.await.map_err(failed)??, after.await.map_err(failed)??))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn there_are_so_many_replays_and_whoever_has_waited_long_enough_is_told_to_come_again() {
        let turns = Semaphore::new(2);
        let first = turn(&turns).await.unwrap();
        let _second = turn(&turns).await.unwrap();
        let refused = turn(&turns).await.unwrap_err();
        assert_eq!((refused.status().as_u16(), refused), (429, Problem::too_many(Some(PATIENCE))));
        drop(first);
        assert!(turn(&turns).await.is_ok());
    }
}
