//! A request's way through the gateway: who asks, where to, may it pass, there and back.

mod answer;
mod download;
mod exchange;
mod forward;
mod headers;
mod inspect;
mod journey;
mod outgoing;
mod patience;
pub(crate) mod query;
mod request_id;
mod tunnel;
mod upgrade;
mod upload;
mod visitor;

pub(crate) use inspect::operation_of;
pub(crate) use outgoing::Outgoing;
pub(crate) use patience::Alarm;
pub(crate) use request_id::RequestIds;
pub(crate) use upload::Upload;
pub(crate) use visitor::Visitor;

use crate::downstream::{Inbound, Turn};
use crate::gate::{Admission, BodySize, Gate, RequestInfo, Verdict};
use crate::plan::is_ambiguous;
use crate::server::{Core, CorePlan};
use crate::upstream::Outbound;
use answer::{Answer, Cause};
use download::Download;
use exchange::Exchange;
use headers::{Seen, X_TOLLGATE_ERROR};
use http::header::{CONNECTION, CONTENT_TYPE, HeaderName};
use http::request::Parts;
use http::{HeaderValue, Request, Response, StatusCode, Version};
use http_body::Body;
use inspect::Inspected;
use journey::Journey;
use std::error::Error;
use std::rc::Rc;
use tokio::sync::oneshot;
use upload::Terms;

/// An error of a body, which hyper only passes on.
pub(crate) type BoxError = Box<dyn Error + Send + Sync>;

/// `X-Request-Id`
pub(crate) const X_REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// An answer.
pub(crate) type Reply<G> = Response<Outgoing<<G as Gate>::Ticket>>;

/// Answers a request.
pub(crate) async fn respond<G: Gate>(
    visitor: &Rc<Visitor<G>>,
    turn: Turn,
    request: Request<Inbound>,
) -> Reply<G> {
    let core = &visitor.core;
    let plan = core.plan();
    let journey = Rc::new(Journey::new(&core.duties, turn));
    let (mut parts, body) = request.into_parts();
    let is_http2 = parts.version == Version::HTTP_2;
    let seen = Seen::of(&parts.headers);
    let is_grpc = is_grpc(seen.get(&parts.headers, &CONTENT_TYPE));
    let id = core.ids.of(seen.get(&parts.headers, &X_REQUEST_ID));
    let upgrades = upgrade::is_asked_for(&parts, seen, &body)
        && upgrade::is_allowed(&parts, &plan.shared.config.upgrades);
    note_request(&journey, visitor, &parts, &id);
    let passed = pass(visitor, &plan, &mut parts, seen, body, &journey, &id, upgrades).await;
    let mut response = passed.unwrap_or_else(|answer| own(core, *answer, &journey, is_grpc, is_http2));
    journey.answered(response.status(), is_http2);
    response.headers_mut().insert(X_REQUEST_ID, id);
    if core.registry.is_draining() && !is_http2 && response.status() != StatusCode::SWITCHING_PROTOCOLS {
        response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    }
    response
}

/// The phases of a request, each of which may end it.
#[allow(clippy::too_many_arguments, reason = "everything that is known about a request meets here")]
async fn pass<G: Gate>(
    visitor: &Rc<Visitor<G>>,
    plan: &Rc<CorePlan<G>>,
    parts: &mut Parts,
    seen: Seen,
    body: Inbound,
    journey: &Rc<Journey<G::Ticket>>,
    id: &HeaderValue,
    upgrades: bool,
) -> Result<Reply<G>, Box<Answer>> {
    if let Some(fault) = journey.turn().fault {
        return Err(Answer::fault(fault).into());
    }
    if let Err(refusal) = &visitor.visit {
        return Err(Answer::refusal((**refusal).clone()).closing().into());
    }
    let config = &plan.shared.config;
    let inspected = inspect::inspect(parts, seen, &body, &config.limits)?;
    if is_ambiguous(parts.uri.path()) {
        return Err(ambiguous("the path has segments . or ..").closing_unless_read(&body).into());
    }
    let Ok(found) = plan.shared.router.find(inspected.host(), parts.uri.path()) else {
        let message = "some servers read ; \\ %2f or %5c in the path so that another route leads to it";
        return Err(ambiguous(message).closing_unless_read(&body).into());
    };
    let Some(number) = found else {
        let message = "no route leads to this host and path";
        let answer = Answer::new(StatusCode::NOT_FOUND, "no_route", message, Cause::Route);
        return Err(answer.closing_unless_read(&body).into());
    };
    let Ok(app) = plan.shared.identifier.identify(inspected.host(), &parts.uri, &parts.headers) else {
        let message = "some servers read ; \\ %2f or %5c in the path so that it is another application's";
        return Err(ambiguous(message).closing_unless_read(&body).into());
    };
    let verdict = admit(visitor, plan, number, parts, &inspected, app, journey).await;
    match verdict {
        Verdict::Pass(ticket) => journey.admitted(ticket),
        Verdict::Refuse(refusal) => {
            return Err(inspect::settle_body(Answer::refusal(*refusal), body, &inspected).await.into());
        }
    }
    // If it reaches no server, it costs nothing from when that is known: not only when the answer is written, or
    // when a connection that it waits for finds that nobody waits any more.
    let _unless_reached = journey.abandoned_after();
    forward(visitor, plan, number, parts, seen, body, journey, id, inspected, upgrades).await
}

/// The answer to a path of which nobody knows what a server makes of it.
fn ambiguous(message: &'static str) -> Answer {
    Answer::client(StatusCode::BAD_REQUEST, "ambiguous_path", message)
}

