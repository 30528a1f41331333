//! The WebSocket: what happens, as it happens.

use super::page::Params;
use crate::auth::Viewer;
use crate::clock;
use crate::event::{Event, EventKind};
use crate::problem::Problem;
use crate::server::origin;
use crate::state::{Admin, Shared};
use crate::ticket::LIFETIME_MS;
use axum::Json;
use axum::extract::ws::{CloseFrame, Message, WebSocket, WebSocketUpgrade, close_code};
use axum::extract::{FromRequestParts, Request, State};
use axum::response::Response;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::sync::broadcast::error::RecvError;
use utoipa::{IntoParams, ToSchema};

/// How many may watch at the same time.
const MAX_WATCHERS: usize = 500;

/// How long a message may take to be taken: whoever reads slower is dropped, not buffered for.
const PATIENCE: Duration = Duration::from_secs(5);

/// The most bytes of what a watcher says.
const MAX_MESSAGE: usize = 4_096;

static WATCHERS: AtomicUsize = AtomicUsize::new(0);

/// A ticket for the WebSocket.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct Ticket {
    /// What to connect with, once: `/api/v1/ws?ticket=...`.
    ticket: String,
    /// For how many seconds it is good.
    expires_in: i64,
}

/// The ticket to connect with.
#[derive(Clone, Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct Connect {
    /// The ticket, which is good once.
    ticket: Option<String>,
}

/// What a watcher wants to hear. Said again, it replaces what was said before.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Subscription {
    /// Which events; all but refusals unless it is said.
    subscribe: Option<Vec<String>>,
    /// Only refusals of this application.
    app_id: Option<String>,
    /// Only refusals for this reason.
    reason: Option<String>,
}

/// Gives a ticket for the WebSocket.
#[utoipa::path(post, path = "/api/v1/ws/ticket", tag = "live", extensions(("x-required-role" = json!("viewer"))),
    responses((status = 201, description = "a ticket that is good once", body = Ticket)))]
pub(crate) async fn ticket(
    State(admin): State<Shared>,
    Viewer(caller): Viewer,
) -> Result<(http::StatusCode, Json<Ticket>), Problem> {
    let ticket = admin.tickets.issue(&caller.name, caller.role, clock::wall());
    let ticket = ticket.ok_or_else(|| Problem::too_many(None))?;
    Ok((http::StatusCode::CREATED, Json(Ticket { ticket, expires_in: LIFETIME_MS / 1_000 })))
}

/// Opens the WebSocket. Events come as `{"type", "data", "timestamp"}`; see the description of the API.
#[utoipa::path(get, path = "/api/v1/ws", tag = "live", params(Connect), security(()),
    responses((status = 101, description = "events follow", content_type = "text/plain", body = String),
              (status = 426, description = "not a WebSocket", content_type = "application/problem+json", body = Problem)))]
pub(crate) async fn connect(
    State(admin): State<Shared>,
    Params(connect): Params<Connect>,
    request: Request,
) -> Result<Response, Problem> {
    let (mut parts, _) = request.into_parts();
    origin::check(&admin, &parts.headers)?;
    let holder = connect.ticket.and_then(|ticket| admin.tickets.redeem(&ticket, clock::wall()));
    let holder =
        holder.ok_or_else(|| Problem::unauthorized("the ticket is missing, was used or has expired"))?;
    let upgrade = WebSocketUpgrade::from_request_parts(&mut parts, &()).await.map_err(|_| {
        let status = http::StatusCode::UPGRADE_REQUIRED;
        Problem::new(status, "upgrade_required", "this is a WebSocket").detail("expected Upgrade: websocket")
    })?;
    let seat = Seat::take().ok_or_else(|| Problem::too_many(None))?;
    tracing::debug!(user = holder.name, "somebody watches");
    Ok(upgrade.max_message_size(MAX_MESSAGE).on_upgrade(move |socket| watch(admin, socket, seat)))
}

/// One of the watchers there may be.
struct Seat;

impl Seat {
    fn take() -> Option<Self> {
        let taken = WATCHERS.fetch_add(1, Ordering::Relaxed);
        let seat = Self;
        (taken < MAX_WATCHERS).then_some(seat)
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        WATCHERS.fetch_sub(1, Ordering::Relaxed);
    }
}

