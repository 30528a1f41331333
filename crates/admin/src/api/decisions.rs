//! Why a request was decided as it was.

use super::page::{Paging, Params, Segment};
use crate::auth::Viewer;
use crate::problem::Problem;
use crate::state::Shared;
use axum::Json;
use axum::extract::State;
use serde::{Deserialize, Serialize};
use tollgate_core::decision::{Step, Tier, Verdict};
use tollgate_core::units::Millis;
use tollgate_node::{DecisionId, Record, Unexplained};
use utoipa::{IntoParams, ToSchema};

/// A decision, with everything a person may ask about it.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub(crate) struct Decision {
    /// Its name.
    id: String,
    /// When it was made, in milliseconds since 1970.
    timestamp: u64,
    /// The application, as the request named it.
    app_id: String,
    /// Whether the request passed.
    verdict: VerdictName,
    /// Why it was refused, or would have been.
    reason: Option<String>,
    /// The tier that had the last word: `l3`, `l2`, `l1` or `fallback`.
    tier: String,
    /// The tiers it went through, in order.
    trace: Vec<TraceStep>,
    /// What it costs, and how that was found.
    cost: CostWorking,
    /// What the application may have at once, in tokens.
    limit: u64,
    /// What it had left.
    remaining: u64,
    /// When to come back, in milliseconds; none if waiting does not help.
    retry_after_ms: Option<u64>,
    /// How long until it has its limit again, in milliseconds.
    reset_after_ms: u64,
    /// The version of the policy that was applied.
    policy_version: u64,
}

/// Whether a request passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum VerdictName {
    /// It did.
    Allowed,
    /// It did not.
    Refused,
    /// It did, but only because the application is in shadow mode.
    Shadowed,
}

/// What one tier did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
struct TraceStep {
    /// Which tier.
    tier: String,
    /// What came of it: `granted`, `passed_on` or `refused`.
    outcome: String,
}

/// What a request costs, and how that was found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
struct CostWorking {
    /// Tokens in all.
    total: u64,
    /// The operation.
    operation: String,
    /// Tokens for the operation.
    base: u64,
    /// Tokens for the bandwidth.
    bandwidth: u64,
    /// Units of bandwidth.
    units: u64,
    /// Bytes.
    bytes: u64,
}

/// Decisions that were kept.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct Decisions {
    /// The latest first.
    data: Vec<Decision>,
}

/// Which decisions to list.
#[derive(Clone, Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct ListDecisions {
    /// Only those of this application.
    app_id: Option<String>,
    /// Only those that went like this.
    #[param(inline)]
    verdict: Option<VerdictName>,
    /// Only those for this reason.
    reason: Option<String>,
    /// The most to list.
    #[param(minimum = 1, maximum = 1000, default = 100)]
    limit: Option<u32>,
}

/// Lists the last decisions of this node: refusals, and a sample of what passed.
#[utoipa::path(get, path = "/api/v1/decisions", tag = "decisions", params(ListDecisions),
    extensions(("x-required-role" = json!("viewer"))),
    responses((status = 200, description = "the latest first", body = Decisions)))]
pub(crate) async fn list(
    State(admin): State<Shared>,
    _: Viewer,
    Params(params): Params<ListDecisions>,
) -> Result<Json<Decisions>, Problem> {
    let Paging { limit, .. } = Paging::new(None, params.limit.or(Some(100)))?;
    let decisions = admin.plane.latest(usize::MAX).into_iter().map(|record| Decision::from(&record));
    let wanted = decisions.filter(|decision| {
        params.app_id.as_ref().is_none_or(|app| *app == decision.app_id)
            && params.verdict.is_none_or(|verdict| verdict == decision.verdict)
            && params.reason.as_ref().is_none_or(|reason| decision.reason.as_ref() == Some(reason))
    });
    Ok(Json(Decisions { data: wanted.take(limit as usize).collect() }))
}

/// Explains a decision by its name, which the response to the request had. If this node has no record of it, the nodes that
/// share its ledger are asked, for a second or so.
#[utoipa::path(get, path = "/api/v1/decisions/{id}", tag = "decisions", params(("id" = String, Path,)),
    extensions(("x-required-role" = json!("viewer"))),
    responses((status = 200, description = "the decision, whichever node made it", body = Decision)))]
pub(crate) async fn explain(
    State(admin): State<Shared>,
    _: Viewer,
    Segment(id): Segment<String>,
) -> Result<Json<Decision>, Problem> {
    let name: DecisionId =
        id.parse().map_err(|error: tollgate_node::NotADecision| Problem::malformed(error.to_string()))?;
    Ok(Json(Decision::from(&admin.plane.explain(name).await?)))
}

impl From<Unexplained> for Problem {
    fn from(why: Unexplained) -> Self {
        let problem = match why {
            Unexplained::Unknown { .. } => Self::nothing_there(),
            Unexplained::Busy => Self::too_many(None),
            Unexplained::Unasked(_) => Self::unavailable(""),
        };
        problem.detail(why.to_string())
    }
}

impl From<(Tier, Step)> for TraceStep {
    fn from((tier, step): (Tier, Step)) -> Self {
        Self { tier: tier.name().into(), outcome: step.name().into() }
    }
}

impl From<&Record> for Decision {
    fn from(record: &Record) -> Self {
        let decision = &record.decision;
        let price = &decision.price;
        Self {
            id: record.id.to_string(),
            timestamp: record.at.get(),
            app_id: record.app.clone(),
            verdict: match decision.verdict {
                Verdict::Allowed => VerdictName::Allowed,
                Verdict::Refused(_) => VerdictName::Refused,
                Verdict::Shadowed(_) => VerdictName::Shadowed,
            },
            reason: decision.verdict.reason().map(|reason| reason.code().to_owned()),
            tier: decision.tier.name().into(),
            trace: decision.trace().map(TraceStep::from).collect(),
            cost: CostWorking {
                total: price.cost(),
                operation: price.operation.name().into(),
                base: price.base,
                bandwidth: price.bandwidth,
                units: price.units,
                bytes: price.bytes,
            },
            limit: decision.limit.floor(),
            remaining: decision.remaining.floor(),
            retry_after_ms: decision.retry_after.map(Millis::get),
            reset_after_ms: decision.reset_after.get(),
            policy_version: decision.policy_version,
        }
    }
}
