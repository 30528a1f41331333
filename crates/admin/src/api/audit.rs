//! What was done, by whom, from where.

use super::page::{Listed, PageParams, Paging, Params, plain};
use crate::auth::Operator;
use crate::problem::Problem;
use crate::state::Shared;
use crate::store::{AuditFilter, AuditRow};
use axum::Json;
use axum::extract::State;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::{IntoParams, ToSchema};

/// Something that somebody did.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct AuditEntry {
    /// Its name; later ones sort behind earlier ones.
    id: String,
    /// When, in milliseconds since 1970.
    timestamp: i64,
    /// Who.
    actor: String,
    /// `user`, `token` or `system`.
    actor_kind: String,
    /// From where.
    ip: String,
    /// What, like `app.update`.
    action: String,
    /// To what.
    target: String,
    /// What it was before.
    #[schema(value_type = Option<Object>)]
    before: Option<Value>,
    /// What it is after.
    #[schema(value_type = Option<Object>)]
    after: Option<Value>,
}

impl From<AuditRow> for AuditEntry {
    fn from(row: AuditRow) -> Self {
        let read = |text: Option<String>| text.and_then(|text| serde_json::from_str(&text).ok());
        Self {
            id: row.id,
            timestamp: row.at,
            actor: row.entry.actor,
            actor_kind: row.entry.actor_kind,
            ip: row.entry.ip,
            action: row.entry.action,
            target: row.entry.target,
            before: read(row.entry.before),
            after: read(row.entry.after),
        }
    }
}

/// Which entries to list.
#[derive(Clone, Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct ListAudit {
    /// Only what they did.
    actor: Option<String>,
    /// Only this, like `app.update`, or all about it, like `app`.
    action: Option<String>,
    /// Only what was done to it.
    target: Option<String>,
    /// Not before, in milliseconds since 1970.
    from: Option<i64>,
    /// Not after.
    until: Option<i64>,
}

/// Lists what was done, the latest first.
#[utoipa::path(get, path = "/api/v1/audit", tag = "audit", params(PageParams, ListAudit),
    extensions(("x-required-role" = json!("operator"))),
    responses((status = 200, description = "a page of entries", body = Listed<AuditEntry>)))]
pub(crate) async fn list(
    State(admin): State<Shared>,
    _: Operator,
    paging: Paging,
    Params(params): Params<ListAudit>,
) -> Result<Json<Listed<AuditEntry>>, Problem> {
    let filter = AuditFilter {
        actor: plain(params.actor),
        action: plain(params.action),
        target: plain(params.target),
        from: params.from.unwrap_or(0),
        until: params.until.unwrap_or(i64::MAX),
    };
    let page = admin.store.audit(&filter, paging.skip(), paging.limit.into()).await?;
    Ok(Json(paging.listed(page.rows.into_iter().map(AuditEntry::from).collect(), page.total)))
}
