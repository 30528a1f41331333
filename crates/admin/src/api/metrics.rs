//! How things stand and how they went: numbers for people, not for Prometheus.

use super::apps::{Activity, Health, existing};
use super::page::{Params, Segment};
use crate::auth::Viewer;
use crate::history::{Point, Range, Series, cost_of, of_all, of_app, requests_of};
use crate::live::Live;
use crate::problem::Problem;
use crate::prometheus::{self, Step};
use crate::state::{Admin, Shared};
use axum::Json;
use axum::extract::State;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use tollgate_core::cost::Operation;
use tollgate_core::degrade::Level;
use tollgate_ledger::protocol::ClusterView;
use utoipa::{IntoParams, ToSchema};

/// How many of the busiest applications are told of.
const TOP: usize = 10;

/// How things went on this node, and how the ledger stands.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct Metrics {
    /// When, in milliseconds since 1970.
    timestamp: i64,
    /// Seconds of a point.
    step: u32,
    /// Headroom for anybody, in tokens, over all clusters.
    l1_available: u64,
    /// The buckets of all applications.
    l2_stats: L2Stats,
    /// The share of requests that this node decided by itself, in this range.
    l3_cache_hit_ratio: f64,
    /// Requests, cost and refusals over time.
    request_rate: Vec<RatePoint>,
    /// Tokens of each tier over time.
    tokens: Vec<TokenPoint>,
    /// What requests cost, by operation, in this range.
    cost_distribution: Vec<OperationShare>,
    /// Connections of this node.
    connection_stats: ConnectionSummary,
    /// Whether any cluster is in emergency mode.
    emergency_mode: bool,
    /// What half of this node's calls to the ledger of the last minutes stayed under, in milliseconds.
    redis_latency: f64,
}

/// The buckets of all applications.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
pub(crate) struct L2Stats {
    /// How many applications there are.
    apps: u64,
    /// Tokens in their buckets.
    tokens: u64,
    /// The most that there may be.
    burst: u64,
    /// Tokens out on lease to nodes.
    leased: u64,
    /// What they owe.
    debt: u64,
}

/// What happened in one step.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
pub(crate) struct RatePoint {
    /// Since when, in milliseconds since 1970.
    timestamp: i64,
    /// Requests that passed, per second.
    requests: f64,
    /// What they cost, in tokens per second.
    cost: f64,
    /// Requests that were refused, per second.
    refused: f64,
}

/// Tokens of each tier.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
pub(crate) struct TokenPoint {
    /// Since when, in milliseconds since 1970.
    timestamp: i64,
    /// Headroom for anybody.
    l1: f64,
    /// In the buckets of applications.
    l2: f64,
    /// Held by this node.
    l3: f64,
    /// The share of the capacity that was granted.
    usage: f64,
}

/// What was spent on one operation.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct OperationShare {
    /// Which operation.
    operation: String,
    /// How many requests.
    requests: f64,
    /// What they cost, in tokens.
    cost: f64,
}

/// Connections of this node.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
pub(crate) struct ConnectionSummary {
    /// Open now.
    active: u64,
    /// The most that were open at once.
    peak: u64,
    /// Refused in the last hour.
    rejected_1h: u64,
    /// Never released by their holder, in the last hour.
    leaked_1h: u64,
}

/// What the first page of a console shows.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct DashboardData {
    /// The numbers on top.
    overview: Overview,
    /// How things went.
    metrics: DashboardMetrics,
    /// The busiest applications of the last hour.
    top_apps: Vec<TopApp>,
    /// Alerts that are open, the latest first.
    alerts: Vec<DashboardAlert>,
    /// How the ledger is doing.
    redis_health: RedisHealth,
}

/// The numbers on top.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
pub(crate) struct Overview {
    /// Applications in all.
    total_apps: u64,
    /// Applications that did something in the last hour.
    active_apps: u64,
    /// Requests that passed in the last hour, on this node.
    total_requests_1h: u64,
    /// What they cost, in tokens.
    total_cost_1h: u64,
    /// Requests that were refused in the last hour, on this node.
    total_refused_1h: u64,
    /// Headroom for anybody, as a share of the capacity.
    l1_available_ratio: f64,
    /// Whether any cluster is in emergency mode.
    emergency_mode: bool,
    /// What happened in the last second.
    now: Activity,
}

