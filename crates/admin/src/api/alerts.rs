//! Alerts.

use super::page::{Listed, PageParams, Paging, Params, Segment};
use crate::alert;
use crate::auth::{Operator, Viewer};
use crate::clock;
use crate::problem::Problem;
use crate::state::{Admin, Shared};
use crate::store::AlertRow;
use axum::Json;
use axum::extract::State;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

/// Something that is, or was, not as it should be.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct Alert {
    /// Its name.
    id: String,
    /// The rule that raised it.
    rule: String,
    /// What it is about: an application, a cluster or a node.
    subject: String,
    /// `info`, `warning` or `critical`.
    severity: String,
    /// What is the matter.
    message: String,
    /// The number that the rule looked at, as of last.
    value: f64,
    /// When it was raised, in milliseconds since 1970.
    timestamp: i64,
    /// When it was last seen.
    last_seen: i64,
    /// Whether somebody has seen it.
    acknowledged: bool,
    /// When.
    acknowledged_at: Option<i64>,
    /// Who.
    acknowledged_by: Option<String>,
    /// When it was over, if it is.
    resolved_at: Option<i64>,
    /// The node that sees it, and says when it is over.
    node: String,
}

impl From<AlertRow> for Alert {
    fn from(row: AlertRow) -> Self {
        Self {
            id: row.id,
            rule: row.rule,
            subject: row.subject,
            severity: row.severity,
            message: row.message,
            value: row.value,
            timestamp: row.raised_at,
            last_seen: row.seen_at,
            acknowledged: row.acknowledged_at.is_some(),
            acknowledged_at: row.acknowledged_at,
            acknowledged_by: row.acknowledged_by,
            node: row.node,
            resolved_at: row.resolved_at,
        }
    }
}

/// Which alerts to list.
#[derive(Clone, Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct ListAlerts {
    /// Only those in this state.
    #[param(inline)]
    state: Option<AlertState>,
}

/// The state of an alert.
#[derive(Clone, Copy, Debug, Default, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum AlertState {
    /// Not over.
    #[default]
    Open,
    /// Not over, and seen by somebody.
    Acknowledged,
    /// Over.
    Resolved,
    /// Any.
    All,
}

/// Lists alerts, the latest first.
#[utoipa::path(get, path = "/api/v1/alerts", tag = "alerts", params(PageParams, ListAlerts),
    extensions(("x-required-role" = json!("viewer"))),
    responses((status = 200, description = "a page of alerts", body = Listed<Alert>)))]
pub(crate) async fn list(
    State(admin): State<Shared>,
    _: Viewer,
    paging: Paging,
    Params(params): Params<ListAlerts>,
) -> Result<Json<Listed<Alert>>, Problem> {
    let state = match params.state.unwrap_or_default() {
        AlertState::Open => "open",
        AlertState::Acknowledged => "acknowledged",
        AlertState::Resolved => "resolved",
        AlertState::All => "all",
    };
    let page = admin.store.alerts(state, paging.skip(), paging.limit.into()).await?;
    Ok(Json(paging.listed(page.rows.into_iter().map(Alert::from).collect(), page.total)))
}

/// Notes that the caller has seen an alert. Whoever saw it first stays.
#[utoipa::path(post, path = "/api/v1/alerts/{id}/acknowledge", tag = "alerts", params(("id" = String, Path,)),
    extensions(("x-required-role" = json!("operator"))),
    responses((status = 200, description = "the alert", body = Alert)))]
pub(crate) async fn acknowledge(
    State(admin): State<Shared>,
    Operator(caller): Operator,
    Segment(id): Segment<String>,
) -> Result<Json<Alert>, Problem> {
    let before = existing(&admin, &id).await?;
    if admin.store.acknowledge_alert(&before.id, &caller.name, clock::wall()).await? {
        admin.audit(&caller, "alert.acknowledge", &id, None, None).await?;
        alert::tell(&admin, "acknowledged", &existing(&admin, &id).await?);
    }
    Ok(Json(existing(&admin, &id).await?.into()))
}

/// Closes an alert. It is raised anew if what it is about goes on.
#[utoipa::path(post, path = "/api/v1/alerts/{id}/resolve", tag = "alerts", params(("id" = String, Path,)),
    extensions(("x-required-role" = json!("operator"))),
    responses((status = 200, description = "the alert", body = Alert)))]
pub(crate) async fn resolve(
    State(admin): State<Shared>,
    Operator(caller): Operator,
    Segment(id): Segment<String>,
) -> Result<Json<Alert>, Problem> {
    let before = existing(&admin, &id).await?;
    if admin.store.close_alert(&before.id, clock::wall()).await? {
        admin.audit(&caller, "alert.resolve", &id, None, None).await?;
        alert::tell(&admin, "resolved", &existing(&admin, &id).await?);
    }
    Ok(Json(existing(&admin, &id).await?.into()))
}

async fn existing(admin: &Admin, id: &str) -> Result<AlertRow, Problem> {
    let row = if id.contains('\0') { None } else { admin.store.alert(id).await? };
    row.ok_or_else(|| Problem::not_found("alert", id))
}
