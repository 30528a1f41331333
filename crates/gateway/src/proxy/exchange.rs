//! Sends a request to a server and gets the head of its response.

use super::answer::Answer;
use super::forward::Manners;
use super::journey::{Journey, Trouble};
use super::patience::Alarm;
use super::upload::{Terms, Upload};
use crate::gate::Ticket;
use crate::upstream::{ConnectError, Endpoint, Fleet, Lease, Outbound, Station, Unanswered, Wanted};
use http::{HeaderName, Response, StatusCode};
use std::cell::Cell;
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::task::Poll;
use std::time::Duration;

/// How often a request is sent at most, of which something was sent at most once.
const MAX_ATTEMPTS: usize = 3;

/// What an exchange needs to know.
pub(crate) struct Exchange<'a, T: Ticket> {
    pub(crate) fleet: &'a Fleet<Upload<T>>,
    pub(crate) journey: &'a Rc<Journey<T>>,
    pub(crate) manners: &'a Manners,
    pub(crate) terms: Terms,
    /// The fields by which applications are told.
    pub(crate) vouching: &'a Rc<[HeaderName]>,
    /// Where the alarm of the requests before is kept.
    pub(crate) alarm: &'a Cell<Option<Alarm>>,
    pub(crate) connect: Duration,
    pub(crate) response: Duration,
}

/// Why an attempt came to nothing.
enum Setback {
    /// It can be tried again.
    Again(Retry),
    /// It cannot.
    End(Box<Answer>),
}

/// How to try again.
enum Retry {
    /// With another server.
    Elsewhere,
    /// With a connection that was not used before.
    Fresh,
}

