//! Connections.

use super::apps::existing;
use super::etag::{IfMatch, etag};
use super::list::{Asked, Entry, ListParams};
use super::page::{Listed, PageParams, Paging, Params, Segment};
use crate::auth::{Caller, Operator, Viewer};
use crate::clock;
use crate::form::Form;
use crate::live::sum;
use crate::policy::{Found, Terms, document};
use crate::problem::{FieldError, Problem};
use crate::state::{Admin, Shared};
use axum::Json;
use axum::extract::State;
use axum::response::IntoResponse;
use http::HeaderMap;
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;
use tollgate_core::id::AppId;
use tollgate_core::units::Nanos;
use tollgate_ledger::connection::{Counts, MAX_EVENTS};
use tollgate_node::connection::ConnectionInfo;
use utoipa::{IntoParams, ToSchema};

/// An open connection of this node.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct Connection {
    /// Its number on this node.
    id: u64,
    /// Its application.
    app_id: String,
    /// Its cluster.
    cluster: String,
    /// Where it comes from.
    client_ip: String,
    /// When it was opened, in milliseconds since 1970.
    created_at: i64,
    /// When it was last seen.
    last_seen: i64,
    /// What became of it.
    status: String,
}

/// Connections counted.
#[derive(Clone, Copy, Debug, Default, Serialize, ToSchema)]
pub(crate) struct ConnectionCounts {
    /// Open now, on a slot.
    active: u64,
    /// Slots that are held.
    held: u64,
    /// Open now without a slot, since the ledger could not be asked.
    untracked: u64,
    /// The most that were open at once.
    peak: u64,
    /// Opened so far.
    opened: u64,
    /// Refused so far.
    rejected: u64,
    /// Never released by their holder, so far.
    leaked: u64,
}

impl From<Counts> for ConnectionCounts {
    fn from(counts: Counts) -> Self {
        let Counts { open, held, untracked, peak, opened, rejected, leaked } = counts;
        Self { active: open, held, untracked, peak, opened, rejected, leaked }
    }
}

/// Connections of all nodes, as they last told.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct ConnectionStats {
    /// Over all nodes.
    totals: ConnectionCounts,
    /// Node by node.
    nodes: Vec<NodeConnections>,
    /// Application by application, with their limits.
    apps: Vec<AppConnections>,
}

/// Connections of one node.
#[derive(Clone, Debug, Serialize, ToSchema)]
struct NodeConnections {
    /// Which node.
    node: String,
    /// Of which cluster.
    cluster: String,
    /// When it told, in milliseconds since 1970.
    timestamp: u64,
    /// Over all its applications.
    totals: ConnectionCounts,
}

/// Connections of one application.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct AppConnections {
    /// Which application.
    app_id: String,
    /// How many it may have at any time.
    max_connections: u32,
    /// How many while the cluster has room.
    burst_connections: u32,
    /// Over all nodes.
    counts: ConnectionCounts,
}

/// How many connections an application may have.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "describes what is read field by field")]
pub(crate) struct ConnectionLimits {
    /// At any time.
    #[schema(minimum = 1, maximum = 4_294_967_295u64)]
    max_connections: u64,
    /// While the cluster has room; at least as many, and as many if it is left out.
    #[schema(minimum = 1, maximum = 4_294_967_295u64)]
    burst_connections: Option<u64>,
    /// Why it is changed, for those who read it later.
    #[schema(max_length = 1_000)]
    reason: Option<String>,
}

/// Something that happened to connections.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct ConnectionEvent {
    /// When, in milliseconds since 1970.
    timestamp: u64,
    /// On which node.
    node: String,
    /// What.
    kind: String,
    /// How often.
    count: u64,
    /// From where, if it was one client.
    client_ip: Option<String>,
}

/// Which events to list, and how.
#[derive(Clone, Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct ListEvents {
    /// Only those of this node.
    node: Option<String>,
    /// What to sort by.
    #[param(inline)]
    sort: Option<SortEvents>,
}

/// What events are sorted by.
#[derive(Clone, Copy, Debug, Default, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum SortEvents {
    /// When they happened.
    #[default]
    Timestamp,
    /// What happened.
    Kind,
    /// How often.
    Count,
}

impl Entry for ConnectionEvent {
    type Sort = SortEvents;

    fn name(&self) -> &str {
        &self.kind
    }

    fn compare(&self, other: &Self, by: SortEvents) -> Ordering {
        match by {
            SortEvents::Timestamp => self.timestamp.cmp(&other.timestamp),
            SortEvents::Kind => self.kind.cmp(&other.kind),
            SortEvents::Count => self.count.cmp(&other.count),
        }
    }