/// How things went.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct DashboardMetrics {
    /// Seconds of a point.
    step: u32,
    /// Requests, cost and refusals over time.
    request_rate: Vec<RatePoint>,
    /// What requests cost, by operation, in this range.
    cost_distribution: Vec<OperationShare>,
    /// What each tier has.
    token_availability: TokenAvailability,
    /// Connections of this node.
    connection_stats: ConnectionSummary,
}

/// What each tier has.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
pub(crate) struct TokenAvailability {
    /// Headroom for anybody, as a share of the capacity.
    l1: f64,
    /// How full the buckets of applications are, taken together.
    l2_avg: f64,
    /// The share of requests of the last hour that this node decided by itself.
    l3_cache_hit: f64,
    /// The numbers behind them, in tokens.
    tokens: TierTokens,
}

/// Tokens by tier.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
pub(crate) struct TierTokens {
    /// Headroom for anybody.
    l1: u64,
    /// In the buckets of applications.
    l2: u64,
    /// Out on lease to nodes.
    leased: u64,
    /// Held by this node.
    l3: u64,
}

/// A busy application.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct TopApp {
    /// Which application.
    app_id: String,
    /// Requests that passed in the last hour.
    requests_1h: u64,
    /// What they cost, in tokens.
    cost_1h: u64,
    /// Requests that were refused in the last hour.
    refused_1h: u64,
    /// Its connections on this node.
    connections: u64,
    /// How it is doing.
    status: Health,
}

/// An alert on the first page.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct DashboardAlert {
    /// Its name.
    id: String,
    /// `info`, `warning` or `critical`.
    severity: String,
    /// What is the matter.
    message: String,
    /// When it was raised, in milliseconds since 1970.
    timestamp: i64,
    /// Whether somebody has seen it.
    acknowledged: bool,
}

/// How the ledger is doing.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
pub(crate) struct RedisHealth {
    /// In a word.
    status: LedgerStatus,
    /// What half of this node's calls of the last five to ten minutes stayed under, in milliseconds: every call counts, those
    /// too that failed, in steps of some 1.6 times the one before.
    latency_p50: f64,
    /// What 95 of 100 stayed under.
    latency_p95: f64,
    /// What 99 of 100 stayed under.
    latency_p99: f64,
    /// The share of the last second in which a call was under way. There is no pool: a node has one line to each ledger, with
    /// one call at a time on it; of several lines this is the busiest.
    connection_pool_usage: f64,
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
    app_id: String,
    /// When, in milliseconds since 1970.
    timestamp: i64,
    /// Seconds of a point.
    step: u32,
    /// What happened in the last second.
    now: Activity,
    /// Its points, the earliest first.
    points: Vec<AppPoint>,
    /// Refusals since the node started, by reason.
    refused_by_reason: BTreeMap<String, u64>,
}

/// What happened to an application in one step.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
pub(crate) struct AppPoint {
    /// Since when, in milliseconds since 1970.
    timestamp: i64,
    /// Requests that passed, per second.
    requests: f64,
    /// What they cost, in tokens per second.
    cost: f64,
    /// Requests that were refused, per second.
    refused: f64,
    /// What they would have cost, in tokens per second.
    refused_cost: f64,
    /// In its bucket, in tokens.
    tokens: f64,
    /// Held by this node.
    held: f64,
    /// Its connections on this node.
    connections: f64,
}

/// How connections went, on this node.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct ConnectionMetrics {
    /// When, in milliseconds since 1970.
    timestamp: i64,
    /// Seconds of a point.
    step: u32,
    /// How they stand.
    now: ConnectionSummary,
    /// The points, the earliest first.
    points: Vec<ConnectionPoint>,
}

/// Connections in one step.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
pub(crate) struct ConnectionPoint {
    /// Since when, in milliseconds since 1970.
    timestamp: i64,
    /// Open at its end.
    active: f64,
    /// Refused in it.
    rejected: f64,
    /// Never released by their holder, in it.
    leaked: f64,
}

/// How far back to look.
#[derive(Clone, Copy, Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct Look {
    /// How far back to look.
    #[param(inline)]
    range: Option<Range>,
}

/// Tells how everything stands and went.
#[utoipa::path(get, path = "/api/v1/metrics", tag = "metrics", params(Look),
    extensions(("x-required-role" = json!("viewer"))),
    responses((status = 200, description = "everything", body = Metrics)))]
