//! When alerts are raised.

use super::etag::{IfMatch, etag, tag};
use super::list::{Asked, Entry, ListParams};
use super::page::{Listed, PageParams, Params, Segment};
use crate::alert::{self, Rule, Severity};
use crate::auth::{Administrator, Viewer};
use crate::form::Form;
use crate::problem::Problem;
use crate::state::{Admin, Shared};
use axum::Json;
use axum::extract::State;
use axum::response::IntoResponse;
use http::HeaderMap;
use serde::Deserialize;
use serde_json::json;
use std::cmp::Ordering;
use utoipa::{IntoParams, ToSchema};

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

/// Which rules to list, and how.
#[derive(Clone, Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct ListRules {
    /// Only those that raise alerts, or do not.
    enabled: Option<bool>,
    /// Only those whose alerts are as bad as this.
    #[param(inline)]
    severity: Option<Severity>,
    /// What to sort by.
    #[param(inline)]
    sort: Option<SortRules>,
}

/// What rules are sorted by.
#[derive(Clone, Copy, Debug, Default, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum SortRules {
    /// Their names.
    #[default]
    Id,
    /// How bad it is.
    Severity,
    /// For how long it must be so.
    ForS,
}

impl Entry for Rule {
    type Sort = SortRules;

    fn name(&self) -> &str {
        &self.id
    }

    fn compare(&self, other: &Self, by: SortRules) -> Ordering {
        match by {
            SortRules::Id => self.id.cmp(&other.id),
            SortRules::Severity => self.severity.cmp(&other.severity),
            SortRules::ForS => self.for_s.cmp(&other.for_s),
        }
    }
}

/// Lists the rules.
#[utoipa::path(get, path = "/api/v1/alert-rules", tag = "alerts", params(PageParams, ListParams, ListRules),
    extensions(("x-required-role" = json!("viewer"))),
    responses((status = 200, description = "a page of rules", body = Listed<Rule>)))]
pub(crate) async fn rules(
    State(admin): State<Shared>,
    _: Viewer,
    asked: Asked,
    Params(params): Params<ListRules>,
) -> Result<Json<Listed<Rule>>, Problem> {
    let wanted = alert::rules(&admin.store).await?.into_iter().filter(|rule| {
        params.enabled.is_none_or(|enabled| enabled == rule.enabled)
            && params.severity.is_none_or(|severity| severity == rule.severity)
    });
    Ok(Json(asked.page(wanted, params.sort)))
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

/// A rule, and what it is written as.
struct Written {
    rule: Rule,
    /// None if nobody has changed it yet.
    text: Option<String>,
}

async fn written(admin: &Admin, id: &str) -> Result<Written, Problem> {
    let rule = Rule::of(id).ok_or_else(|| Problem::not_found("rule", id))?;
    let text = admin.store.alert_rule(id).await?;
    Ok(Written { rule: rule.changed_to(text.as_deref()), text })
}
