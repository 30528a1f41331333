//! What is told about how things stand and went.

use crate::api::apps::{Activity, Health};
use crate::history::Range;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use utoipa::{IntoParams, ToSchema};

/// How things went on this node, and how the ledger stands.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct Metrics {
    /// When, in milliseconds since 1970.
    pub(super) timestamp: i64,
    /// Seconds of a point.
    pub(super) step: u32,
    /// Headroom for anybody, in tokens, over all clusters.
    pub(super) l1_available: u64,
    /// The buckets of all applications.
    pub(super) l2_stats: L2Stats,
    /// The share of requests that this node decided by itself, in this range.
    pub(super) l3_cache_hit_ratio: f64,
    /// Requests, cost and refusals over time.
    pub(super) request_rate: Vec<RatePoint>,
    /// Tokens of each tier over time.
    pub(super) tokens: Vec<TokenPoint>,
    /// What requests cost, by operation, in this range.
    pub(super) cost_distribution: Vec<OperationShare>,
    /// Connections of this node.
    pub(super) connection_stats: ConnectionSummary,
    /// Whether any cluster is in emergency mode.
    pub(super) emergency_mode: bool,
    /// What half of this node's calls to the ledger of the last minutes stayed under, in milliseconds.
    pub(super) redis_latency: f64,
}

/// The buckets of all applications.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
pub(crate) struct L2Stats {
    /// How many applications there are.
    pub(super) apps: u64,
    /// Tokens in their buckets.
    pub(super) tokens: u64,
    /// The most that there may be.
    pub(super) burst: u64,
    /// Tokens out on lease to nodes.
    pub(super) leased: u64,
    /// What they owe.
    pub(super) debt: u64,
}

/// What happened in one step.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
pub(crate) struct RatePoint {
    /// Since when, in milliseconds since 1970.
    pub(super) timestamp: i64,
    /// Requests that passed, per second.
    pub(super) requests: f64,
    /// What they cost, in tokens per second.
    pub(super) cost: f64,
    /// Requests that were refused, per second.
    pub(super) refused: f64,
}

/// Tokens of each tier.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
pub(crate) struct TokenPoint {
    /// Since when, in milliseconds since 1970.
    pub(super) timestamp: i64,
    /// Headroom for anybody.
    pub(super) l1: f64,
    /// In the buckets of applications.
    pub(super) l2: f64,
    /// Held by this node.
    pub(super) l3: f64,
    /// The share of the capacity that was granted.
    pub(super) usage: f64,
}

/// What was spent on one operation.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct OperationShare {
    /// Which operation.
    pub(super) operation: String,
    /// How many requests.
    pub(super) requests: f64,
    /// What they cost, in tokens.
    pub(super) cost: f64,
}

/// Connections of this node.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
pub(crate) struct ConnectionSummary {
    /// Open now.
    pub(super) active: u64,
    /// The most that were open at once.
    pub(super) peak: u64,
    /// Refused in the last hour.
    pub(super) rejected_1h: u64,
    /// Never released by their holder, in the last hour.
    pub(super) leaked_1h: u64,
}

/// What the first page of a console shows.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct DashboardData {
    /// The numbers on top.
    pub(super) overview: Overview,
    /// How things went.
    pub(super) metrics: DashboardMetrics,
    /// The busiest applications of the last hour.
    pub(super) top_apps: Vec<TopApp>,
    /// Alerts that are open, the latest first.
    pub(super) alerts: Vec<DashboardAlert>,
    /// How the ledger is doing.
    pub(super) redis_health: RedisHealth,
}

/// The numbers on top.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
pub(crate) struct Overview {
    /// Applications in all.
    pub(super) total_apps: u64,
    /// Applications that did something in the last hour.
    pub(super) active_apps: u64,
    /// Requests that passed in the last hour, on this node.
    pub(super) total_requests_1h: u64,
    /// What they cost, in tokens.
    pub(super) total_cost_1h: u64,
    /// Requests that were refused in the last hour, on this node.
    pub(super) total_refused_1h: u64,
    /// Headroom for anybody, as a share of the capacity.
    pub(super) l1_available_ratio: f64,
    /// Whether any cluster is in emergency mode.
    pub(super) emergency_mode: bool,
    /// What happened in the last second.
    pub(super) now: Activity,
}

/// How things went.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct DashboardMetrics {
    /// Seconds of a point.
    pub(super) step: u32,
    /// Requests, cost and refusals over time.
    pub(super) request_rate: Vec<RatePoint>,
    /// What requests cost, by operation, in this range.
    pub(super) cost_distribution: Vec<OperationShare>,
    /// What each tier has.
    pub(super) token_availability: TokenAvailability,
    /// Connections of this node.
    pub(super) connection_stats: ConnectionSummary,
}

