//! Reservations over HTTP.

use super::body::{self, Fields};
use super::reply::{self, Reply};
use super::service::Service;
use http::StatusCode;
use hyper::body::Incoming;
use serde_json::json;
use tollgate_core::reservation::{DEFAULT_TIMEOUT, Settlement};
use tollgate_core::units::Millis;
use tollgate_ledger::{Ledger, Slots};
use tollgate_node::answer::Answer;
use tollgate_node::{EndError, ReservationId};

/// The longest that a reservation may last, in seconds: a day.
const LONGEST_S: u64 = 86_400;

/// How a reservation is ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    Complete,
    Cancel,
}

impl<L: Ledger + Slots + 'static> Service<L> {
    /// `POST /v1/reservations`
    pub(super) async fn reserve(&self, body: Incoming) -> Reply {
        let wanted = match body::read(body).await.and_then(Wanted::from_fields) {
            Ok(wanted) => wanted,
            Err(message) => return reply::invalid(&message),
        };
        match self.node.reserve(&wanted.app, wanted.estimate, wanted.timeout).await {
            Ok((id, reservation)) => {
                let content = json!({
                    "id": id.to_string(),
                    "app": wanted.app,
                    "estimate": reservation.estimate.floor(),
                    "timeout_s": wanted.timeout.ceil_secs(),
                });
                reply::json(StatusCode::CREATED, &content)
            }
            Err(decision) => {
                let id = self.node.record(&wanted.app, &decision);
                self.refuse(&wanted.app, &decision, Some(id), self.refused_status(None))
            }
        }
    }

    /// `POST /v1/reservations/{id}/complete` and `.../cancel`
    pub(super) async fn end(&self, id: &str, end: End, body: Incoming) -> Reply {
        let Ok(id) = id.parse::<ReservationId>() else { return reply::not_found("no such reservation") };
        let fields = match body::read(body).await {
            Ok(fields) => fields,
            Err(message) => return reply::invalid(&message),
        };
        let ended = match end {
            End::Cancel => self.node.cancel(&id).await,
            End::Complete => match actual(fields) {
                Ok(actual) => self.node.complete(&id, actual).await,
                Err(message) => return reply::invalid(&message),
            },
        };
        match ended {
            Ok(settlement) => reply::json(StatusCode::OK, &settled(&id, settlement)),
            Err(EndError::Unknown) => reply::not_found("no such reservation, or it has ended"),
            Err(EndError::Ledger(error)) => {
                let refused = Answer::unsettled(&error);
                reply::refuse(refused, self.refused_status(None))
            }
        }
    }
}

/// A reservation that somebody wants.
struct Wanted {
    app: String,
    estimate: u64,
    timeout: Millis,
}

impl Wanted {
    fn from_fields(fields: Option<Fields>) -> Result<Self, String> {
        let mut fields = fields.ok_or("no body (expected a JSON object with app and estimate)")?;
        let app = fields.app()?;
        let estimate =
            fields.tokens("estimate")?.ok_or("estimate: missing (expected an amount of tokens)")?;
        let timeout = match fields.number("timeout_s")? {
            None => DEFAULT_TIMEOUT,
            Some(seconds @ 1..=LONGEST_S) => Millis::from_secs(seconds),
            Some(seconds) => {
                return Err(format!("timeout_s: out of range (got {seconds}, expected 1 to {LONGEST_S})"));
            }
        };
        fields.finish("app, estimate and timeout_s")?;
        Ok(Self { app, estimate, timeout })
    }
}

fn actual(fields: Option<Fields>) -> Result<u64, String> {
    let mut fields = fields.ok_or("no body (expected a JSON object with actual)")?;
    let actual = fields.number("actual")?.ok_or("actual: missing (expected an amount of tokens)")?;
    fields.finish("actual")?;
    Ok(actual)
}

fn settled(id: &ReservationId, settlement: Settlement) -> serde_json::Value {
    json!({
        "id": id.to_string(),
        "refund": settlement.refund.floor(),
        "charged": settlement.charged.floor(),
        "owed": settlement.owed.floor(),
    })
}