    fn is_time(by: SortEvents) -> bool {
        matches!(by, SortEvents::Timestamp)
    }
}

/// Which connections to list.
#[derive(Clone, Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct ListConnections {
    /// Only those of this application.
    app_id: Option<String>,
}

/// Lists the open connections of this node.
#[utoipa::path(get, path = "/api/v1/connections", tag = "connections", params(PageParams, ListConnections),
    extensions(("x-required-role" = json!("viewer"))),
    responses((status = 200, description = "a page of connections", body = Listed<Connection>)))]
pub(crate) async fn list(
    State(admin): State<Shared>,
    _: Viewer,
    paging: Paging,
    Params(params): Params<ListConnections>,
) -> Result<Json<Listed<Connection>>, Problem> {
    let app = params.app_id.as_deref().map(AppId::new).transpose();
    let app = app.map_err(|error| {
        Problem::invalid(vec![FieldError::new(
            "app_id",
            "bad_id",
            error.to_string(),
            "1 to 128 of A-Z a-z 0-9 _ -",
        )])
    })?;
    let (mut total, mut data) = (0, Vec::new());
    let (mut skip, limit) = (usize::try_from(paging.skip()).unwrap_or(usize::MAX), paging.limit as usize);
    let (now, wall) = (admin.plane.now(), clock::wall());
    for cluster in admin.clusters() {
        let Some(connections) = admin.plane.connections(&cluster) else { continue };
        let count = connections.list(app.as_ref(), 0, 1).total;
        total += count;
        // Whole pages are skipped by the table, the rest here.
        let want = limit - data.len();
        if want > 0 && skip < count {
            let first = skip / limit;
            for page in first..=first + 1 {
                let listed = connections.list(app.as_ref(), page, limit).connections;
                let before = if page == first { skip % limit } else { 0 };
                let room = limit - data.len();
                data.extend(listed.iter().skip(before).take(room).map(|info| shown(info, now, wall)));
            }
        }
        skip = skip.saturating_sub(count);
    }
    Ok(Json(Listed { data, total: total as u64, page: paging.page, limit: paging.limit }))
}

/// Counts the connections of all nodes.
#[utoipa::path(get, path = "/api/v1/connections/stats", tag = "connections",
    extensions(("x-required-role" = json!("viewer"))),
    responses((status = 200, description = "as the nodes last told", body = ConnectionStats)))]
pub(crate) async fn stats(State(admin): State<Shared>, _: Viewer) -> Result<Json<ConnectionStats>, Problem> {
    stats_of(&admin).await.map(Json)
}

/// Changes how many connections an application may have. A change that is scheduled for it stays scheduled: with these limits
/// if it left them as they were, and with its own if it did not.
#[utoipa::path(put, path = "/api/v1/connections/{app_id}", tag = "connections", request_body = ConnectionLimits,
    params(("app_id" = String, Path,), ("If-Match" = Option<String>, Header,)),
    extensions(("x-required-role" = json!("operator"))),
    responses((status = 200, description = "they are in force", body = AppConnections, headers(("ETag" = String)))))]
pub(crate) async fn put(
    State(admin): State<Shared>,
    Operator(caller): Operator,
    Segment(name): Segment<String>,
    headers: HeaderMap,
    mut form: Form,
) -> Result<impl IntoResponse, Problem> {
    let bounds = 1..=i64::from(u32::MAX);
    let max = form.whole("max_connections", bounds.clone());
    if max.is_none() {
        form.missing("max_connections", "a whole number from 1 to 4294967295");
    }
    let burst = form.whole("burst_connections", bounds).or(max);
    let reason = form.optional_text("reason", 0..=1_000).unwrap_or_default();
    if burst < max {
        form.fault(FieldError::new(
            "burst_connections",
            "conflict",
            "less than max_connections",
            "at least as many",
        ));
    }
    form.finish()?;
    let _turn = admin.changing.lock().await;
    let before = existing(&admin, &name).await?;
    IfMatch::read(&headers)?.check(Some(&before.etag()))?;
    let mut app = before.app.clone();
    let number = |value: Option<i64>| value.and_then(|value| u32::try_from(value).ok()).unwrap_or(u32::MAX);
    (app.connections.max, app.connections.burst) = (number(max), number(burst));
    if app != before.app {
        let terms = Terms { replaces: Some(before.version()), ..Terms::now("update", &reason) };
        let change = admin.put_app(&before.id, &app, Some(&before), &terms).await?;
        admin.publish(&caller, &[change], &terms).await?;
        schedule_again(&admin, &caller, &before, &reason).await?;
    }
    let found = existing(&admin, &name).await?;
    let counts =
        stats_of(&admin).await?.apps.into_iter().find(|app| app.app_id == name).map(|app| app.counts);
    let shown = AppConnections {
        app_id: name,
        max_connections: found.app.connections.max,
        burst_connections: found.app.connections.burst,
        counts: counts.unwrap_or_default(),
    };
    Ok((etag(&found.etag()), Json(shown)))
}

