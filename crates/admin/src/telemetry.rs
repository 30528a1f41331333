//! Traces for OpenTelemetry: decisions as spans, sent to a collector as OTLP over HTTP, in JSON.
//!
//! The spans are made of the decisions that are kept anyway, all refusals up to a rate and a sample of what passes: whoever
//! decides about requests knows nothing of it. A span goes on with the trace of the caller, if the request told of one; else its
//! trace is named like the decision that it is about.

use crate::outbound;
use crate::sampler;
use crate::state::{Admin, Shared};
use bytes::Bytes;
use http::Uri;
use serde_json::{Value, json};
use std::time::Duration;
use tokio::sync::watch;
use tollgate_core::decision::Verdict;
use tollgate_core::units::Millis;
use tollgate_node::{DecisionId, Record};

/// How often spans are sent.
const PAUSE: Duration = Duration::from_secs(1);

/// How long the collector may take.
const PATIENCE: Duration = Duration::from_secs(5);

/// The most spans in one request.
const BATCH: usize = 512;

/// The most decisions that are looked at in one turn.
const MOST: usize = 4_096;

/// An internal operation, as OTLP numbers kinds of spans.
const INTERNAL: u8 = 1;

/// Sends what was decided until it is told to stop, and then what is left. Does nothing where no collector is named.
pub(crate) async fn run(admin: Shared, mut stop: watch::Receiver<bool>) {
    let Some(endpoint) = &admin.settings.telemetry.endpoint else { return };
    let Ok(uri) = format!("{endpoint}/v1/traces").parse::<Uri>() else { return };
    let mut exporter = Exporter { uri, last: None, is_failing: false };
    let mut clock = tokio::time::interval(PAUSE);
    clock.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        let is_over = tokio::select! {
            _ = clock.tick() => false,
            () = sampler::stopped(&mut stop) => true,
        };
        exporter.export(&admin).await;
        if is_over {
            return;
        }
    }
}

struct Exporter {
    uri: Uri,
    /// The last decision that was sent.
    last: Option<DecisionId>,
    is_failing: bool,
}

impl Exporter {
    /// Sends what was decided since the last time. What a collector does not take is lost: there is more to come.
    async fn export(&mut self, admin: &Admin) {
        let latest = admin.plane.latest(MOST);
        let mut new: Vec<&Record> = latest.iter().take_while(|record| Some(record.id) != self.last).collect();
        new.reverse();
        self.last = new.last().map(|record| record.id).or(self.last);
        for batch in new.chunks(BATCH) {
            let body = Bytes::from(request(admin, batch).to_string());
            let sent = tokio::time::timeout(PATIENCE, send(&self.uri, body));
            let sent = sent.await.unwrap_or_else(|_| Err("no answer in time".into()));
            let was_failing = std::mem::replace(&mut self.is_failing, sent.is_err());
            match sent {
                Err(why) if !was_failing => {
                    tracing::warn!(collector = %self.uri, why, "traces are not taken, they are lost until they are");
                }
                Ok(()) if was_failing => tracing::info!(collector = %self.uri, "traces are taken again"),
                _ => {}
            }
            if self.is_failing {
                return;
            }
        }
    }
}

async fn send(uri: &Uri, body: Bytes) -> Result<(), String> {
    let address = outbound::look_up(uri, |_| true).await?;
    outbound::post(uri, address, &[], body).await
}

fn request(admin: &Admin, records: &[&Record]) -> Value {
    let settings = &admin.settings;
    json!({"resourceSpans": [{
        "resource": {"attributes": [
            text("service.name", &settings.telemetry.service),
            text("service.version", env!("CARGO_PKG_VERSION")),
            text("service.instance.id", &settings.node),
        ]},
        "scopeSpans": [{
            "scope": {"name": "tollgate", "version": env!("CARGO_PKG_VERSION")},
            "spans": records.iter().map(|record| span(record)).collect::<Value>(),
        }],
    }]})
}

fn span(record: &Record) -> Value {
    let decision = &record.decision;
    let price = &decision.price;
    let id = record.id.to_string();
    let at = format!("{}000000", record.at.get());
    let verdict = match decision.verdict {
        Verdict::Allowed => "allowed",
        Verdict::Refused(_) => "refused",
        Verdict::Shadowed(_) => "shadowed",
    };
    let mut attributes = vec![
        text("tollgate.decision.id", &id),
        text("tollgate.app", &record.app),
        text("tollgate.verdict", verdict),
        text("tollgate.tier", decision.tier.name()),
        text("tollgate.operation", price.operation.name()),
        number("tollgate.cost", price.cost()),
        number("tollgate.cost.base", price.base),
        number("tollgate.cost.bandwidth", price.bandwidth),
        number("tollgate.bytes", price.bytes),
        number("tollgate.limit", decision.limit.floor()),
        number("tollgate.remaining", decision.remaining.floor()),
        number("tollgate.policy.version", decision.policy_version),
    ];
    attributes.extend(decision.verdict.reason().map(|reason| text("tollgate.reason", reason.code())));
    let retry = decision.retry_after.filter(|_| decision.verdict.reason().is_some());
    attributes.extend(retry.map(Millis::get).map(|ms| number("tollgate.retry_after_ms", ms)));
    let trace = record.parent.map_or_else(|| id.clone(), |parent| format!("{:032x}", parent.trace));
    let mut span = json!({
        "traceId": trace,
        "spanId": id.get(16..).unwrap_or_default(),
        "name": "tollgate.decision",
        "kind": INTERNAL,
        "startTimeUnixNano": at,
        "endTimeUnixNano": at,
        "attributes": attributes,
    });
    if let Some(parent) = record.parent {
        span["parentSpanId"] = format!("{:016x}", parent.span).into();
    }
    span
}

fn text(key: &str, value: &str) -> Value {
    json!({"key": key, "value": {"stringValue": value}})
}

/// OTLP writes whole numbers of 64 bits as texts.
fn number(key: &str, value: u64) -> Value {
    let value = i64::try_from(value).unwrap_or(i64::MAX);
    json!({"key": key, "value": {"intValue": value.to_string()}})
}
