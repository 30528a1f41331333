//! All policies as one document: exported, kept in a file, imported again.

use super::emergency::millis;
use crate::auth::{Caller, Operator, Role, Viewer};
use crate::form::Form;
use crate::policy::cluster::{self, ClusterDocument};
use crate::policy::{self, Difference, Found, Plan, Present, Terms, differences, document};
use crate::problem::{FieldError, Problem};
use crate::state::{Admin, Shared};
use axum::Json;
use axum::extract::State;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use tollgate_config::policy::App;
use tollgate_core::id::{AppId, ClusterId};
use tollgate_core::quota::Capacity;
use utoipa::ToSchema;

/// How many mistakes of an import are told.
const MAX_ERRORS: usize = 200;

/// The most clusters of an import.
const MAX_CLUSTERS: usize = 1_000;

/// All policies, to be kept in a file and imported again.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct Export {
    /// What the clusters can stand, by name, as a configuration file has it.
    clusters: Vec<ExportedCluster>,
    /// The applications, by name, as a configuration file has them.
    apps: Vec<ExportedApp>,
}

/// A cluster as a configuration file has it.
#[derive(Clone, Debug, Serialize, ToSchema)]
struct ExportedCluster {
    /// Its name.
    id: String,
    #[serde(flatten)]
    limits: ClusterDocument,
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
    /// What clusters can stand, as it is exported or written in a configuration file. What is left out stays as it is; a cluster
    /// is never added or removed. Changing one needs the role `admin`.
    #[schema(value_type = Option<Vec<Object>>, max_items = 1_000)]
    clusters: Option<Vec<Value>>,
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
    /// Changes that were scheduled for what is set here, and that this takes back.
    unscheduled: Vec<Unscheduled>,
}

/// A change that was scheduled, and is not any more.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub(crate) struct Unscheduled {
    /// Of which application.
    pub(super) app_id: String,
    /// When it was to take effect, in milliseconds since 1970.
    pub(super) effective_time: i64,
}

/// Exports all policies, as `tollgate apply` and an import read them.
#[utoipa::path(get, path = "/api/v1/config/export", tag = "config", extensions(("x-required-role" = json!("viewer"))),
    responses((status = 200, description = "all policies", body = Export)))]
pub(crate) async fn export(State(admin): State<Shared>, _: Viewer) -> Result<Json<Export>, Problem> {
    let mut clusters = Vec::new();
    for id in admin.clusters() {
        let limits = ClusterDocument::from(&admin.plane.cluster(&id).await?.capacity);
        clusters.push(ExportedCluster { id: id.to_string(), limits });
    }
    let mut apps: Vec<ExportedApp> =
        policy::all(&*admin.plane).await?.iter().map(|found| exported(&admin, found)).collect();
    apps.sort_by(|a, b| a.id.cmp(&b.id));
    Ok(Json(Export { clusters, apps }))
}

fn exported(admin: &Admin, found: &Found) -> ExportedApp {
    let mut policy = admin.document(found).as_object().cloned().unwrap_or_default();
    policy.remove("app_id");
    ExportedApp { id: found.id.to_string(), policy }
}

/// Sets many applications, and what clusters can stand, at once. If one of them is wrong, none is set. What is scheduled for an
/// application that is named is taken back, and told.
#[utoipa::path(post, path = "/api/v1/config/import", tag = "config", request_body = Import,
    extensions(("x-required-role" = json!("operator"))),
    responses((status = 200, description = "what changed, or would", body = Imported)))]
pub(crate) async fn import(
    State(admin): State<Shared>,
    Operator(caller): Operator,
    mut form: Form,
) -> Result<Json<Imported>, Problem> {
    let (apps, clusters) = (form.value("apps"), form.value("clusters"));
    let prune = form.flag("prune").unwrap_or(false);
    let dry_run = form.flag("dry_run").unwrap_or(false);
    let reason = form.optional_text("reason", 0..=1_000).unwrap_or_default();
    let mut plan = Plan { apps: read_all(&admin, &mut form, apps), ..Plan::default() };
    let _turn = admin.changing.lock().await;
    let present = Present::read(&admin).await?;
    plan.clusters = read_clusters(&present, &mut form, clusters);
    form.finish()?;
    if plan.changes_clusters(&present) {
        caller.may(Role::Admin)?;
    }
    if prune {
        for id in present.apps.keys() {
            plan.apps.entry(id.clone()).or_insert(None);
        }
    }
    plan.check(&present)?;
    if dry_run {
        let changes = foreseen(&admin, &plan, &present);
        return Ok(Json(Imported { version: None, changes, unscheduled: unscheduled(&plan, &present) }));
    }
    apply(&admin, &caller, &plan, &present, &Terms::now("import", &reason)).await.map(Json)
}