async fn admit<G: Gate>(
    visitor: &Visitor<G>,
    plan: &CorePlan<G>,
    number: usize,
    parts: &Parts,
    inspected: &Inspected,
    app: Option<&str>,
    journey: &Journey<G::Ticket>,
) -> Verdict<G::Ticket> {
    let shared = &plan.shared;
    let client = shared.trust.client(visitor.peer, &parts.headers);
    let info = RequestInfo {
        method: &parts.method,
        uri: &parts.uri,
        headers: &parts.headers,
        host: inspected.host(),
        client,
        body: inspected.size,
        presumed_bytes: match inspected.size {
            BodySize::Known(bytes) => bytes,
            BodySize::Unknown => shared.config.limits.unknown_body_bytes,
        },
        app,
        operation: operation_of(
            &parts.method,
            &parts.uri,
            &parts.headers,
            shared.config.routes[number].operations,
        ),
    };
    journey.note(|entry| {
        entry.client = client.to_string();
        entry.app = app.map(ToOwned::to_owned);
        inspected.host().clone_into(&mut entry.host);
    });
    match visitor.core.gate.admit(&info) {
        Admission::Decided(verdict) => verdict,
        Admission::Waiting(wait) => wait.await,
    }
}

#[allow(clippy::too_many_arguments, reason = "everything that is known about a request meets here")]
async fn forward<G: Gate>(
    visitor: &Rc<Visitor<G>>,
    plan: &Rc<CorePlan<G>>,
    number: usize,
    parts: &mut Parts,
    seen: Seen,
    body: Inbound,
    journey: &Rc<Journey<G::Ticket>>,
    id: &HeaderValue,
    inspected: Inspected,
    upgrades: bool,
) -> Result<Reply<G>, Box<Answer>> {
    let config = &plan.shared.config;
    let route = &config.routes[number];
    let (manners, added) =
        forward::prepare(parts, seen, visitor, inspected.host, route.preserve_host, id, upgrades);
    let terms = Terms {
        limit: config.limits.body_bytes,
        patience: config.timeouts.body,
        rate: config.limits.body_rate,
    };
    let body = Some(Upload::new(body, journey, terms, &plan.vouching));
    let mut outbound = Outbound { parts, added, body };
    let exchange = Exchange {
        fleet: plan.fleet_of(number),
        journey,
        manners: &manners,
        terms,
        vouching: &plan.vouching,
        alarm: &visitor.alarm,
        connect: config.timeouts.connect,
        response: route.response_timeout.unwrap_or(config.timeouts.response),
    };
    let (response, lease) = exchange.run(&mut outbound).await?;
    if response.status() == StatusCode::SWITCHING_PROTOCOLS {
        let Some(server) = lease.into_raw().filter(|_| upgrades) else {
            let message = "the server changed the protocol without being asked";
            return Err(Answer::upstream(StatusCode::BAD_GATEWAY, "upstream_failed", message).into());
        };
        let (give, client) = oneshot::channel();
        visitor.handover.set(Some(give));
        tunnel::open((client, server), Rc::clone(journey), Rc::clone(visitor), config.timeouts.tunnel);
        return Ok(upgrade::agreed(response, journey));
    }
    let patience = route.read_timeout.unwrap_or(config.timeouts.read);
    let (mut parts, ()) = response.into_parts();
    let seen = Seen::of(&parts.headers);
    seen.strip_hop_by_hop(&mut parts.headers);
    // A server cannot speak for us.
    seen.remove(&mut parts.headers, &X_TOLLGATE_ERROR);
    parts.extensions.clear();
    // The version is that of a connection, and the client's is another than the server's.
    parts.version = Version::HTTP_11;
    journey.decorate(&mut parts.headers);
    Ok(Response::from_parts(parts, Outgoing::Relayed(Download::new(lease, Rc::clone(journey), patience))))
}

fn own<G: Gate>(
    core: &Core<G>,
    answer: Answer,
    journey: &Rc<Journey<G::Ticket>>,
    is_grpc: bool,
    is_http2: bool,
) -> Reply<G> {
    let counters = &core.duties.counters;
    match answer.cause {
        Cause::Client => counters.requests_malformed.up(),
        Cause::Route => counters.requests_unrouted.up(),
        Cause::Gate => counters.requests_refused.up(),
        Cause::Upstream => counters.upstream_errors.up(),
    }
    let reason = answer.reason;
    journey.note(|entry| entry.reason = reason);
    answer.into_response(is_grpc, is_http2).map(|body| Outgoing::own(body, journey))
}

fn is_grpc(content_type: Option<&HeaderValue>) -> bool {
    content_type.is_some_and(|kind| kind.as_bytes().starts_with(b"application/grpc"))
}

fn note_request<G: Gate>(
    journey: &Journey<G::Ticket>,
    visitor: &Visitor<G>,
    parts: &Parts,
    id: &HeaderValue,
) {
    journey.note(|entry| {
        id.to_str().unwrap_or_default().clone_into(&mut entry.id);
        entry.peer = visitor.peer.to_string();
        if journey.turn().fault.is_some() {
            // What stands in for such a request says nothing about it.
            return;
        }
        entry.method = parts.method.to_string();
        parts.uri.path().clone_into(&mut entry.path);
        entry.version = match parts.version {
            Version::HTTP_2 => "2",
            Version::HTTP_10 => "1.0",
            _ => "1.1",
        };
    });
}

impl BodySize {
    /// Of a body that has not been read yet.
    fn of(body: &Inbound) -> Self {
        if body.is_end_stream() {
            return Self::Known(0);
        }
        body.size_hint().exact().map_or(Self::Unknown, Self::Known)
    }
}