/// Lists what last happened to the connections of an application: at most a thousand events; `search` looks at their kinds.
#[utoipa::path(get, path = "/api/v1/connections/{app_id}/events", tag = "connections",
    params(("app_id" = String, Path,), PageParams, ListParams, ListEvents), extensions(("x-required-role" = json!("viewer"))),
    responses((status = 200, description = "a page of events", body = Listed<ConnectionEvent>)))]
pub(crate) async fn events(
    State(admin): State<Shared>,
    _: Viewer,
    Segment(name): Segment<String>,
    asked: Asked,
    Params(params): Params<ListEvents>,
) -> Result<Json<Listed<ConnectionEvent>>, Problem> {
    let found = existing(&admin, &name).await?;
    let events = admin.plane.connection_events(&found.app.cluster, &found.id, MAX_EVENTS).await?;
    let events = events.into_iter().map(|event| ConnectionEvent {
        timestamp: event.at.get(),
        node: event.node.to_string(),
        kind: event.kind.code().into(),
        count: event.count,
        client_ip: event.client.map(|ip| ip.to_string()),
    });
    let wanted = events.filter(|event| params.node.as_ref().is_none_or(|node| *node == event.node));
    Ok(Json(asked.page(wanted, params.sort)))
}

/// Schedules what was scheduled for an application before its limits were set, which took it back.
async fn schedule_again(admin: &Admin, caller: &Caller, before: &Found, reason: &str) -> Result<(), Problem> {
    let Some(pending) = &before.view.pending else { return Ok(()) };
    let now = existing(admin, &before.id).await?;
    let mut app = document::from_ledger(&before.app.cluster, &pending.policy);
    if app.connections == before.app.connections {
        app.connections = now.app.connections;
    }
    let terms = Terms {
        replaces: Some(now.version()),
        effective_at: i64::try_from(pending.at.get()).ok(),
        carry: pending.carry,
        ..Terms::now("update", reason)
    };
    let change = admin.put_app(&before.id, &app, Some(&now), &terms).await.map_err(|problem| {
        let what = "the limits are in force, but what was scheduled does not fit any more and is taken back";
        Problem::conflict(format!("{what}: {problem}"))
    })?;
    admin.publish(caller, &[change], &terms).await?;
    Ok(())
}

async fn stats_of(admin: &Admin) -> Result<ConnectionStats, Problem> {
    let mut stats =
        ConnectionStats { totals: ConnectionCounts::default(), nodes: Vec::new(), apps: Vec::new() };
    let mut totals = Counts::default();
    let mut by_app = std::collections::BTreeMap::<AppId, Counts>::new();
    for cluster in admin.clusters() {
        for node in admin.plane.connection_stats(&cluster).await? {
            totals = sum(totals, node.totals);
            for (app, counts) in node.apps {
                let entry = by_app.entry(app).or_default();
                *entry = sum(*entry, counts);
            }
            stats.nodes.push(NodeConnections {
                node: node.node.to_string(),
                cluster: cluster.to_string(),
                timestamp: node.at.get(),
                totals: node.totals.into(),
            });
        }
    }
    stats.totals = totals.into();
    for app in admin.plane.apps() {
        let limits = app.terms().policy.connections;
        stats.apps.push(AppConnections {
            app_id: app.id().to_string(),
            max_connections: limits.max,
            burst_connections: limits.burst,
            counts: by_app.get(app.id()).copied().unwrap_or_default().into(),
        });
    }
    stats.apps.sort_by(|a, b| b.counts.active.cmp(&a.counts.active).then_with(|| a.app_id.cmp(&b.app_id)));
    Ok(stats)
}

/// The node counts time from its start; people by the calendar.
fn shown(info: &ConnectionInfo, now: Nanos, wall: i64) -> Connection {
    let dated = |at: Nanos| wall - i64::try_from(now.since(at).get() / 1_000_000).unwrap_or(i64::MAX);
    Connection {
        id: info.id.0,
        app_id: info.app.to_string(),
        cluster: info.cluster.to_string(),
        client_ip: info.client.to_string(),
        created_at: dated(info.opened_at),
        last_seen: dated(info.last_seen),
        status: info.status.name().into(),
    }
}