pub(crate) async fn overall(
    State(admin): State<Shared>,
    _: Viewer,
    Params(look): Params<Look>,
) -> Json<Metrics> {
    let (live, range) = (admin.live(), look.range.unwrap_or_default());
    let elsewhere = prometheus::steps(&admin, None, range).await;
    let recorder = admin.recorder();
    let series = recorder.overall();
    let points: Vec<Point<'_>> = points(series, range, live.at).collect();
    Json(Metrics {
        timestamp: live.at,
        step: range.step(),
        l1_available: live.clusters.values().map(|view| view.slack.floor()).sum(),
        l2_stats: l2(&live),
        l3_cache_hit_ratio: hit_ratio(&points),
        request_rate: elsewhere.map_or_else(|| rates(&points, range), |steps| rates_of(&steps)),
        tokens: points.iter().map(|point| token_point(point)).collect(),
        cost_distribution: distribution(&points),
        connection_stats: connections(series, &live),
        emergency_mode: is_emergency(&live),
        redis_latency: live.line.latency(50),
    })
}

/// Tells how an application stands and went.
#[utoipa::path(get, path = "/api/v1/metrics/apps/{app_id}", tag = "metrics", params(("app_id" = String, Path,), Look),
    extensions(("x-required-role" = json!("viewer"))),
    responses((status = 200, description = "the application", body = AppMetrics)))]
pub(crate) async fn of_application(
    State(admin): State<Shared>,
    _: Viewer,
    Segment(name): Segment<String>,
    Params(look): Params<Look>,
) -> Result<Json<AppMetrics>, Problem> {
    let found = existing(&admin, &name).await?;
    let (live, range) = (admin.live(), look.range.unwrap_or_default());
    let elsewhere = prometheus::steps(&admin, Some(&found.id), range).await;
    let counts = admin.plane.apps().iter().find(|app| *app.id() == found.id).map(|app| app.counts());
    let reasons = tollgate_core::reason::Reason::ALL.iter();
    let refused_by_reason = counts.into_iter().flat_map(|counts| {
        reasons
            .clone()
            .zip(counts.refused)
            .filter(|(_, count)| *count > 0)
            .map(|(reason, count)| (reason.code().to_owned(), count))
    });
    let recorder = admin.recorder();
    let points = recorder.app(&name).into_iter().flat_map(|series| points(series, range, live.at));
    let per_second = |value: f32| f64::from(value) / f64::from(range.step());
    let points = points.map(|point| AppPoint {
        timestamp: i64::from(point.at) * 1_000,
        requests: per_second(point.values[of_app::REQUESTS]),
        cost: per_second(point.values[of_app::COST]),
        refused: per_second(point.values[of_app::REFUSED]),
        refused_cost: per_second(point.values[of_app::REFUSED_COST]),
        tokens: point.values[of_app::RIGHTS].into(),
        held: point.values[of_app::HELD].into(),
        connections: point.values[of_app::CONNECTIONS].into(),
    });
    let points: Vec<AppPoint> = points.collect();
    let points = match elsewhere {
        Some(steps) => with_steps(points, &steps),
        None => points,
    };
    Ok(Json(AppMetrics {
        app_id: name.clone(),
        timestamp: live.at,
        step: range.step(),
        now: live.apps.get(&found.id).map(|app| app.flow.into()).unwrap_or_default(),
        points,
        refused_by_reason: refused_by_reason.collect(),
    }))
}

/// Tells how connections stand and went.
#[utoipa::path(get, path = "/api/v1/metrics/connections", tag = "metrics", params(Look),
    extensions(("x-required-role" = json!("viewer"))),
    responses((status = 200, description = "connections of this node", body = ConnectionMetrics)))]
pub(crate) async fn of_connections(
    State(admin): State<Shared>,
    _: Viewer,
    Params(look): Params<Look>,
) -> Json<ConnectionMetrics> {
    let (live, range) = (admin.live(), look.range.unwrap_or_default());
    let recorder = admin.recorder();
    let series = recorder.overall();
    let points = points(series, range, live.at).map(|point| ConnectionPoint {
        timestamp: i64::from(point.at) * 1_000,
        active: point.values[of_all::CONNECTIONS].into(),
        rejected: point.values[of_all::CONNECTIONS_REJECTED].into(),
        leaked: point.values[of_all::CONNECTIONS_LEAKED].into(),
    });
    let points = points.collect();
    Json(ConnectionMetrics {
        timestamp: live.at,
        step: range.step(),
        now: connections(series, &live),
        points,
    })
}

/// Tells what the first page of a console shows.
#[utoipa::path(get, path = "/api/v1/dashboard", tag = "metrics", params(Look),
    extensions(("x-required-role" = json!("viewer"))),
    responses((status = 200, description = "the first page", body = DashboardData)))]
