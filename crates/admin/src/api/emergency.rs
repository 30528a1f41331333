//! Emergency mode.

use super::list::{Asked, ListParams};
use super::page::{Listed, PageParams, Params, plain};
use crate::auth::{Operator, Viewer};
use crate::clock;
use crate::event::EventKind;
use crate::form::Form;
use crate::policy;
use crate::problem::{FieldError, Problem};
use crate::secret;
use crate::state::{Admin, Shared};
use crate::store::{EmergencyFilter, EmergencyRow};
use axum::Json;
use axum::extract::State;
use serde::{Deserialize, Serialize};
use serde_json::json;
use tollgate_core::emergency::{Cause, Emergency, ratio};
use tollgate_core::id::ClusterId;
use tollgate_core::priority::Priority;
use tollgate_core::units::Millis;
use utoipa::{IntoParams, ToSchema};

/// The longest emergency that an operator can declare, in seconds: a day.
const MAX_DURATION_S: i64 = 86_400;

/// Whether there is an emergency, cluster by cluster.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct EmergencyStatus {
    /// Whether any cluster is in emergency mode.
    active: bool,
    /// The clusters.
    clusters: Vec<ClusterEmergency>,
}

/// Whether there is an emergency at a cluster, and what it does or would do.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct ClusterEmergency {
    /// Which cluster.
    cluster_id: String,
    /// Whether it is in emergency mode.
    active: bool,
    /// Who started it.
    cause: Option<EmergencyCause>,
    /// Why, as an operator said.
    reason: String,
    /// Since when, in milliseconds since 1970.
    since: Option<u64>,
    /// Until when.
    until: Option<u64>,
    /// What is left in force of the guarantees, by priority.
    effects: Vec<EmergencyEffect>,
}

/// What an emergency leaves to the applications of one priority.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct EmergencyEffect {
    /// The priority.
    priority: u8,
    /// The share of their guarantees that stays in force.
    ratio: f64,
    /// How many applications have it.
    apps: u64,
    /// What they are guaranteed together, in tokens per second.
    guaranteed: u64,
    /// What is left of that.
    in_force: u64,
}

/// Who started an emergency.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum EmergencyCause {
    /// Somebody.
    Operator,
    /// The use of the cluster.
    Usage,
}

impl EmergencyCause {
    const fn name(self) -> &'static str {
        match self {
            Self::Operator => "operator",
            Self::Usage => "usage",
        }
    }
}

/// An emergency to declare.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "describes what is read field by field")]
pub(crate) struct ActivateEmergency {
    /// Where; may be left out where there is only one cluster.
    cluster_id: Option<String>,
    /// Why.
    #[schema(min_length = 1, max_length = 256)]
    reason: String,
    /// For how long, in seconds.
    #[schema(minimum = 1, maximum = 86_400, default = 300)]
    duration: Option<i64>,
}

/// An emergency to end.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "describes what is read field by field")]
pub(crate) struct DeactivateEmergency {
    /// Where; may be left out where there is only one cluster.
    cluster_id: Option<String>,
}

/// An emergency, over or not.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct PastEmergency {
    /// Its name.
    id: String,
    /// Where it was.
    cluster_id: String,
    /// `operator` or `usage`.
    cause: String,
    /// Why.
    reason: String,
    /// Who declared it; empty if nobody did.
    actor: String,
    /// When it started, in milliseconds since 1970.
    started_at: i64,
    /// When it was to end.
    until: i64,
    /// When it ended, if it has.
    ended_at: Option<i64>,
    /// Who ended it, or `expired`, or `recovered`.
    ended_by: Option<String>,
}

/// Which emergencies to list.
#[derive(Clone, Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct ListEmergencies {
    /// Only those of this cluster.
    cluster_id: Option<String>,
    /// Only those that were started like this.
    #[param(inline)]
    cause: Option<EmergencyCause>,
}

/// Tells whether there is an emergency, and what one does.
#[utoipa::path(get, path = "/api/v1/emergency", tag = "emergency", extensions(("x-required-role" = json!("viewer"))),
    responses((status = 200, description = "cluster by cluster", body = EmergencyStatus)))]
pub(crate) async fn status(State(admin): State<Shared>, _: Viewer) -> Result<Json<EmergencyStatus>, Problem> {
    shown(&admin).await.map(Json)
}

/// Declares an emergency, or gives it a new end.
#[utoipa::path(post, path = "/api/v1/emergency/activate", tag = "emergency", request_body = ActivateEmergency,
    extensions(("x-required-role" = json!("operator"))),
    responses((status = 200, description = "it is in force", body = EmergencyStatus)))]
pub(crate) async fn activate(
    State(admin): State<Shared>,
    Operator(caller): Operator,
    mut form: Form,
) -> Result<Json<EmergencyStatus>, Problem> {
    let cluster = cluster(&admin, &mut form);
    let reason = form.text("reason", 1..=256);
    let duration = form.whole("duration", 1..=MAX_DURATION_S).unwrap_or(300);
    form.finish()?;
    let cluster = cluster?;
    let duration = Millis::from_secs(duration.unsigned_abs());
    admin.plane.declare_emergency(&cluster, &reason, duration).await?;
    let view = admin.plane.cluster(&cluster).await?;
    if let Emergency::On { since, until, .. } = view.emergency {
        let row = EmergencyRow {
            id: secret::ordered_id()?,
            cluster: cluster.to_string(),
            cause: EmergencyCause::Operator.name().into(),
            reason: reason.clone(),
            actor: caller.name.clone(),
            started_at: millis(since),
            until_at: millis(until),
            ended_at: None,
            ended_by: None,
        };
        admin.store.note_emergency(&row).await?;
    }
    let after = json!({"reason": reason, "duration_s": duration.ceil_secs()});
    admin.audit(&caller, "emergency.activate", &cluster, None, Some(&after)).await?;
    admin.hub.remember(key(&cluster, true), clock::wall());
    tell(&admin, &cluster, true, &reason, &caller.name);
    shown(&admin).await.map(Json)
}