impl<T: Ticket> Exchange<'_, T> {
    /// The response and the connection it comes by, or what to tell the client.
    pub(crate) async fn run(
        &self,
        request: &mut Outbound<'_, Upload<T>>,
    ) -> Result<(Response<()>, Lease<Upload<T>>), Box<Answer>> {
        let mut tried: Vec<*const Station<Upload<T>>> = Vec::new();
        let mut wanted = Wanted { only_http1: self.manners.upgrade.is_some(), fresh: false };
        for attempt in 1..=MAX_ATTEMPTS {
            let station = self.fleet.pick(&tried).ok_or_else(unavailable)?;
            let is_last = attempt == MAX_ATTEMPTS;
            match self.attempt(station, request, wanted, is_last).await {
                Ok(done) => return Ok(done),
                Err(Setback::End(answer)) => return Err(answer),
                Err(Setback::Again(retry)) => {
                    self.journey.duties().counters.upstream_retries.up();
                    match retry {
                        Retry::Elsewhere => tried.push(Rc::as_ptr(station)),
                        Retry::Fresh => wanted.fresh = true,
                    }
                }
            }
        }
        Err(unavailable())
    }

    async fn attempt(
        &self,
        station: &Rc<Station<Upload<T>>>,
        request: &mut Outbound<'_, Upload<T>>,
        wanted: Wanted,
        is_last: bool,
    ) -> Result<(Response<()>, Lease<Upload<T>>), Setback> {
        let endpoint = &station.endpoint;
        self.journey.note(|entry| entry.upstream = endpoint.server.to_string());
        let leased = station.lease(wanted, self.connect, &self.journey.duties().counters).await;
        let mut lease = match leased {
            Ok(lease) => lease,
            Err(error) => {
                endpoint.failed();
                self.journey.note(|entry| entry.detail = error.to_string());
                let can_go_elsewhere = self.fleet.stations().len() > 1 && !is_last;
                return Err(if can_go_elsewhere {
                    Setback::Again(Retry::Elsewhere)
                } else {
                    Setback::End(unreachable(&error))
                });
            }
        };
        self.manners.address(request, endpoint, lease.is_http2());
        let may_repeat = lease.reused && !is_last && self.is_harmless(request);
        self.journey.handed();
        self.journey.waits_from_now();
        let sent = self.timely(pin!(lease.send(request))).await;
        match sent {
            Some(Ok(response)) => {
                self.journey.reached();
                endpoint.succeeded();
                Ok((response, lease))
            }
            Some(Err(unanswered)) if unanswered.is_unsent => {
                self.journey.returned();
                if !lease.reused {
                    endpoint.failed();
                }
                Err(if is_last { Setback::End(unavailable()) } else { Setback::Again(Retry::Fresh) })
            }
            Some(Err(unanswered)) if may_repeat && !unanswered.is_malformed => {
                // The server may have closed the connection before it saw the request.
                request.body = Some(Upload::empty(self.journey, self.terms, self.vouching));
                Err(Setback::Again(Retry::Fresh))
            }
            Some(Err(unanswered)) => Err(Setback::End(self.broken(unanswered, endpoint))),
            None => {
                endpoint.failed();
                let message = "the server does not answer in time";
                let answer = Answer::upstream(StatusCode::GATEWAY_TIMEOUT, "upstream_timeout", message);
                Err(Setback::End(answer.into()))
            }
        }
    }

    /// Whether a request does no harm if it is sent twice.
    fn is_harmless(&self, request: &Outbound<'_, Upload<T>>) -> bool {
        let is_empty = request.body.as_ref().is_some_and(Upload::is_empty);
        request.parts.method.is_idempotent() && is_empty && self.manners.upgrade.is_none()
    }

    /// The connection broke before there was a response.
    fn broken(&self, unanswered: Unanswered, endpoint: &Endpoint) -> Box<Answer> {
        if let Some(trouble) = self.journey.trouble() {
            return client_trouble(trouble);
        }
        endpoint.failed();
        self.journey.note(|entry| entry.detail = unanswered.why);
        let message = "the server broke off without an answer";
        Answer::upstream(StatusCode::BAD_GATEWAY, "upstream_failed", message).into()
    }

    /// Waits for the head of a response: so long after the last byte of the request's body that went on.
    async fn timely<F: Future>(&self, mut sent: Pin<&mut F>) -> Option<F::Output> {
        let mut alarm = self.alarm.take().unwrap_or_default();
        let output = poll_fn(|cx| match sent.as_mut().poll(cx) {
            Poll::Ready(output) => Poll::Ready(Some(output)),
            Poll::Pending if alarm.is_past(self.journey.moved() + self.response, cx) => Poll::Ready(None),
            Poll::Pending => Poll::Pending,
        })
        .await;
        self.alarm.set(Some(alarm));
        output
    }
}

fn client_trouble(trouble: Trouble) -> Box<Answer> {
    let (status, reason, message) = match trouble {
        Trouble::TooLarge => {
            (StatusCode::PAYLOAD_TOO_LARGE, "body_too_large", "the body is larger than allowed")
        }
        Trouble::TooSlow => (StatusCode::REQUEST_TIMEOUT, "body_timeout", "the body comes too slowly"),
        Trouble::Broken => (StatusCode::BAD_REQUEST, "bad_body", "the body breaks off or breaks the rules"),
    };
    Answer::client(status, reason, message).closing().into()
}

fn unavailable() -> Box<Answer> {
    let message = "no server is there to take the request";
    Answer::upstream(StatusCode::SERVICE_UNAVAILABLE, "upstream_unavailable", message).into()
}

fn unreachable(error: &ConnectError) -> Box<Answer> {
    let answer = match error {
        ConnectError::Timeout => {
            let message = "no connection to the server in time";
            Answer::upstream(StatusCode::GATEWAY_TIMEOUT, "upstream_connect_timeout", message)
        }
        ConnectError::Refused(_) | ConnectError::Protocol(_) => {
            let message = "no connection to the server";
            Answer::upstream(StatusCode::BAD_GATEWAY, "upstream_unreachable", message)
        }
    };
    answer.into()
}
