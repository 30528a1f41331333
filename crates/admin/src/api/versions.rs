//! Versions of policies.

use super::list::{Asked, ListParams};
use super::nodes::NodeReport;
use super::page::{Listed, PageParams, Params, Segment, plain};
use crate::auth::{Caller, Operator, Role, Viewer};
use crate::form::Form;
use crate::policy::{self, Change, Found, Plan, Present, Terms, Version, document};
use crate::problem::{FieldError, Problem};
use crate::state::{Admin, Shared};
use crate::store::VersionFilter;
use axum::Json;
use axum::extract::State;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};
use tollgate_config::policy::App;
use tollgate_core::id::AppId;
use utoipa::{IntoParams, ToSchema};

/// How many mistakes of an import are told.
const MAX_ERRORS: usize = 200;

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

/// One difference.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub(crate) struct Difference {
    /// `app` or `cluster`.
    kind: String,
    /// Which one.
    id: String,
    /// Which of its fields, like `cost.base.GET`; empty if it came or went as a whole.
    field: String,
    /// What it was.
    #[schema(value_type = Option<Object>)]
    before: Value,
    /// What it is.
    #[schema(value_type = Option<Object>)]
    after: Value,
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

/// Why it is rolled back.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "describes what is read field by field")]
pub(crate) struct Rollback {
    /// Why.
    #[schema(max_length = 1_000)]
    reason: Option<String>,
}

/// All policies, to be kept in a file and imported again.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct Export {
    /// The applications, by name, as a configuration file has them.
    apps: Vec<ExportedApp>,
}

/// An application as a configuration file has it.
#[derive(Clone, Debug, Serialize, ToSchema)]
struct ExportedApp {
    /// Its name.
    id: String,
    /// Everything else.
    #[serde(flatten)]
    #[schema(value_type = Object)]
    policy: Map<String, Value>,
}

/// Policies to be set.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "describes what is read field by field")]
pub(crate) struct Import {
    /// The applications, as they are exported or written in a configuration file.
    #[schema(value_type = Vec<Object>, max_items = 10_000)]
    apps: Vec<Value>,
    /// Whether applications that are not named are removed.
    #[schema(default = false)]
    prune: Option<bool>,
    /// Whether only to tell what would change.
    #[schema(default = false)]
    dry_run: Option<bool>,
    /// Why it is changed.
    #[schema(max_length = 1_000)]
    reason: Option<String>,
}

/// What an import changed, or would.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct Imported {
    /// The version that has it; none if nothing changed or nothing was to.
    version: Option<i64>,
    /// What changed, field by field.
    changes: Vec<Difference>,
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

/// Puts everything back to what it was at a version, all of it or nothing. What did not change since stays; what was scheduled
/// since is taken back. Where a cluster changed since, this needs the role that changing one does.
#[utoipa::path(post, path = "/api/v1/config/versions/{version}/rollback", tag = "config", request_body = Rollback,
    params(("version" = i64, Path,)), extensions(("x-required-role" = json!("operator"))),
    responses((status = 200, description = "it is as it was", body = Imported)))]
pub(crate) async fn rollback(
    State(admin): State<Shared>,
    Operator(caller): Operator,
    Segment(number): Segment<i64>,
    mut form: Form,
) -> Result<Json<Imported>, Problem> {
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
    apply(&admin, &caller, &plan, &present, &terms).await.map(Json)
}

/// Exports all policies, as `tollgate apply` and an import read them.
#[utoipa::path(get, path = "/api/v1/config/export", tag = "config", extensions(("x-required-role" = json!("viewer"))),
    responses((status = 200, description = "all policies", body = Export)))]
pub(crate) async fn export(State(admin): State<Shared>, _: Viewer) -> Result<Json<Export>, Problem> {
    let mut apps: Vec<ExportedApp> =
        policy::all(&*admin.plane).await?.iter().map(|found| exported(&admin, found)).collect();
    apps.sort_by(|a, b| a.id.cmp(&b.id));
    Ok(Json(Export { apps }))
}

fn exported(admin: &Admin, found: &Found) -> ExportedApp {
    let mut policy = admin.document(found).as_object().cloned().unwrap_or_default();
    policy.remove("app_id");
    ExportedApp { id: found.id.to_string(), policy }
}

/// Sets many applications at once. If one of them is wrong, none is set.
#[utoipa::path(post, path = "/api/v1/config/import", tag = "config", request_body = Import,
    extensions(("x-required-role" = json!("operator"))),
    responses((status = 200, description = "what changed, or would", body = Imported)))]
pub(crate) async fn import(
    State(admin): State<Shared>,
    Operator(caller): Operator,
    mut form: Form,
) -> Result<Json<Imported>, Problem> {
    let apps = form.value("apps");
    let prune = form.flag("prune").unwrap_or(false);
    let dry_run = form.flag("dry_run").unwrap_or(false);
    let reason = form.optional_text("reason", 0..=1_000).unwrap_or_default();
    let mut plan = Plan { apps: read_all(&admin, &mut form, apps), ..Plan::default() };
    form.finish()?;
    let _turn = admin.changing.lock().await;
    let present = Present::read(&admin).await?;
    if prune {
        for id in present.apps.keys() {
            plan.apps.entry(id.clone()).or_insert(None);
        }
    }
    plan.check(&present)?;
    if dry_run {
        return Ok(Json(Imported { version: None, changes: foreseen(&admin, &plan, &present) }));
    }
    apply(&admin, &caller, &plan, &present, &Terms::now("import", &reason)).await.map(Json)
}