pub(crate) async fn dashboard(
    State(admin): State<Shared>,
    _: Viewer,
    Params(look): Params<Look>,
) -> Result<Json<DashboardData>, Problem> {
    let alerts = admin.store.alerts("open", 0, 20).await?;
    let alerts = alerts.rows.into_iter().map(|row| DashboardAlert {
        id: row.id,
        severity: row.severity,
        message: row.message,
        timestamp: row.raised_at,
        acknowledged: row.acknowledged_at.is_some(),
    });
    let (live, range) = (admin.live(), look.range.unwrap_or_default());
    let top = top(&admin, &live);
    let elsewhere = prometheus::steps(&admin, None, range).await;
    let recorder = admin.recorder();
    let series = recorder.overall();
    let shown: Vec<Point<'_>> = points(series, range, live.at).collect();
    let hour: Vec<Point<'_>> = points(series, Range::Hour, live.at).collect();
    let l2 = l2(&live);
    Ok(Json(DashboardData {
        overview: Overview {
            total_apps: live.apps.len() as u64,
            active_apps: top.active,
            total_requests_1h: sum(&hour, of_all::REQUESTS),
            total_cost_1h: sum(&hour, of_all::COST),
            total_refused_1h: sum(&hour, of_all::REFUSED),
            l1_available_ratio: available(&live),
            emergency_mode: is_emergency(&live),
            now: live.flow.into(),
        },
        metrics: DashboardMetrics {
            step: range.step(),
            request_rate: elsewhere.map_or_else(|| rates(&shown, range), |steps| rates_of(&steps)),
            cost_distribution: distribution(&shown),
            token_availability: TokenAvailability {
                l1: available(&live),
                l2_avg: ratio(l2.tokens, l2.burst),
                l3_cache_hit: hit_ratio(&hour),
                tokens: TierTokens {
                    l1: live.clusters.values().map(|view| view.slack.floor()).sum(),
                    l2: l2.tokens,
                    leased: l2.leased,
                    l3: live.apps.values().map(|app| app.held).sum(),
                },
            },
            connection_stats: connections(series, &live),
        },
        top_apps: top.apps,
        alerts: alerts.collect(),
        redis_health: redis_health(&live),
    }))
}

fn rates_of(steps: &BTreeMap<i64, Step>) -> Vec<RatePoint> {
    let point = |(at, step): (&i64, &Step)| RatePoint {
        timestamp: at * 1_000,
        requests: step.requests,
        cost: step.cost,
        refused: step.refused,
    };
    steps.iter().map(point).collect()
}

/// What happened on all nodes, beside what this node knows of the tokens and connections of the time.
fn with_steps(own: Vec<AppPoint>, steps: &BTreeMap<i64, Step>) -> Vec<AppPoint> {
    let own: BTreeMap<i64, AppPoint> = own.into_iter().map(|point| (point.timestamp, point)).collect();
    let point = |(at, step): (&i64, &Step)| {
        let timestamp = at * 1_000;
        let known = own.get(&timestamp);
        AppPoint {
            timestamp,
            requests: step.requests,
            cost: step.cost,
            refused: step.refused,
            refused_cost: step.refused_cost,
            tokens: known.map_or(0.0, |point| point.tokens),
            held: known.map_or(0.0, |point| point.held),
            connections: known.map_or(0.0, |point| point.connections),
        }
    };
    steps.iter().map(point).collect()
}

struct Top {
    apps: Vec<TopApp>,
    active: u64,
}

/// The busiest applications of the last hour.
fn top(admin: &Admin, live: &Live) -> Top {
    let recorder = admin.recorder();
    let since = start(Range::Hour, live.at);
    let mut apps: Vec<TopApp> = Vec::new();
    for (id, app) in &live.apps {
        let Some(series) = recorder.app(id) else { continue };
        let hour = |value| rounded(series.sum(1, value, since));
        let (requests_1h, refused_1h) = (hour(of_app::REQUESTS), hour(of_app::REFUSED));
        if requests_1h + refused_1h == 0 {
            continue;
        }
        let status = match refused_1h {
            0 => Health::Normal,
            refused if refused > requests_1h => Health::Critical,
            _ => Health::Warning,
        };
        let (app_id, cost_1h, connections) = (id.to_string(), hour(of_app::COST), app.connections.open);
        apps.push(TopApp { app_id, requests_1h, cost_1h, refused_1h, connections, status });
    }
    let active = apps.len() as u64;
    apps.sort_by(|a, b| b.cost_1h.cmp(&a.cost_1h).then_with(|| b.refused_1h.cmp(&a.refused_1h)));
    apps.truncate(TOP);
    Top { apps, active }
}

