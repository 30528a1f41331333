//! The WebSocket: what happens, as it happens.

use super::page::Params;
use crate::auth::{Caller, Viewer};
use crate::clock;
use crate::event::{Event, EventKind, Tail};
use crate::problem::Problem;
use crate::server::origin;
use crate::state::Shared;
use crate::ticket::LIFETIME_MS;
use axum::Json;
use axum::extract::ws::{CloseFrame, Message, WebSocketUpgrade, close_code};
use axum::extract::{FromRequestParts, Request, State};
use axum::response::Response;
use futures_util::{Sink, SinkExt, Stream, StreamExt};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;
use tokio::time::{Instant, sleep_until};
use utoipa::{IntoParams, ToSchema};

/// How many may watch at the same time.
const MAX_WATCHERS: usize = 500;

/// How long a message may take to be taken: whoever reads slower is dropped, not buffered for.
const PATIENCE: Duration = Duration::from_secs(5);

/// How often it is looked whether a watcher would still be let in.
const LOOK_EVERY: Duration = Duration::from_secs(5);

/// How often a watcher is told how things stand for asking: the answer is long, and the question short.
const ANSWER_EVERY: Duration = Duration::from_secs(1);

/// The most refusals that one message tells of.
const MAX_REFUSALS: usize = 100;

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
    let ticket = admin.tickets.issue(caller, clock::wall());
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
    tracing::debug!(user = holder.caller.name, "somebody watches");
    let events = admin.hub.watch();
    // A message is looked at when all of it is there, a frame when its head is.
    let upgrade = upgrade.max_message_size(MAX_MESSAGE).max_frame_size(MAX_MESSAGE);
    Ok(upgrade.on_upgrade(async move |socket| {
        let _seat = seat;
        watch(Seen { admin, caller: holder.caller }, events, socket).await;
    }))
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
    /// Held while refusals are wanted.
    tail: Option<Tail>,
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
        Self {
            kinds: KINDS[..4].iter().map(|(_, kind)| *kind).collect(),
            app: None,
            reason: None,
            tail: None,
        }
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
        if event.kind == EventKind::Refusals {
            let is = |value: &Value, wanted: &Option<String>| {
                wanted.as_deref().is_none_or(|wanted| *value == *wanted)
            };
            let wanted =
                |refusal: &&Value| is(&refusal["app_id"], &self.app) && is(&refusal["reason"], &self.reason);
            let all = event.data.as_array().into_iter().flatten();
            let kept: Vec<Value> = all.filter(wanted).take(MAX_REFUSALS).cloned().collect();
            let event = Event { data: Value::Array(kept), ..event.clone() };
            return (event.data != json!([])).then(|| serde_json::to_string(&event).unwrap_or_default());
        }
        serde_json::to_string(event).ok()
    }
}

/// What a watcher needs to know.
trait World {
    /// How things stand.
    fn now(&self) -> Event;
    /// Whether the watcher would still be let in.
    async fn is_welcome(&self) -> bool;
    fn tail(&self) -> Tail;
}

/// The control plane, for somebody.
struct Seen {
    admin: Shared,
    caller: Caller,
}

impl World for Seen {
    fn now(&self) -> Event {
        let live = self.admin.live();
        Event { kind: EventKind::Metrics, data: crate::sampler::message(&live, true), timestamp: live.at }
    }

    async fn is_welcome(&self) -> bool {
        // A database that does not answer is no reason to turn anybody away.
        self.caller.kind.is_good(&self.admin).await.unwrap_or(true)
    }

    fn tail(&self) -> Tail {
        self.admin.hub.tail()
    }
}

type Heard = Result<Message, axum::Error>;

/// Tells a watcher what it wants to hear until one of the two is gone.
async fn watch<S>(world: impl World, mut events: broadcast::Receiver<Arc<Event>>, mut socket: S)
where
    S: Stream<Item = Heard> + Sink<Message> + Unpin,
{
    let mut filter = Filter::default();
    let mut look = tokio::time::interval(LOOK_EVERY);
    let (mut is_asked, mut answer_at) = (false, Instant::now());
    let end = loop {
        let text = tokio::select! {
            event = events.recv() => match event {
                Ok(event) => filter.pass(&event),
                Err(RecvError::Lagged(_)) => break Some((close_code::AGAIN, "too slow".to_owned())),
                Err(RecvError::Closed) => break Some((close_code::AWAY, "the server stops".to_owned())),
            },
            said = socket.next() => match said {
                Some(Ok(Message::Text(text))) => match hear(&mut filter, &world, &text) {
                    Ok(()) => {
                        is_asked = true;
                        None
                    }
                    Err(why) => break Some((close_code::POLICY, why)),
                },
                Some(Ok(Message::Ping(_) | Message::Pong(_))) => None,
                Some(Ok(Message::Binary(_))) => break Some((close_code::UNSUPPORTED, "expected text".to_owned())),
                Some(Ok(Message::Close(_)) | Err(_)) | None => break None,
            },
            // Whoever asks again before that gets one answer to all.
            () = sleep_until(answer_at), if is_asked => {
                (is_asked, answer_at) = (false, Instant::now() + ANSWER_EVERY);
                filter.pass(&world.now())
            }
            _ = look.tick() => {
                if !world.is_welcome().await {
                    break Some((close_code::POLICY, "the session is over".to_owned()));
                }
                None
            }
        };
        if let Some(text) = text
            && !send(&mut socket, Message::Text(text.into())).await
        {
            break None;
        }
    };
    if let Some((code, reason)) = end {
        // A reason has at most 123 bytes.
        let reason: String = reason.chars().take(100).filter(char::is_ascii).collect();
        send(&mut socket, Message::Close(Some(CloseFrame { code, reason: reason.into() }))).await;
    }
}