/// What a watcher hears.
struct Filter {
    kinds: Vec<EventKind>,
    app: Option<String>,
    reason: Option<String>,
}

const KINDS: [(&str, EventKind); 5] = [
    ("metrics", EventKind::Metrics),
    ("alert", EventKind::Alert),
    ("config_change", EventKind::ConfigChange),
    ("emergency", EventKind::Emergency),
    ("refusals", EventKind::Refusals),
];

impl Default for Filter {
    fn default() -> Self {
        Self { kinds: KINDS[..4].iter().map(|(_, kind)| *kind).collect(), app: None, reason: None }
    }
}

impl Filter {
    fn follow(&mut self, said: Subscription) -> Result<(), String> {
        if let Some(names) = said.subscribe {
            let find = |name: &String| {
                let found = KINDS.iter().find(|(known, _)| known == name);
                found.map(|(_, kind)| *kind).ok_or_else(|| format!("unknown kind of event {name:?}"))
            };
            self.kinds = names.iter().take(KINDS.len()).map(find).collect::<Result<_, _>>()?;
        }
        (self.app, self.reason) = (said.app_id, said.reason);
        Ok(())
    }

    /// The event as this watcher hears it, if it does.
    fn pass(&self, event: &Event) -> Option<String> {
        if !self.kinds.contains(&event.kind) {
            return None;
        }
        if event.kind == EventKind::Refusals && (self.app.is_some() || self.reason.is_some()) {
            let is = |value: &Value, wanted: &Option<String>| {
                wanted.as_deref().is_none_or(|wanted| *value == *wanted)
            };
            let wanted =
                |refusal: &&Value| is(&refusal["app_id"], &self.app) && is(&refusal["reason"], &self.reason);
            let all = event.data.as_array().into_iter().flatten();
            let kept: Vec<Value> = all.filter(wanted).cloned().collect();
            let event = Event { data: Value::Array(kept), ..event.clone() };
            return (event.data != json!([])).then(|| serde_json::to_string(&event).unwrap_or_default());
        }
        serde_json::to_string(event).ok()
    }
}

async fn watch(admin: Shared, mut socket: WebSocket, _seat: Seat) {
    let mut events = admin.hub.watch();
    let mut filter = Filter::default();
    loop {
        tokio::select! {
            event = events.recv() => match event {
                Ok(event) => {
                    let Some(text) = filter.pass(&event) else { continue };
                    if !send(&mut socket, Message::Text(text.into())).await {
                        return;
                    }
                }
                Err(RecvError::Lagged(_)) => return close(socket, close_code::AGAIN, "too slow").await,
                Err(RecvError::Closed) => return close(socket, close_code::AWAY, "the server stops").await,
            },
            said = socket.recv() => match said {
                Some(Ok(Message::Text(text))) => {
                    if let Err(why) = hear(&mut filter, &text) {
                        return close(socket, close_code::POLICY, &why).await;
                    }
                    tell_now(&admin, &mut socket).await;
                }
                Some(Ok(Message::Ping(_) | Message::Pong(_))) => {}
                Some(Ok(Message::Binary(_))) => return close(socket, close_code::UNSUPPORTED, "expected text").await,
                Some(Ok(Message::Close(_)) | Err(_)) | None => return,
            },
        }
    }
}

fn hear(filter: &mut Filter, text: &str) -> Result<(), String> {
    let said: Subscription = serde_json::from_str(text).map_err(|error| error.to_string())?;
    filter.follow(said)
}

/// Whoever subscribes hears at once how things stand.
async fn tell_now(admin: &Admin, socket: &mut WebSocket) {
    let live = admin.live();
    let event =
        Event { kind: EventKind::Metrics, data: crate::sampler::message(&live, true), timestamp: live.at };
    if let Ok(text) = serde_json::to_string(&event) {
        send(socket, Message::Text(text.into())).await;
    }
}

async fn send(socket: &mut WebSocket, message: Message) -> bool {
    matches!(tokio::time::timeout(PATIENCE, socket.send(message)).await, Ok(Ok(())))
}

async fn close(mut socket: WebSocket, code: u16, reason: &str) {
    // A reason has at most 123 bytes.
    let reason: String = reason.chars().take(100).filter(char::is_ascii).collect();
    send(&mut socket, Message::Close(Some(CloseFrame { code, reason: reason.into() }))).await;
}