/// What a plan would change about applications, field by field.
fn foreseen(admin: &Admin, plan: &Plan, present: &Present) -> Vec<Difference> {
    let change = |(id, app): (&AppId, &Option<App>)| {
        let before = present.apps.get(id).filter(|found| found.is_there()).map(|found| admin.document(found));
        let after = app.as_ref().map(|app| document::to_value(id, app, &admin.settings.prices));
        differences("app", id, before.as_ref(), after.as_ref())
    };
    plan.apps.iter().flat_map(change).collect()
}

/// Carries out a plan, and makes one version of it.
async fn apply(
    admin: &Admin,
    caller: &Caller,
    plan: &Plan,
    present: &Present,
    terms: &Terms,
) -> Result<Imported, Problem> {
    let (mut changes, failure) = plan.carry_out(admin, present, terms).await;
    // What was done before something failed is a version all the same: it is in force.
    let version = if changes.is_empty() { None } else { Some(admin.publish(caller, &changes, terms).await?) };
    if let Some(problem) = failure {
        return Err(problem);
    }
    changes.sort_by(|a, b| (&a.kind, &a.id).cmp(&(&b.kind, &b.id)));
    let changes = changes
        .iter()
        .flat_map(|c| differences(&c.kind, &c.id, c.before.as_ref(), c.after.as_ref()))
        .collect();
    Ok(Imported { version, changes })
}

/// Reads the applications of an import, all mistakes at once.
fn read_all(admin: &Admin, form: &mut Form, apps: Option<Value>) -> BTreeMap<AppId, Option<App>> {
    let mut wanted = BTreeMap::new();
    let Some(Value::Array(apps)) =
        apps.filter(|apps| apps.as_array().is_some_and(|apps| apps.len() <= 10_000))
    else {
        form.missing("apps", "a list of at most 10000 applications");
        return wanted;
    };
    let mut errors = Vec::new();
    for (index, app) in apps.into_iter().enumerate() {
        let at = |path: &str| format!("apps[{index}]{}{path}", if path.is_empty() { "" } else { "." });
        let Value::Object(mut fields) = app else {
            errors.push(FieldError::new(&at(""), "wrong_type", "wrong type", "an object"));
            continue;
        };
        let name = fields.remove("app_id").or_else(|| fields.remove("id"));
        let Some(id) = name.as_ref().and_then(Value::as_str).and_then(|name| AppId::new(name).ok()) else {
            errors.push(FieldError::new(
                &at("app_id"),
                "bad_id",
                "not a name",
                "1 to 128 of A-Z a-z 0-9 _ -",
            ));
            continue;
        };
        match admin.read_document(&id, &Value::Object(fields)) {
            Ok(app) => {
                if wanted.insert(id, Some(app)).is_some() {
                    errors.push(FieldError::new(
                        &at("app_id"),
                        "duplicate",
                        "named before",
                        "a name of its own",
                    ));
                }
            }
            Err(problem) => errors.extend(problem.errors().iter().cloned().map(|mut error| {
                error.path = at(&error.path);
                error
            })),
        }
    }
    errors.into_iter().take(MAX_ERRORS).for_each(|error| form.fault(error));
    wanted
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

/// What differs between two states of one thing, field by field.
fn differences(kind: &str, id: &str, before: Option<&Value>, after: Option<&Value>) -> Vec<Difference> {
    let whole = |before: Value, after: Value| {
        vec![Difference { kind: kind.into(), id: id.into(), field: String::new(), before, after }]
    };
    match (before, after) {
        (None, None) => Vec::new(),
        (None, Some(after)) => whole(Value::Null, after.clone()),
        (Some(before), None) => whole(before.clone(), Value::Null),
        (Some(before), Some(after)) => {
            let (mut old, mut new) = (BTreeMap::new(), BTreeMap::new());
            flatten("", before, &mut old);
            flatten("", after, &mut new);
            let fields: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
            let value =
                |of: &BTreeMap<String, Value>, field: &String| of.get(field).cloned().unwrap_or_default();
            let differing = fields.into_iter().filter(|field| old.get(*field) != new.get(*field));
            let difference = |field: &String| Difference {
                kind: kind.into(),
                id: id.into(),
                field: field.clone(),
                before: value(&old, field),
                after: value(&new, field),
            };
            differing.map(difference).collect()
        }
    }
}

fn flatten(at: &str, value: &Value, into: &mut BTreeMap<String, Value>) {
    let Value::Object(map): &Value = value else {
        into.insert(at.to_owned(), value.clone());
        return;
    };
    let map: &Map<String, Value> = map;
    for (key, value) in map {
        let path = if at.is_empty() { key.clone() } else { format!("{at}.{key}") };
        flatten(&path, value, into);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_what_differs_is_told() {
        let before = json!({"a": 1, "cost": {"base": {"GET": 1}}, "c": 3});
        let after = json!({"a": 2, "cost": {"base": {"GET": 1, "PUT": 9}}, "d": 4});
        let told = differences("app", "x", Some(&before), Some(&after));
        let fields: Vec<&str> = told.iter().map(|difference| difference.field.as_str()).collect();
        assert_eq!(fields, ["a", "c", "cost.base.PUT", "d"]);
        assert_eq!(differences("app", "x", Some(&before), Some(&before)), []);
        assert_eq!(differences("app", "x", None, Some(&after)).len(), 1);
    }
}