/// Ends an emergency, if there is one.
#[utoipa::path(post, path = "/api/v1/emergency/deactivate", tag = "emergency", request_body = DeactivateEmergency,
    extensions(("x-required-role" = json!("operator"))),
    responses((status = 200, description = "there is none", body = EmergencyStatus)))]
pub(crate) async fn deactivate(
    State(admin): State<Shared>,
    Operator(caller): Operator,
    mut form: Form,
) -> Result<Json<EmergencyStatus>, Problem> {
    let cluster = cluster(&admin, &mut form);
    form.finish()?;
    let cluster = cluster?;
    let before = admin.plane.cluster(&cluster).await?;
    admin.plane.end_emergency(&cluster).await?;
    if before.emergency.is_on() {
        admin.store.end_emergencies(&cluster, &caller.name, clock::wall()).await?;
        let before = json!({"reason": before.emergency_reason});
        admin.audit(&caller, "emergency.deactivate", &cluster, Some(&before), None).await?;
        admin.hub.remember(key(&cluster, false), clock::wall());
        tell(&admin, &cluster, false, "", &caller.name);
    }
    shown(&admin).await.map(Json)
}

/// Lists the emergencies there were, by time; `search` looks at their reasons.
#[utoipa::path(get, path = "/api/v1/emergency/history", tag = "emergency",
    params(PageParams, ListParams, ListEmergencies),
    extensions(("x-required-role" = json!("viewer"))),
    responses((status = 200, description = "a page of emergencies", body = Listed<PastEmergency>)))]
pub(crate) async fn history(
    State(admin): State<Shared>,
    _: Viewer,
    asked: Asked,
    Params(params): Params<ListEmergencies>,
) -> Result<Json<Listed<PastEmergency>>, Problem> {
    let cause = params.cause.map(EmergencyCause::name).unwrap_or_default();
    let filter = EmergencyFilter {
        cluster: plain(params.cluster_id),
        cause: cause.into(),
        search: asked.search.clone(),
    };
    let page = admin.store.emergencies(&filter, asked.slice()).await?;
    let data = page.rows.into_iter().map(|row| PastEmergency {
        id: row.id,
        cluster_id: row.cluster,
        cause: row.cause,
        reason: row.reason,
        actor: row.actor,
        started_at: row.started_at,
        until: row.until_at,
        ended_at: row.ended_at,
        ended_by: row.ended_by,
    });
    Ok(Json(asked.paging.listed(data.collect(), page.total)))
}

/// What the beginning or end of an emergency is remembered by.
pub(crate) fn key(cluster: &ClusterId, is_active: bool) -> String {
    format!("{cluster}/emergency/{is_active}")
}

/// Tells those who watch.
pub(crate) fn tell(admin: &Admin, cluster: &ClusterId, is_active: bool, reason: &str, actor: &str) {
    let data = json!({"cluster_id": &**cluster, "active": is_active, "reason": reason, "actor": actor});
    admin.hub.tell(EventKind::Emergency, data, clock::wall());
}

async fn shown(admin: &Admin) -> Result<EmergencyStatus, Problem> {
    let apps = policy::all(&*admin.plane).await?;
    let mut shown = Vec::new();
    for id in admin.clusters() {
        let view = admin.plane.cluster(&id).await?;
        let (cause, since, until) = match view.emergency {
            Emergency::On { cause, since, until } => (Some(cause), Some(since.get()), Some(until.get())),
            Emergency::Off { .. } => (None, None, None),
        };
        let cause = cause.map(|cause| match cause {
            Cause::Operator => EmergencyCause::Operator,
            Cause::Usage => EmergencyCause::Usage,
        });
        let effects = Priority::ALL.map(|priority| {
            let affected =
                apps.iter().filter(|app| app.app.cluster == id && app.app.quota.priority == priority);
            let promises: Vec<u64> = affected.map(|app| app.app.quota.guaranteed.floor()).collect();
            let guaranteed = promises.iter().sum();
            EmergencyEffect {
                priority: priority.number(),
                ratio: ratio(priority).as_f64(),
                apps: promises.len() as u64,
                guaranteed,
                in_force: ratio(priority).apply(guaranteed),
            }
        });
        shown.push(ClusterEmergency {
            cluster_id: id.to_string(),
            active: view.emergency.is_on(),
            cause,
            reason: view.emergency_reason,
            since,
            until,
            effects: effects.into(),
        });
    }
    Ok(EmergencyStatus { active: shown.iter().any(|cluster| cluster.active), clusters: shown })
}

/// The cluster that is meant; the only one if none is named.
fn cluster(admin: &Admin, form: &mut Form) -> Result<ClusterId, Problem> {
    let clusters = admin.clusters();
    if let Some(name) = form.optional_text("cluster_id", 1..=128) {
        return admin.cluster(&name);
    }
    if let [only] = &clusters[..] {
        return Ok(only.clone());
    }
    let names: Vec<&str> = clusters.iter().map(|id| &**id).collect();
    let error = FieldError::new("cluster_id", "missing", "missing", format!("one of {}", names.join(", ")));
    form.fault(error.clone());
    Err(Problem::invalid(vec![error]))
}

pub(crate) fn millis(time: Millis) -> i64 {
    i64::try_from(time.get()).unwrap_or(i64::MAX)
}
