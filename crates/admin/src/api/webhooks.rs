//! Where alerts are sent.

use super::list::{Asked, Entry, ListParams};
use super::page::{Listed, PageParams, Params, Segment};
use crate::alert;
use crate::auth::Administrator;
use crate::clock;
use crate::form::Form;
use crate::problem::{FieldError, Problem};
use crate::secret;
use crate::state::Shared;
use crate::store::WebhookRow;
use axum::Json;
use axum::extract::State;
use http::StatusCode;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::cmp::Ordering;
use utoipa::{IntoParams, ToSchema};

/// The most places that alerts are sent to.
const MAX_WEBHOOKS: usize = 20;

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

/// Which places to list, and how.
#[derive(Clone, Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct ListWebhooks {
    /// Only those that anything is sent to, or nothing.
    enabled: Option<bool>,
    /// What to sort by.
    #[param(inline)]
    sort: Option<SortWebhooks>,
}

/// What places are sorted by.
#[derive(Clone, Copy, Debug, Default, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum SortWebhooks {
    /// When they were added.
    #[default]
    CreatedAt,
    /// Where they are.
    Url,
}

impl Entry for Webhook {
    type Sort = SortWebhooks;

    fn name(&self) -> &str {
        &self.url
    }

    fn compare(&self, other: &Self, by: SortWebhooks) -> Ordering {
        match by {
            SortWebhooks::CreatedAt => self.created_at.cmp(&other.created_at),
            SortWebhooks::Url => self.url.cmp(&other.url),
        }
    }

    fn is_time(by: SortWebhooks) -> bool {
        matches!(by, SortWebhooks::CreatedAt)
    }
}

/// Lists the places that alerts are sent to; `search` looks at their addresses.
#[utoipa::path(get, path = "/api/v1/webhooks", tag = "alerts", params(PageParams, ListParams, ListWebhooks),
    extensions(("x-required-role" = json!("admin"))),
    responses((status = 200, description = "a page of places", body = Listed<Webhook>)))]
pub(crate) async fn webhooks(
    State(admin): State<Shared>,
    _: Administrator,
    asked: Asked,
    Params(params): Params<ListWebhooks>,
) -> Result<Json<Listed<Webhook>>, Problem> {
    let all = admin.store.webhooks().await?.into_iter().map(shown);
    let wanted = all.filter(|place| params.enabled.is_none_or(|enabled| enabled == place.enabled));
    Ok(Json(asked.page(wanted, params.sort)))
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

fn shown(row: WebhookRow) -> Webhook {
    Webhook { id: row.id, url: row.url, enabled: row.is_enabled, created_at: row.created_at }
}
