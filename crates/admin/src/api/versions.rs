//! Versions of policies.

use super::import::{Imported, Unscheduled, apply};
use super::list::{Asked, ListParams};
use super::nodes::NodeReport;
use super::page::{Listed, PageParams, Params, Segment, plain};
use crate::auth::{Operator, Role, Viewer};
use crate::clock;
use crate::form::Form;
use crate::policy::{self, Change, Difference, Plan, Present, Terms, Version, differences};
use crate::problem::Problem;
use crate::state::{Admin, Shared};
use crate::store::VersionFilter;
use axum::Json;
use axum::extract::State;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use utoipa::{IntoParams, ToSchema};

/// A version of the policies, and how far it has got.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct VersionDetail {
    #[serde(flatten)]
    version: Version,
    /// How many nodes apply it.
    applied: Applied,
}

/// How many nodes apply a version.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct Applied {
    /// Nodes that are known to apply it.
    nodes: u64,
    /// Nodes that the ledger hears of.
    of: u64,
    /// Their names.
    names: Vec<String>,
}

/// What changed from one version to another.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct Differences {
    /// The earlier version.
    from: i64,
    /// The later version.
    to: i64,
    /// What changed, field by field.
    changes: Vec<Difference>,
}

/// Which versions to list.
#[derive(Clone, Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct ListVersions {
    /// Only those that they made.
    author: Option<String>,
    /// Only those of this kind, like `rollback`.
    kind: Option<String>,
}

/// What going back changed.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct RolledBack {
    #[serde(flatten)]
    done: Imported,
    /// Changes that were scheduled at that version, replaced before their time came, and not scheduled again by this.
    not_restored: Vec<Unscheduled>,
}

/// Why it is rolled back.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "describes what is read field by field")]
pub(crate) struct Rollback {
    /// Why.
    #[schema(max_length = 1_000)]
    reason: Option<String>,
}

/// Lists the versions, by time; `search` looks at their reasons.
#[utoipa::path(get, path = "/api/v1/config/versions", tag = "config", params(PageParams, ListParams, ListVersions),
    extensions(("x-required-role" = json!("viewer"))),
    responses((status = 200, description = "a page of versions", body = Listed<Version>)))]
pub(crate) async fn list(
    State(admin): State<Shared>,
    _: Viewer,
    asked: Asked,
    Params(params): Params<ListVersions>,
) -> Result<Json<Listed<Version>>, Problem> {
    let filter = VersionFilter {
        author: plain(params.author),
        kind: plain(params.kind),
        search: asked.search.clone(),
    };
    let page = admin.store.versions(&filter, asked.slice()).await?;
    Ok(Json(asked.paging.listed(page.rows.into_iter().map(Version::from).collect(), page.total)))
}

/// Shows a version, and how many nodes apply it.
#[utoipa::path(get, path = "/api/v1/config/versions/{version}", tag = "config", params(("version" = i64, Path,)),
    extensions(("x-required-role" = json!("viewer"))),
    responses((status = 200, description = "the version", body = VersionDetail)))]
pub(crate) async fn get(
    State(admin): State<Shared>,
    _: Viewer,
    Segment(number): Segment<i64>,
) -> Result<Json<VersionDetail>, Problem> {
    let version = existing(&admin, number).await?;
    let applied = applied(&admin, &version).await?;
    Ok(Json(VersionDetail { version, applied }))
}

/// Compares two versions.
#[utoipa::path(get, path = "/api/v1/config/versions/{from}/diff/{to}", tag = "config",
    params(("from" = i64, Path,), ("to" = i64, Path,)), extensions(("x-required-role" = json!("viewer"))),
    responses((status = 200, description = "what changed", body = Differences)))]
pub(crate) async fn diff(
    State(admin): State<Shared>,
    _: Viewer,
    Segment((from, to)): Segment<(i64, i64)>,
) -> Result<Json<Differences>, Problem> {
    if from != 0 {
        existing(&admin, from).await?;
    }
    existing(&admin, to).await?;
    let touched = between(&admin, from.min(to), from.max(to)).await?;
    let changes = touched.into_iter().flat_map(|((kind, id), (before, after))| {
        let (before, after) = if from <= to { (before, after) } else { (after, before) };
        differences(&kind, &id, before.as_ref(), after.as_ref())
    });
    Ok(Json(Differences { from, to, changes: changes.collect() }))
}

/// Puts everything back to what was in force at a version, all of it or nothing. What did not change since stays; what was
/// scheduled since is taken back (`unscheduled`). What was scheduled at that version stays scheduled if nothing has touched the
/// application since; if something has, before its time, it is not scheduled again (`not_restored`): schedule it anew if it is
/// wanted. Where a cluster changed since, this needs the role that changing one does.
#[utoipa::path(post, path = "/api/v1/config/versions/{version}/rollback", tag = "config", request_body = Rollback,
    params(("version" = i64, Path,)), extensions(("x-required-role" = json!("operator"))),
    responses((status = 200, description = "it is as it was", body = RolledBack)))]
