//! How things stand and how they went: numbers for people, not for Prometheus.

mod shapes;

pub(crate) use shapes::{
    AppMetrics, AppPoint, ConnectionMetrics, ConnectionPoint, ConnectionSummary, DashboardAlert,
    DashboardData, DashboardMetrics, L2Stats, LedgerStatus, Look, Metrics, OperationShare, Overview,
    RatePoint, RedisHealth, TierTokens, TokenAvailability, TokenPoint, TopApp,
};

use super::apps::{Health, existing};
use super::page::{Params, Segment};
use crate::auth::Viewer;
use crate::history::{Point, Range, Series, cost_of, of_all, of_app, requests_of};
use crate::live::Live;
use crate::problem::Problem;
use crate::prometheus::{self, Step};
use crate::state::{Admin, Shared};
use axum::Json;
use axum::extract::State;
use std::collections::BTreeMap;
use tollgate_core::cost::Operation;
use tollgate_core::degrade::Level;
use tollgate_ledger::protocol::ClusterView;

/// How many of the busiest applications are told of.
const TOP: usize = 10;

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
