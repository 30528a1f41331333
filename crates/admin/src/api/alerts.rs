//! Alerts, their rules, and where they are sent.

use super::etag::{IfMatch, etag, tag};
use super::page::{Listed, Paging, Params, Segment};
use crate::alert::{self, Rule, Severity};
use crate::auth::{Administrator, Operator, Viewer};
use crate::clock;
use crate::form::Form;
use crate::problem::{FieldError, Problem};
use crate::secret;
use crate::state::{Admin, Shared};
use crate::store::{AlertRow, WebhookRow};
use axum::Json;
use axum::extract::State;
use axum::response::IntoResponse;
use http::{HeaderMap, StatusCode};
use serde::{Deserialize, Serialize};
use serde_json::json;
use utoipa::{IntoParams, ToSchema};

/// The most places that alerts are sent to.
const MAX_WEBHOOKS: usize = 20;

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
    /// Which page, from 1.
    #[param(minimum = 1, maximum = 100_000, default = 1)]
    page: Option<u32>,
    /// The most entries of a page.
    #[param(minimum = 1, maximum = 1_000, default = 20)]
    limit: Option<u32>,
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

/// All rules.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct Rules {
    /// The rules, by name.
    data: Vec<Rule>,
}

/// A rule as it shall be. What is left out stays.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "describes what is read field by field")]
pub(crate) struct RuleInput {
    /// Whether it raises alerts.
    enabled: Option<bool>,
    /// The number at which it does.
    #[schema(minimum = 0, maximum = 1_000_000_000_000i64)]
    threshold: Option<f64>,
    /// For how many seconds it must be so.
    #[schema(minimum = 0, maximum = 3_600)]
    for_s: Option<u32>,
    /// How bad it is.
    severity: Option<Severity>,
}

/// A place that alerts are sent to.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct Webhook {
    /// What it is removed by.
    id: String,
    /// Where.
    url: String,
    /// Whether anything is sent there.
    enabled: bool,
    /// When it was added, in milliseconds since 1970.
    created_at: i64,
}

/// All places.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct Webhooks {
    /// The places, the earliest first.
    data: Vec<Webhook>,
}

/// A new place that alerts are sent to.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "describes what is read field by field")]
pub(crate) struct NewWebhook {
    /// Where: `http://` or `https://`. Private addresses are refused unless the settings allow them.
    #[schema(min_length = 8, max_length = 2_000)]
    url: String,
}

/// A place with the secret that messages to it are signed with, told this once.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct WebhookWithSecret {
    #[serde(flatten)]
    webhook: Webhook,
    /// The key of the HMAC-SHA256 in `X-Tollgate-Signature`.
    secret: String,
}

/// Lists alerts, the latest first.
#[utoipa::path(get, path = "/api/v1/alerts", tag = "alerts", params(ListAlerts),
    extensions(("x-required-role" = json!("viewer"))),
    responses((status = 200, description = "a page of alerts", body = Listed<Alert>)))]
pub(crate) async fn list(
    State(admin): State<Shared>,
    _: Viewer,
    Params(params): Params<ListAlerts>,
) -> Result<Json<Listed<Alert>>, Problem> {
    let paging = Paging::new(params.page, params.limit)?;
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

/// Lists the rules.
#[utoipa::path(get, path = "/api/v1/alert-rules", tag = "alerts", extensions(("x-required-role" = json!("viewer"))),
    responses((status = 200, description = "all rules", body = Rules)))]
pub(crate) async fn rules(State(admin): State<Shared>, _: Viewer) -> Result<Json<Rules>, Problem> {
    Ok(Json(Rules { data: alert::rules(&admin.store).await? }))
}

/// Shows a rule.
#[utoipa::path(get, path = "/api/v1/alert-rules/{id}", tag = "alerts", params(("id" = String, Path,)),
    extensions(("x-required-role" = json!("viewer"))),
    responses((status = 200, description = "the rule", body = Rule, headers(("ETag" = String)))))]
pub(crate) async fn rule(
    State(admin): State<Shared>,
    _: Viewer,
    Segment(id): Segment<String>,
) -> Result<impl IntoResponse, Problem> {
    let rule = written(&admin, &id).await?.rule;
    Ok((etag(&tag(&json!(rule))), Json(rule)))
}

/// Changes a rule. With `If-Match` it must be as the caller has seen it.
#[utoipa::path(put, path = "/api/v1/alert-rules/{id}", tag = "alerts", request_body = RuleInput,
    params(("id" = String, Path,), ("If-Match" = Option<String>, Header,)),
    extensions(("x-required-role" = json!("admin"))),
    responses((status = 200, description = "the rule", body = Rule, headers(("ETag" = String)))))]