pub(crate) async fn rollback(
    State(admin): State<Shared>,
    Operator(caller): Operator,
    Segment(number): Segment<i64>,
    mut form: Form,
) -> Result<Json<RolledBack>, Problem> {
    let reason = form.optional_text("reason", 0..=1_000);
    form.finish()?;
    existing(&admin, number).await?;
    let _turn = admin.changing.lock().await;
    let terms = Terms::now("rollback", &reason.unwrap_or_else(|| format!("back to version {number}")));
    let present = Present::read(&admin).await?;
    let mut plan = Plan::default();
    for ((kind, id), (then, _)) in between(&admin, number, i64::MAX).await? {
        match (kind.as_str(), then) {
            ("cluster", Some(then)) => {
                caller.may(Role::Admin)?;
                plan.cluster(&present, &id, &then)?;
            }
            (_, then) => plan.app(&admin, &id, then.as_ref())?,
        }
    }
    plan.check(&present)?;
    let not_restored = not_restored(&admin, number).await?;
    let done = apply(&admin, &caller, &plan, &present, &terms).await?;
    Ok(Json(RolledBack { done, not_restored }))
}

/// What was scheduled when a version was made, and replaced before its time came.
async fn not_restored(admin: &Admin, number: i64) -> Result<Vec<Unscheduled>, Problem> {
    let mut replaced_at = BTreeMap::new();
    for row in admin.store.versions_between(number, i64::MAX).await? {
        let Version { timestamp, changes, .. } = Version::from(row);
        for change in changes.into_iter().filter(|change| change.kind == "app") {
            replaced_at.entry(change.id).or_insert(timestamp);
        }
    }
    let Some(first) = replaced_at.values().min() else { return Ok(Vec::new()) };
    let Some(earliest) = admin.store.first_due_after(*first, number).await? else { return Ok(Vec::new()) };
    let mut due = BTreeMap::new();
    for row in admin.store.versions_between(earliest - 1, number).await? {
        let Version { effective_time, changes, .. } = Version::from(row);
        // Whatever is set later takes back what was scheduled before.
        let apps = changes.into_iter().filter(|change| change.kind == "app");
        due.extend(apps.map(|change| (change.id, effective_time)));
    }
    let lost = replaced_at.into_iter().filter_map(|(app_id, at)| {
        let effective_time = due.get(&app_id).copied().flatten().filter(|due| *due > at)?;
        Some(Unscheduled { app_id, effective_time })
    });
    Ok(lost.collect())
}

type Changed = BTreeMap<(String, String), (Option<Value>, Option<Value>)>;

/// What each thing was before the first change after one version, and after the last up to another.
async fn between(admin: &Admin, after: i64, until: i64) -> Result<Changed, Problem> {
    let mut changed = Changed::new();
    for row in admin.store.versions_between(after, until).await? {
        for change in Version::from(row).changes {
            let Change { kind, id, before, after, .. } = change;
            changed.entry((kind, id)).or_insert_with(|| (before, None)).1 = after;
        }
    }
    Ok(changed)
}

async fn existing(admin: &Admin, number: i64) -> Result<Version, Problem> {
    let row = admin.store.version(number).await?;
    row.map(Version::from).ok_or_else(|| Problem::not_found("version", &number.to_string()))
}

/// Which nodes apply a version: those that read that far.
async fn applied(admin: &Admin, version: &Version) -> Result<Applied, Problem> {
    let mut of = 0;
    let mut names: Option<BTreeSet<String>> = None;
    let reports = super::nodes::reports(admin).await?;
    for (cluster, wanted) in wanted(admin, version).await? {
        let known = reports.iter().filter(|node| node.clusters.contains_key(&cluster)).count() as u64;
        if let Ok(id) = admin.cluster(&cluster) {
            of = of.max(admin.plane.cluster(&id).await?.nodes.max(known));
        }
        let reads_so_far = |node: &&NodeReport| {
            let read = node.clusters.get(&cluster).map(|cluster| cluster.version);
            wanted.zip(read).is_some_and(|(wanted, read)| read >= wanted)
        };
        let has: BTreeSet<String> =
            reports.iter().filter(reads_so_far).map(|node| node.node.clone()).collect();
        names = Some(match names {
            Some(names) => names.intersection(&has).cloned().collect(),
            None => has,
        });
    }
    let names: Vec<String> = names.unwrap_or_default().into_iter().collect();
    Ok(Applied { nodes: names.len() as u64, of: of.max(names.len() as u64), names })
}

/// How far a node must have read each cluster to apply a version; none if nobody can yet.
async fn wanted(admin: &Admin, version: &Version) -> Result<BTreeMap<String, Option<u64>>, Problem> {
    let mut wanted: BTreeMap<String, Option<u64>> = BTreeMap::new();
    for change in &version.changes {
        let has_it = match version.effective_time {
            None => Some(change.ledger_version),
            Some(due) if due > clock::wall() => None,
            Some(_) => came_into_force(admin, change).await?,
        };
        let so_far = wanted.entry(change.cluster.clone()).or_insert(Some(0));
        *so_far = so_far.zip(has_it).map(|(a, b)| a.max(b));
    }
    Ok(wanted)
}

/// The version of the ledger that has a change that was scheduled: a later one than that which scheduled it.
async fn came_into_force(admin: &Admin, change: &Change) -> Result<Option<u64>, Problem> {
    let found = policy::find(&*admin.plane, &change.id).await?;
    Ok(match found {
        Some(found) => Some(found.version()).filter(|version| *version > change.ledger_version),
        // It was removed since, which came later still.
        None => Some(change.ledger_version),
    })
}
