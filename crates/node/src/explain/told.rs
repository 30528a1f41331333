//! A record as one node tells it to another.
//!
//! What is heard may have been written by anybody who can write to the ledger: it is read into the types of a record, or not at
//! all.

use super::{DecisionId, Record};
use serde::{Deserialize, Serialize};
use tollgate_core::cost::{Operation, Price};
use tollgate_core::decision::{Decision, Tier, Verdict};
use tollgate_core::id::MAX_LEN;
use tollgate_core::reason::Reason;
use tollgate_core::units::{Millis, Tokens};

/// The last moment that a browser can show.
const LATEST: Millis = Millis::new(8_640_000_000_000_000);

#[derive(Serialize, Deserialize)]
struct Told {
    id: String,
    at: u64,
    app: String,
    verdict: Word,
    reason: Option<String>,
    tier: String,
    operation: String,
    bytes: u64,
    units: u64,
    base: u64,
    bandwidth: u64,
    limit: u64,
    remaining: u64,
    retry_after: Option<u64>,
    reset_after: u64,
    policy_version: u64,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Word {
    Allowed,
    Refused,
    Shadowed,
}

/// The record as a text.
pub(super) fn write(record: &Record) -> Option<String> {
    let Decision { verdict, tier, price, limit, remaining, retry_after, reset_after, policy_version } =
        record.decision;
    let told = Told {
        id: record.id.to_string(),
        at: record.at.get(),
        app: record.app.clone(),
        verdict: match verdict {
            Verdict::Allowed => Word::Allowed,
            Verdict::Refused(_) => Word::Refused,
            Verdict::Shadowed(_) => Word::Shadowed,
        },
        reason: verdict.reason().map(|reason| reason.code().to_owned()),
        tier: tier.name().to_owned(),
        operation: price.operation.name().to_owned(),
        bytes: price.bytes,
        units: price.units,
        base: price.base,
        bandwidth: price.bandwidth,
        limit: limit.micros(),
        remaining: remaining.micros(),
        retry_after: retry_after.map(Millis::get),
        reset_after: reset_after.get(),
        policy_version,
    };
    serde_json::to_string(&told).ok()
}

/// The record of that decision, if the text is one.
pub(super) fn read(text: &str, id: DecisionId) -> Option<Record> {
    let told: Told = serde_json::from_str(text).ok()?;
    let reason = told.reason.as_deref().map(Reason::parse);
    let verdict = match (told.verdict, reason) {
        (Word::Allowed, None) => Verdict::Allowed,
        (Word::Refused, Some(reason)) => Verdict::Refused(reason?),
        (Word::Shadowed, Some(reason)) => Verdict::Shadowed(reason?),
        _ => return None,
    };
    let price = Price {
        operation: Operation::named(&told.operation)?,
        bytes: told.bytes,
        units: told.units,
        base: told.base,
        bandwidth: told.bandwidth,
    };
    let decision = Decision {
        verdict,
        tier: Tier::named(&told.tier)?,
        price,
        limit: Tokens::from_micros(told.limit),
        remaining: Tokens::from_micros(told.remaining),
        retry_after: told.retry_after.map(Millis::new),
        reset_after: Millis::new(told.reset_after),
        policy_version: told.policy_version,
    };
    let record = Record {
        id: told.id.parse().ok()?,
        at: Millis::new(told.at),
        app: told.app,
        decision,
        // Traces are sent by whoever decided.
        parent: None,
    };
    let is_sound = record.id == id && record.at <= LATEST && record.app.chars().count() <= MAX_LEN;
    is_sound.then_some(record)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};
    use tollgate_ledger::question::MAX_ANSWER;

    fn record(verdict: Verdict, tier: Tier) -> Record {
        let decision = Decision {
            verdict,
            tier,
            price: Price { operation: Operation::Put, bytes: 70_000, units: 2, base: 5, bandwidth: 2 },
            limit: Tokens::from_micros(1_500_000),
            remaining: Tokens::ZERO,
            retry_after: Some(Millis::new(250)),
            reset_after: Millis::from_secs(3),
            policy_version: u64::MAX,
        };
        Record {
            id: DecisionId(42),
            at: Millis::new(1_700_000_000_000),
            app: "app-a".into(),
            decision,
            parent: None,
        }
    }

    fn refused() -> Record {
        record(Verdict::Refused(Reason::AppExhausted), Tier::App)
    }

    #[test]
    fn a_record_is_read_as_it_was_told() {
        for verdict in [
            Verdict::Allowed,
            Verdict::Refused(Reason::ClusterExhausted),
            Verdict::Shadowed(Reason::AppExhausted),
        ] {
            for tier in [Tier::Node, Tier::App, Tier::Cluster, Tier::Fallback] {
                let record = record(verdict, tier);
                assert_eq!(read(&write(&record).unwrap(), record.id), Some(record));
            }
        }
    }

    #[test]
    fn the_longest_record_can_be_told() {
        let record = Record { app: "\u{1}".repeat(MAX_LEN), ..refused() };
        let text = write(&record).unwrap();
        assert!(text.len() <= MAX_ANSWER, "{}", text.len());
        assert_eq!(read(&text, record.id), Some(record));
    }

    #[test]
    fn what_is_no_record_of_that_decision_is_not_believed() {
        let record = refused();
        let good: Value = serde_json::from_str(&write(&record).unwrap()).unwrap();
        assert_eq!(read(&good.to_string(), DecisionId(43)), None, "another decision");
        for garbage in ["", "null", "[]", "{}", "\"x\"", "{\"id\":"] {
            assert_eq!(read(garbage, record.id), None, "{garbage}");
        }
        for (field, wrong) in [
            ("id", json!("42")),
            ("at", json!(-1)),
            ("at", json!(8_640_000_000_000_001_u64)),
            ("app", json!("x".repeat(MAX_LEN + 1))),
            ("app", json!(null)),
            ("verdict", json!("maybe")),
            ("verdict", json!("allowed")),
            ("reason", json!(null)),
            ("reason", json!("<script>")),
            ("tier", json!("l4")),
            ("operation", json!("NONSENSE")),
            ("limit", json!(1.5)),
            ("policy_version", json!("1")),
        ] {
            let mut told = good.clone();
            told[field] = wrong.clone();
            assert_eq!(read(&told.to_string(), record.id), None, "{field}: {wrong}");
        }
    }
}