/// What each tier has.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
pub(crate) struct TokenAvailability {
    /// Headroom for anybody, as a share of the capacity.
    pub(super) l1: f64,
    /// How full the buckets of applications are, taken together.
    pub(super) l2_avg: f64,
    /// The share of requests of the last hour that this node decided by itself.
    pub(super) l3_cache_hit: f64,
    /// The numbers behind them, in tokens.
    pub(super) tokens: TierTokens,
}

/// Tokens by tier.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
pub(crate) struct TierTokens {
    /// Headroom for anybody.
    pub(super) l1: u64,
    /// In the buckets of applications.
    pub(super) l2: u64,
    /// Out on lease to nodes.
    pub(super) leased: u64,
    /// Held by this node.
    pub(super) l3: u64,
}

/// A busy application.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct TopApp {
    /// Which application.
    pub(super) app_id: String,
    /// Requests that passed in the last hour.
    pub(super) requests_1h: u64,
    /// What they cost, in tokens.
    pub(super) cost_1h: u64,
    /// Requests that were refused in the last hour.
    pub(super) refused_1h: u64,
    /// Its connections on this node.
    pub(super) connections: u64,
    /// How it is doing.
    pub(super) status: Health,
}

/// An alert on the first page.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct DashboardAlert {
    /// Its name.
    pub(super) id: String,
    /// `info`, `warning` or `critical`.
    pub(super) severity: String,
    /// What is the matter.
    pub(super) message: String,
    /// When it was raised, in milliseconds since 1970.
    pub(super) timestamp: i64,
    /// Whether somebody has seen it.
    pub(super) acknowledged: bool,
}

/// How the ledger is doing.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
pub(crate) struct RedisHealth {
    /// In a word.
    pub(super) status: LedgerStatus,
    /// What half of this node's calls of the last five to ten minutes stayed under, in milliseconds: every call counts, those
    /// too that failed, in steps of some 1.6 times the one before.
    pub(super) latency_p50: f64,
    /// What 95 of 100 stayed under.
    pub(super) latency_p95: f64,
    /// What 99 of 100 stayed under.
    pub(super) latency_p99: f64,
    /// The share of the last second in which a call was under way. There is no pool: a node has one line to each ledger, with
    /// one call at a time on it; of several lines this is the busiest.
    pub(super) connection_pool_usage: f64,
}

/// How a ledger is doing, in a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum LedgerStatus {
    /// Answers as it should.
    Healthy,
    /// Answers slowly.
    Degraded,
    /// Does not answer.
    Down,
}

/// How an application went, on this node.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct AppMetrics {
    /// Which application.
    pub(super) app_id: String,
    /// When, in milliseconds since 1970.
    pub(super) timestamp: i64,
    /// Seconds of a point.
    pub(super) step: u32,
    /// What happened in the last second.
    pub(super) now: Activity,
    /// Its points, the earliest first.
    pub(super) points: Vec<AppPoint>,
    /// Refusals since the node started, by reason.
    pub(super) refused_by_reason: BTreeMap<String, u64>,
}

/// What happened to an application in one step.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
pub(crate) struct AppPoint {
    /// Since when, in milliseconds since 1970.
    pub(super) timestamp: i64,
    /// Requests that passed, per second.
    pub(super) requests: f64,
    /// What they cost, in tokens per second.
    pub(super) cost: f64,
    /// Requests that were refused, per second.
    pub(super) refused: f64,
    /// What they would have cost, in tokens per second.
    pub(super) refused_cost: f64,
    /// In its bucket, in tokens.
    pub(super) tokens: f64,
    /// Held by this node.
    pub(super) held: f64,
    /// Its connections on this node.
    pub(super) connections: f64,
}

/// How connections went, on this node.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct ConnectionMetrics {
    /// When, in milliseconds since 1970.
    pub(super) timestamp: i64,
    /// Seconds of a point.
    pub(super) step: u32,
    /// How they stand.
    pub(super) now: ConnectionSummary,
    /// The points, the earliest first.
    pub(super) points: Vec<ConnectionPoint>,
}

/// Connections in one step.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
pub(crate) struct ConnectionPoint {
    /// Since when, in milliseconds since 1970.
    pub(super) timestamp: i64,
    /// Open at its end.
    pub(super) active: f64,
    /// Refused in it.
    pub(super) rejected: f64,
    /// Never released by their holder, in it.
    pub(super) leaked: f64,
}

/// How far back to look.
#[derive(Clone, Copy, Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct Look {
    /// How far back to look.
    #[param(inline)]
    pub(super) range: Option<Range>,
}