pub(crate) fn redis_health(live: &Live) -> RedisHealth {
    let worst = live.standing.values().map(|standing| standing.level).max().unwrap_or_default();
    let status = match worst {
        Level::Normal => LedgerStatus::Healthy,
        Level::Mild | Level::Significant => LedgerStatus::Degraded,
        Level::FailOpen => LedgerStatus::Down,
    };
    RedisHealth {
        status,
        latency_p50: live.line.latency(50),
        latency_p95: live.line.latency(95),
        latency_p99: live.line.latency(99),
        connection_pool_usage: live.line.usage,
    }
}

fn l2(live: &Live) -> L2Stats {
    let views = || live.apps.values().filter_map(|app| app.view.as_deref());
    L2Stats {
        apps: live.apps.len() as u64,
        tokens: views().map(|view| view.account.rights.floor()).sum(),
        burst: views().map(|view| view.policy.policy.quota.burst.floor()).sum(),
        leased: views().map(|view| view.account.outstanding.floor()).sum(),
        debt: views().map(|view| view.account.loan.debt.ceil()).sum(),
    }
}

fn available(live: &Live) -> f64 {
    let sum = |part: fn(&ClusterView) -> u64| live.clusters.values().map(part).sum();
    ratio(sum(|view| view.slack.floor()), sum(|view| view.capacity.rate.floor()))
}

pub(crate) fn is_emergency(live: &Live) -> bool {
    live.clusters.values().any(|view| view.emergency.is_on())
}

fn connections(series: &Series, live: &Live) -> ConnectionSummary {
    let since = start(Range::Hour, live.at);
    ConnectionSummary {
        active: live.connections.open,
        peak: live.connections.peak,
        rejected_1h: rounded(series.sum(1, of_all::CONNECTIONS_REJECTED, since)),
        leaked_1h: rounded(series.sum(1, of_all::CONNECTIONS_LEAKED, since)),
    }
}

fn rates(points: &[Point<'_>], range: Range) -> Vec<RatePoint> {
    let per_second = |value: f32| f64::from(value) / f64::from(range.step());
    let rate = |point: &Point<'_>| RatePoint {
        timestamp: i64::from(point.at) * 1_000,
        requests: per_second(point.values[of_all::REQUESTS]),
        cost: per_second(point.values[of_all::COST]),
        refused: per_second(point.values[of_all::REFUSED]),
    };
    points.iter().map(rate).collect()
}

fn token_point(point: &Point<'_>) -> TokenPoint {
    TokenPoint {
        timestamp: i64::from(point.at) * 1_000,
        l1: point.values[of_all::SLACK].into(),
        l2: point.values[of_all::RIGHTS].into(),
        l3: point.values[of_all::HELD].into(),
        usage: point.values[of_all::USAGE].into(),
    }
}

fn distribution(points: &[Point<'_>]) -> Vec<OperationShare> {
    let add = |index: usize| points.iter().map(|point| f64::from(point.values[index])).sum::<f64>();
    let share = |operation: Operation| OperationShare {
        operation: operation.name().into(),
        requests: add(requests_of(operation)),
        cost: add(cost_of(operation)),
    };
    Operation::ALL.into_iter().map(share).filter(|share| share.requests > 0.0).collect()
}

fn hit_ratio(points: &[Point<'_>]) -> f64 {
    let (requests, refused) = (sum(points, of_all::REQUESTS), sum(points, of_all::REFUSED));
    let misses = sum(points, of_all::MISSES);
    1.0 - ratio(misses.min(requests + refused), requests + refused)
}

fn points(series: &Series, range: Range, now: i64) -> impl Iterator<Item = Point<'_>> {
    series.points(range.ring(), start(range, now))
}

fn start(range: Range, now: i64) -> u32 {
    u32::try_from(now / 1_000).unwrap_or(u32::MAX).saturating_sub(range.seconds())
}

fn sum(points: &[Point<'_>], value: usize) -> u64 {
    rounded(points.iter().map(|point| f64::from(point.values[value])).sum())
}

fn ratio(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "sums of counts are not negative"
)]
fn rounded(value: f64) -> u64 {
    value.round() as u64
}