/// What a plan would change, field by field.
fn foreseen(admin: &Admin, plan: &Plan, present: &Present) -> Vec<Difference> {
    let change = |(id, app): (&AppId, &Option<App>)| {
        let before = present.apps.get(id).filter(|found| found.is_there()).map(|found| admin.document(found));
        let after = app.as_ref().map(|app| document::to_value(id, app, &admin.settings.prices));
        differences("app", id, before.as_ref(), after.as_ref())
    };
    let of_cluster = |(id, after): (&ClusterId, &Capacity)| {
        let before = present.clusters.get(id).map(cluster::to_value);
        differences("cluster", id, before.as_ref(), Some(&cluster::to_value(after)))
    };
    plan.apps.iter().flat_map(change).chain(plan.clusters.iter().flat_map(of_cluster)).collect()
}

/// What is scheduled for the applications of a plan: setting or removing one takes it back.
fn unscheduled(plan: &Plan, present: &Present) -> Vec<Unscheduled> {
    let touched = plan.apps.keys().filter_map(|id| present.apps.get(id));
    let pending = touched.filter_map(|found| Some((found.id.to_string(), found.view.pending.as_ref()?.at)));
    pending.map(|(app_id, at)| Unscheduled { app_id, effective_time: millis(at) }).collect()
}

/// Carries out a plan, and makes one version of it.
pub(super) async fn apply(
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
    Ok(Imported { version, changes, unscheduled: unscheduled(plan, present) })
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

/// Reads the clusters of an import, all mistakes at once.
fn read_clusters(
    present: &Present,
    form: &mut Form,
    clusters: Option<Value>,
) -> BTreeMap<ClusterId, Capacity> {
    let mut wanted = BTreeMap::new();
    let clusters = match clusters {
        None | Some(Value::Null) => return wanted,
        Some(Value::Array(clusters)) if clusters.len() <= MAX_CLUSTERS => clusters,
        Some(_) => {
            let expected = format!("a list of at most {MAX_CLUSTERS} clusters");
            form.fault(FieldError::new("clusters", "wrong_type", "wrong type", expected));
            return wanted;
        }
    };
    let mut errors = Vec::new();
    for (index, cluster) in clusters.into_iter().enumerate() {
        match read_cluster(present, cluster) {
            Ok((id, capacity)) => {
                if wanted.insert(id, capacity).is_some() {
                    let path = format!("clusters[{index}].id");
                    errors.push(FieldError::new(&path, "duplicate", "named before", "a name of its own"));
                }
            }
            Err(wrong) => errors.extend(wrong.into_iter().map(|mut error| {
                let dot = if error.path.is_empty() { "" } else { "." };
                error.path = format!("clusters[{index}]{dot}{}", error.path);
                error
            })),
        }
    }
    errors.into_iter().take(MAX_ERRORS).for_each(|error| form.fault(error));
    wanted
}

fn read_cluster(present: &Present, cluster: Value) -> Result<(ClusterId, Capacity), Vec<FieldError>> {
    let Value::Object(mut said) = cluster else {
        return Err(vec![FieldError::new("", "wrong_type", "wrong type", "an object")]);
    };
    said.retain(|_, value| !value.is_null());
    let name = said.remove("cluster_id").or_else(|| said.remove("id"));
    let name = name.as_ref().and_then(Value::as_str).unwrap_or_default();
    let Some((id, before)) = present.clusters.get_key_value(name) else {
        let names: Vec<&str> = present.clusters.keys().map(|id| &**id).collect();
        let expected = format!("one of {}", names.join(", "));
        return Err(vec![FieldError::new("id", "unknown", "no cluster that the nodes know", expected)]);
    };
    Ok((id.clone(), cluster::read(id, before, said)?))
}
