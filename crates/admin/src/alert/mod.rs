//! Alerts: raised once, told to everybody, over when what they are about is over.

mod judge;
mod rule;
pub(crate) mod webhook;

pub(crate) use judge::{Judge, close_orphans, run};
pub(crate) use rule::{Rule, Severity, rules};

use crate::event::EventKind;
use crate::state::Admin;
use crate::store::AlertRow;
use serde_json::{Value, json};

/// Tells those who watch, and those who are sent messages, what became of an alert.
pub(crate) fn tell(admin: &Admin, what: &str, alert: &AlertRow) {
    let data = message(what, alert);
    admin.hub.tell(EventKind::Alert, data.clone(), crate::clock::wall());
    admin.post.send(data);
}

fn message(what: &str, alert: &AlertRow) -> Value {
    json!({
        "event": what,
        "id": alert.id,
        "rule": alert.rule,
        "subject": alert.subject,
        "severity": alert.severity,
        "message": alert.message,
        "value": alert.value,
        "timestamp": alert.raised_at,
        "acknowledged": alert.acknowledged_at.is_some(),
        "acknowledged_by": alert.acknowledged_by,
        "resolved_at": alert.resolved_at,
        "node": alert.node,
    })
}
