//! What would have been under another policy.

use super::apps::{AppInput, read};
use super::page::Segment;
use crate::auth::Viewer;
use crate::form::Form;
use crate::history::Range;
use crate::policy;
use crate::problem::Problem;
use crate::state::{Admin, Shared};
use crate::whatif::{Demand, Outcome, World, replay};
use axum::Json;
use axum::extract::State;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use tollgate_core::id::{AppId, ClusterId};
use tollgate_core::quota::Quota;
use utoipa::ToSchema;

/// How many neighbours are looked at: those that asked for most.
const MAX_NEIGHBOURS: usize = 10;

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
    /// The application.
    app: Comparison,
    /// Its neighbours on the cluster that asked for most.
    neighbours: Vec<Comparison>,
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

/// Plays recorded demand of this node under a policy that is tried, and under those of today. Nothing is changed.
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
    let until = admin.live().at;
    let since = u32::try_from(until / 1_000).unwrap_or(u32::MAX).saturating_sub(range.seconds());
    let today = today(&admin, &app.cluster).await?;
    let mut tried = today.clone();
    tried.quotas.insert(id.clone(), app.quota);
    let demand = demand(&admin, &id, &today.quotas, since);
    let (before, after) = play(today, tried, demand).await?;
    let compare = |app: &AppId| Comparison {
        app_id: app.to_string(),
        before: before.get(app).copied().unwrap_or_default().into(),
        after: after.get(app).copied().unwrap_or_default().into(),
    };
    let neighbours = after.keys().filter(|app| **app != id).map(compare).collect();
    Ok(Json(WhatIfAnswer { from: i64::from(since) * 1_000, until, app: compare(&id), neighbours }))
}

/// The cluster under the policies of today.
async fn today(admin: &Admin, cluster: &ClusterId) -> Result<World, Problem> {
    let view = admin.plane.cluster(cluster).await?;
    let views = crate::plane::all_apps(&*admin.plane, cluster).await?;
    let quotas =
        views.into_iter().map(|view| (view.policy.policy.app.clone(), view.policy.policy.quota)).collect();
    Ok(World { capacity: view.capacity, quotas })
}

/// What the application and its busiest neighbours asked for.
fn demand(admin: &Admin, id: &AppId, quotas: &BTreeMap<AppId, Quota>, since: u32) -> BTreeMap<AppId, Demand> {
    let recorder = admin.recorder();
    let of = |app: &AppId| -> Demand { recorder.demand().of(app, since).collect() };
    let neighbours = quotas.keys().filter(|app| *app != id).map(|app| (app.clone(), of(app)));
    let mut neighbours: Vec<(AppId, Demand)> = neighbours.filter(|(_, demand)| !demand.is_empty()).collect();
    neighbours.sort_by_cached_key(|(_, demand)| {
        std::cmp::Reverse(demand.iter().map(|(_, cost)| cost).sum::<u64>())
    });
    neighbours.truncate(MAX_NEIGHBOURS);
    neighbours.into_iter().chain(std::iter::once((id.clone(), of(id)))).collect()
}

type Outcomes = BTreeMap<AppId, Outcome>;

/// Plays both at once, away from the threads that serve requests.
async fn play(
    today: World,
    tried: World,
    demand: BTreeMap<AppId, Demand>,
) -> Result<(Outcomes, Outcomes), Problem> {
    let demand = std::sync::Arc::new(demand);
    let shared = std::sync::Arc::clone(&demand);
    let before = tokio::task::spawn_blocking(move || replay(&today, &shared));
    let after = tokio::task::spawn_blocking(move || replay(&tried, &demand));
    let failed = |_| Problem::unavailable("the replay ended early");
    Ok((before.await.map_err(failed)??, after.await.map_err(failed)??))
}