pub(crate) async fn put_rule(
    State(admin): State<Shared>,
    Administrator(caller): Administrator,
    Segment(id): Segment<String>,
    headers: HeaderMap,
    mut form: Form,
) -> Result<impl IntoResponse, Problem> {
    let enabled = form.flag("enabled");
    let threshold = form.number("threshold", 0.0..=1e12);
    let for_s = form.whole("for_s", 0..=3_600).and_then(|seconds| u32::try_from(seconds).ok());
    let severity = form.word("severity", &Severity::ALL);
    form.finish()?;
    let Written { rule: before, text } = written(&admin, &id).await?;
    IfMatch::read(&headers)?.check(Some(&tag(&json!(before))))?;
    let rule = Rule {
        enabled: enabled.unwrap_or(before.enabled),
        threshold: threshold.unwrap_or(before.threshold),
        for_s: for_s.unwrap_or(before.for_s),
        severity: severity.unwrap_or(before.severity),
        ..before.clone()
    };
    if rule != before {
        if !admin.store.put_alert_rule(&id, text.as_deref(), &json!(rule).to_string()).await? {
            let now = written(&admin, &id).await?.rule;
            return Err(Problem::changed_meanwhile(&tag(&json!(now))));
        }
        admin.audit(&caller, "alert_rule.update", &id, Some(&json!(before)), Some(&json!(rule))).await?;
    }
    Ok((etag(&tag(&json!(rule))), Json(rule)))
}

/// Lists the places that alerts are sent to.
#[utoipa::path(get, path = "/api/v1/webhooks", tag = "alerts", extensions(("x-required-role" = json!("admin"))),
    responses((status = 200, description = "all places", body = Webhooks)))]
pub(crate) async fn webhooks(
    State(admin): State<Shared>,
    _: Administrator,
) -> Result<Json<Webhooks>, Problem> {
    let data = admin.store.webhooks().await?.into_iter().map(shown).collect();
    Ok(Json(Webhooks { data }))
}

/// Adds a place that alerts are sent to.
#[utoipa::path(post, path = "/api/v1/webhooks", tag = "alerts", request_body = NewWebhook,
    extensions(("x-required-role" = json!("admin"))),
    responses((status = 201, description = "it was added", body = WebhookWithSecret)))]
pub(crate) async fn add_webhook(
    State(admin): State<Shared>,
    Administrator(caller): Administrator,
    mut form: Form,
) -> Result<(StatusCode, Json<WebhookWithSecret>), Problem> {
    let url = form.text("url", 8..=2_000);
    if let (false, Err(why)) =
        (url.is_empty(), alert::webhook::check_url(&url, admin.settings.private_webhooks))
    {
        form.fault(FieldError::new("url", "malformed", why, "http:// or https:// and a public host"));
    }
    form.finish()?;
    if admin.store.webhooks().await?.len() >= MAX_WEBHOOKS {
        return Err(Problem::conflict(format!("there are {MAX_WEBHOOKS} already")));
    }
    let row = WebhookRow {
        id: secret::ordered_id()?,
        url: url.clone(),
        secret: secret::token()?,
        is_enabled: true,
        created_at: clock::wall(),
    };
    admin.store.add_webhook(&row).await?;
    admin.audit(&caller, "webhook.create", &row.id, None, Some(&json!({"url": url}))).await?;
    let secret = row.secret.clone();
    Ok((StatusCode::CREATED, Json(WebhookWithSecret { webhook: shown(row), secret })))
}

/// Removes a place. One that is not there is as good as removed.
#[utoipa::path(delete, path = "/api/v1/webhooks/{id}", tag = "alerts", params(("id" = String, Path,)),
    extensions(("x-required-role" = json!("admin"))),
    responses((status = 204, description = "nothing is sent there any more")))]
pub(crate) async fn delete_webhook(
    State(admin): State<Shared>,
    Administrator(caller): Administrator,
    Segment(id): Segment<String>,
) -> Result<StatusCode, Problem> {
    let id = id.replace('\0', "\u{fffd}");
    let before = admin.store.webhooks().await?.into_iter().find(|place| place.id == id);
    if admin.store.delete_webhook(&id).await? {
        let before = before.map(|place| json!({"url": place.url}));
        admin.audit(&caller, "webhook.delete", &id, before.as_ref(), None).await?;
    }
    Ok(StatusCode::NO_CONTENT)
}

/// A rule, and what it is written as.
struct Written {
    rule: Rule,
    /// None if nobody has changed it yet.
    text: Option<String>,
}

async fn written(admin: &Admin, id: &str) -> Result<Written, Problem> {
    let rule = Rule::of(id).ok_or_else(|| Problem::not_found("rule", id))?;
    let text = admin.store.alert_rule(id).await?;
    Ok(Written { rule: rule.as_written(text.as_deref()), text })
}

async fn existing(admin: &Admin, id: &str) -> Result<AlertRow, Problem> {
    let row = if id.contains('\0') { None } else { admin.store.alert(id).await? };
    row.ok_or_else(|| Problem::not_found("alert", id))
}

fn shown(row: WebhookRow) -> Webhook {
    Webhook { id: row.id, url: row.url, enabled: row.is_enabled, created_at: row.created_at }
}
