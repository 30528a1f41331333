//! Who asks what.

use super::body;
use super::inquiry::Inquiry;
use super::reply::{self, Reply};
use super::reservation::End;
use super::shelf::Shelf;
use crate::plan::Identifier;
use arc_swap::ArcSwap;
use http::{Method, Request, StatusCode};
use hyper::body::Incoming;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Instant;
use tollgate_config::settings;
use tollgate_core::decision::Decision;
use tollgate_ledger::{Ledger, Slots};
use tollgate_node::answer::Answer;
use tollgate_node::{DecisionId, Node, Record, Unexplained, wall};

/// What is needed to answer.
#[derive(Debug)]
pub(super) struct Service<L> {
    pub(super) node: Node<L>,
    pub(super) settings: settings::Check,
    /// Swapped when the configuration is read again.
    pub(super) identifier: Arc<ArcSwap<Identifier>>,
    pub(super) shelf: Shelf,
}

impl<L: Ledger + Slots + 'static> Service<L> {
    pub(super) async fn answer(&self, request: Request<Incoming>) -> Reply {
        let (parts, body) = request.into_parts();
        let path: Vec<&str> = parts.uri.path().split('/').skip(1).collect();
        let is_get = parts.method == Method::GET;
        let is_post = parts.method == Method::POST;
        match path[..] {
            ["v1", "check"] if is_get || is_post => match Inquiry::read(self, &parts, body).await {
                Ok(inquiry) => self.check(&inquiry).await,
                Err(message) => reply::invalid(&message),
            },
            ["v1", "check"] => reply::wrong_method("GET, POST"),
            ["v1", "rollback"] if is_post => self.roll_back(body).await,
            ["v1", "reservations"] if is_post => self.reserve(body).await,
            ["v1", "reservations", id, "complete"] if is_post => self.end(id, End::Complete, body).await,
            ["v1", "reservations", id, "cancel"] if is_post => self.end(id, End::Cancel, body).await,
            ["v1", "rollback" | "reservations", ..] => reply::wrong_method("POST"),
            ["v1", "decisions", id] if is_get => self.explain(id).await,
            ["health"] if is_get => reply::json(StatusCode::OK, &json!({"status": "ok"})),
            ["v1", "decisions", _] | ["health"] => reply::wrong_method("GET"),
            _ => reply::not_found("expected /v1/check, /v1/rollback, /v1/reservations or /v1/decisions/{id}"),
        }
    }

    /// The status of a refusal, unless a request asks for another.
    pub(super) fn refused_status(&self, asked: Option<u16>) -> StatusCode {
        let status = StatusCode::from_u16(asked.unwrap_or(self.settings.refused_status));
        status.unwrap_or(StatusCode::TOO_MANY_REQUESTS)
    }

    async fn check(&self, inquiry: &Inquiry) -> Reply {
        let (request, status) = (inquiry.request(), self.refused_status(inquiry.options.status));
        if inquiry.options.dry_run {
            let decision = self.node.foresee(&request).await;
            if !decision.verdict.passes() {
                return self.refuse(&inquiry.app, &decision, None, status);
            }
            let payer = self.node.resolve(&inquiry.app);
            return reply::pass(payer.as_ref().map_or("", |app| app.id()), &decision, None);
        }
        match self.node.admit(&request).await {
            Ok(permit) => {
                let decision = permit.decision();
                let id = self.node.record_within(&inquiry.app, &decision, inquiry.parent);
                let reply = reply::pass(permit.app().id(), &decision, Some(id));
                self.shelf.put(id, permit, Instant::now());
                reply
            }
            Err(decision) => {
                let id = self.node.record_within(&inquiry.app, &decision, inquiry.parent);
                self.refuse(&inquiry.app, &decision, Some(id), status)
            }
        }
    }

    /// Refuses what an application of that name wants. Who pays may be another.
    pub(super) fn refuse(
        &self,
        app: &str,
        decision: &Decision,
        id: Option<DecisionId>,
        status: StatusCode,
    ) -> Reply {
        let payer = self.node.resolve(app);
        let payer = payer.as_ref().map_or("", |app| app.id());
        reply::refuse(Answer::refusal(payer, decision, id, wall()), status)
    }

    /// `POST /v1/rollback`
    async fn roll_back(&self, body: Incoming) -> Reply {
        let id = body::read(body).await.and_then(|fields| {
            let mut fields = fields.ok_or("no body (expected a JSON object with decision_id)")?;
            let id =
                fields.text("decision_id")?.ok_or("decision_id: missing (expected the id of a check)")?;
            fields.finish("decision_id")?;
            id.parse::<DecisionId>().map_err(|error| format!("decision_id: {error}"))
        });
        match id {
            Ok(id) if self.shelf.take_back(id, Instant::now()) => {
                reply::json(StatusCode::OK, &json!({"decision_id": id.to_string(), "rolled_back": true}))
            }
            Ok(_) => reply::not_found("no such check, or it was taken back, or it is too long ago"),
            Err(message) => reply::invalid(&message),
        }
    }

    /// `GET /v1/decisions/{id}`
    async fn explain(&self, id: &str) -> Reply {
        let id = match id.parse::<DecisionId>() {
            Ok(id) => id,
            Err(error) => return reply::not_found(&error.to_string()),
        };
        match self.node.explain_anywhere(id).await {
            Ok(record) => reply::json(StatusCode::OK, &explained(&record)),
            Err(why) => unexplained(&why),
        }
    }
}

fn unexplained(why: &Unexplained) -> Reply {
    let (status, error) = match why {
        Unexplained::Unknown { .. } => return reply::not_found(&why.to_string()),
        Unexplained::Busy => (StatusCode::TOO_MANY_REQUESTS, "too_many_requests"),
        Unexplained::Unasked(_) => (StatusCode::SERVICE_UNAVAILABLE, "unavailable"),
    };
    reply::json(status, &json!({"error": error, "message": why.to_string()}))
}

fn explained(record: &Record) -> Value {
    let decision = &record.decision;
    let price = &decision.price;
    json!({
        "decision_id": record.id.to_string(),
        "at_ms": record.at.get(),
        "app": record.app,
        "allowed": decision.verdict.passes(),
        "reason": decision.verdict.reason().map(tollgate_core::reason::Reason::code),
        "tier": decision.tier.name(),
        "trace": decision.trace().map(|(tier, step)| json!({"tier": tier.name(), "outcome": step.name()})).collect::<Vec<_>>(),
        "price": {
            "operation": price.operation.name(),
            "bytes": price.bytes,
            "units": price.units,
            "base": price.base,
            "bandwidth": price.bandwidth,
            "cost": price.cost(),
        },
        "limit": decision.limit.floor(),
        "remaining": decision.remaining.floor(),
        "retry_after_ms": decision.retry_after.map(tollgate_core::units::Millis::get),
        "policy_version": decision.policy_version,
    })
}