fn hear(filter: &mut Filter, world: &impl World, text: &str) -> Result<(), String> {
    let said: Subscription = serde_json::from_str(text).map_err(|error| error.to_string())?;
    filter.follow(said)?;
    filter.tail = filter.kinds.contains(&EventKind::Refusals).then(|| world.tail());
    Ok(())
}

async fn send<S: Sink<Message> + Unpin>(socket: &mut S, message: Message) -> bool {
    matches!(tokio::time::timeout(PATIENCE, socket.send(message)).await, Ok(Ok(())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::Hub;
    use futures_util::{sink, stream};
    use std::sync::Mutex;
    use std::task::Poll;

    /// A control plane that lets somebody in for so many looks.
    struct Welcome {
        looks: AtomicUsize,
        hub: Hub,
    }

    impl World for Arc<Welcome> {
        fn now(&self) -> Event {
            event(EventKind::Metrics, json!("now"))
        }

        async fn is_welcome(&self) -> bool {
            self.looks
                .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |looks| looks.checked_sub(1))
                .is_ok()
        }

        fn tail(&self) -> Tail {
            self.hub.tail()
        }
    }

    fn world(looks: usize) -> Arc<Welcome> {
        Arc::new(Welcome { looks: AtomicUsize::new(looks), hub: Hub::default() })
    }

    fn event(kind: EventKind, data: Value) -> Event {
        Event { kind, data, timestamp: 0 }
    }

    /// What is heard, and where it is kept.
    fn ears() -> (impl Sink<Message, Error = axum::Error>, Arc<Mutex<Vec<Message>>>) {
        let heard: Arc<Mutex<Vec<Message>>> = Arc::default();
        let ears = Arc::clone(&heard);
        let listens = sink::unfold((), move |(), message| {
            ears.lock().unwrap().push(message);
            std::future::ready(Ok::<_, axum::Error>(()))
        });
        (listens, heard)
    }

    /// A socket that says something, and what it heard.
    fn socket(
        says: &[&str],
    ) -> (impl Stream<Item = Heard> + Sink<Message> + Unpin, Arc<Mutex<Vec<Message>>>) {
        let said: Vec<Heard> = says.iter().map(|text| Ok(Message::Text((*text).into()))).collect();
        let (listens, heard) = ears();
        let says = stream::iter(said).chain(stream::pending());
        (Both { says: Box::pin(says), hears: Box::pin(listens) }, heard)
    }

    struct Both<A, B> {
        says: std::pin::Pin<Box<A>>,
        hears: std::pin::Pin<Box<B>>,
    }

    impl<A: Stream, B> Stream for Both<A, B> {
        type Item = A::Item;

        fn poll_next(
            mut self: std::pin::Pin<&mut Self>,
            context: &mut std::task::Context<'_>,
        ) -> Poll<Option<A::Item>> {
            self.says.as_mut().poll_next(context)
        }
    }

    impl<A, B: Sink<Message>> Sink<Message> for Both<A, B> {
        type Error = B::Error;

        fn poll_ready(
            mut self: std::pin::Pin<&mut Self>,
            context: &mut std::task::Context<'_>,
        ) -> Poll<Result<(), B::Error>> {
            self.hears.as_mut().poll_ready(context)
        }

        fn start_send(mut self: std::pin::Pin<&mut Self>, message: Message) -> Result<(), B::Error> {
            self.hears.as_mut().start_send(message)
        }

        fn poll_flush(
            mut self: std::pin::Pin<&mut Self>,
            context: &mut std::task::Context<'_>,
        ) -> Poll<Result<(), B::Error>> {
            self.hears.as_mut().poll_flush(context)
        }

        fn poll_close(
            mut self: std::pin::Pin<&mut Self>,
            context: &mut std::task::Context<'_>,
        ) -> Poll<Result<(), B::Error>> {
            self.hears.as_mut().poll_close(context)
        }
    }

    fn texts(heard: &Mutex<Vec<Message>>) -> Vec<String> {
        let heard = heard.lock().unwrap();
        heard
            .iter()
            .map(|message| match message {
                Message::Text(text) => {
                    let event: Value = serde_json::from_str(text).unwrap();
                    format!("{} {}", event["type"].as_str().unwrap(), event["data"])
                }
                Message::Close(Some(frame)) => format!("close {} {}", frame.code, frame.reason),
                other => format!("{other:?}"),
            })
            .collect()
    }

    #[tokio::test(start_paused = true)]
    async fn who_does_not_take_messages_is_dropped() {
        let world = world(usize::MAX);
        let stuck = Both {
            says: Box::pin(stream::pending()),
            hears: Box::pin(sink::unfold((), |(), _: Message| {
                std::future::pending::<Result<(), axum::Error>>()
            })),
        };
        let task = tokio::spawn(watch(Arc::clone(&world), world.hub.watch(), stuck));
        tokio::task::yield_now().await;
        world.hub.tell(EventKind::Alert, json!(1), 0);
        let began = tokio::time::Instant::now();
        task.await.unwrap();
        assert_eq!(began.elapsed(), PATIENCE);
        assert!(!world.hub.has_watchers());
    }

    #[tokio::test(start_paused = true)]
    async fn who_falls_behind_is_told_to_come_again() {
        let world = world(usize::MAX);
        let (socket, heard) = socket(&[]);
        let events = world.hub.watch();
        for number in 0..1_000 {
            world.hub.tell(EventKind::Alert, json!(number), 0);
        }
        watch(Arc::clone(&world), events, socket).await;
        assert_eq!(texts(&heard), ["close 1013 too slow"]);
    }

    #[tokio::test(start_paused = true)]
    async fn whose_session_is_over_hears_no_more() {
        let world = world(3);
        let (socket, heard) = socket(&[]);
        let began = tokio::time::Instant::now();
        watch(Arc::clone(&world), world.hub.watch(), socket).await;
        assert_eq!(
            (began.elapsed(), texts(&heard)),
            (3 * LOOK_EVERY, vec!["close 1008 the session is over".into()])
        );
    }

    #[tokio::test(start_paused = true)]
    async fn who_subscribes_hears_how_things_stand_if_that_was_asked_for() {
        let all = world(1);
        let (socket_of_all, heard) = socket(&[r#"{"subscribe": ["metrics"]}"#]);
        watch(Arc::clone(&all), all.hub.watch(), socket_of_all).await;
        assert_eq!(texts(&heard)[0], "metrics \"now\"");
        let few = world(1);
        let (socket_of_few, heard) = socket(&[r#"{"subscribe": ["alert"]}"#]);
        watch(Arc::clone(&few), few.hub.watch(), socket_of_few).await;
        assert_eq!(texts(&heard), ["close 1008 the session is over"]);
    }

    #[tokio::test(start_paused = true)]
    async fn who_asks_all_the_time_is_answered_once_a_second() {
        let world = world(2);
        // A hundred times at once, and then every tenth of a second, until the session is over.
        let ask = || Ok(Message::Text(r#"{"subscribe": ["metrics"]}"#.into()));
        let often = stream::unfold((), move |()| async move {
            tokio::time::sleep(Duration::from_millis(100)).await;
            Some((ask(), ()))
        });
        let says = stream::iter((0..100).map(move |_| ask())).chain(often);
        let (listens, heard) = ears();
        let socket = Both { says: Box::pin(says), hears: Box::pin(listens) };
        watch(Arc::clone(&world), world.hub.watch(), socket).await;
        let answers = texts(&heard).iter().filter(|text| *text == "metrics \"now\"").count();
        assert!((10..=11).contains(&answers), "{answers} in ten seconds");
    }

    #[test]
    fn refusals_are_cut_after_they_are_filtered() {
        let refusal = |app: &str| json!({"app_id": app, "reason": "app_exhausted"});
        let many: Vec<Value> =
            (0..1_500).map(|_| refusal("loud")).chain((0..150).map(|_| refusal("quiet"))).collect();
        let event = event(EventKind::Refusals, Value::Array(many));
        let heard = |app: Option<&str>| {
            let filter =
                Filter { kinds: vec![EventKind::Refusals], app: app.map(Into::into), ..Filter::default() };
            let told: Option<Value> = filter.pass(&event).map(|text| serde_json::from_str(&text).unwrap());
            told.map_or(0, |told| told["data"].as_array().unwrap().len())
        };
        assert_eq!(
            (heard(Some("quiet")), heard(None), heard(Some("nobody"))),
            (MAX_REFUSALS, MAX_REFUSALS, 0)
        );
    }
}
