//! The last decisions, for whoever wants to know why.

mod inquiry;
mod told;

pub(crate) use inquiry::Inquiries;
pub use inquiry::Unexplained;

use crate::names::Names;
use crate::sync::lock;
use crate::trace::TraceParent;
use serde::{Serialize, Serializer};
use std::collections::VecDeque;
use std::fmt;
use std::str::FromStr;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use tollgate_core::decision::Decision;
use tollgate_core::id::{Hex, MAX_LEN};
use tollgate_core::units::{Millis, Nanos};

/// How many decisions are kept.
const KEPT: usize = 4_096;

/// Of how many requests that pass one is kept.
const SAMPLED: u64 = 64;

/// How many refusals are kept in a second.
const REFUSALS_PER_SECOND: u64 = 1_000;

/// The name of a decision. Nobody can guess another one from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DecisionId(u128);

/// A decision as it was recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// Its name.
    pub id: DecisionId,
    /// When it was made, by the wall clock.
    pub at: Millis,
    /// The application, as the request named it.
    pub app: String,
    /// The decision.
    pub decision: Decision,
    /// The span of the caller that it is part of, if the request told of one.
    pub parent: Option<TraceParent>,
}

/// Keeps the last decisions: all refusals up to a rate, and a sample of what passes.
#[derive(Debug, Default)]
pub(crate) struct Recorder {
    names: Names,
    refusals: Budget,
    records: Mutex<VecDeque<Record>>,
}

impl Recorder {
    pub(crate) fn record(
        &self,
        app: &str,
        decision: &Decision,
        parent: Option<TraceParent>,
        now: Nanos,
        at: Millis,
    ) -> DecisionId {
        let (name, count) = self.names.next();
        let id = DecisionId(name);
        let is_kept = match decision.verdict.reason() {
            Some(_) => self.refusals.spend(now),
            None => count.is_multiple_of(SAMPLED),
        };
        if is_kept {
            let app = app.chars().take(MAX_LEN).collect();
            self.keep(Record { id, at, app, decision: *decision, parent });
        }
        id
    }

    pub(crate) fn find(&self, id: DecisionId) -> Option<Record> {
        lock(&self.records).iter().rev().find(|record| record.id == id).cloned()
    }

    /// The last decisions, the latest first.
    pub(crate) fn latest(&self, most: usize) -> Vec<Record> {
        lock(&self.records).iter().rev().take(most).cloned().collect()
    }

    fn keep(&self, record: Record) {
        let mut records = lock(&self.records);
        if records.len() == KEPT {
            records.pop_front();
        }
        records.push_back(record);
    }
}

/// So many in each second, roughly: threads that meet at its turn may count into the old one.
#[derive(Debug, Default)]
struct Budget {
    second: AtomicU64,
    spent: AtomicU64,
}

impl Budget {
    fn spend(&self, now: Nanos) -> bool {
        let second = now.get() / 1_000_000_000;
        if self.second.swap(second, Ordering::Relaxed) != second {
            self.spent.store(0, Ordering::Relaxed);
        }
        self.spent.fetch_add(1, Ordering::Relaxed) < REFUSALS_PER_SECOND
    }
}

impl DecisionId {
    pub(crate) fn hex(self) -> Hex {
        Hex::of(self.0)
    }
}

impl Serialize for DecisionId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.hex().as_str())
    }
}

impl fmt::Display for DecisionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.hex().fmt(f)
    }
}

impl FromStr for DecisionId {
    type Err = NotADecision;

    fn from_str(text: &str) -> Result<Self, NotADecision> {
        let is_hex = text.len() == 32 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        if !is_hex {
            return Err(NotADecision);
        }
        u128::from_str_radix(text, 16).map(Self).map_err(|_| NotADecision)
    }
}

/// A text that is not the name of a decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotADecision;

impl fmt::Display for NotADecision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not the id of a decision, which has 32 hexadecimal digits")
    }
}

impl std::error::Error for NotADecision {}

#[cfg(test)]
mod tests {
    use super::*;
    use tollgate_core::cost::{Operation, Price};
    use tollgate_core::decision::{Tier, Verdict};
    use tollgate_core::reason::Reason;
    use tollgate_core::units::Tokens;

    fn decision(verdict: Verdict) -> Decision {
        Decision {
            verdict,
            tier: Tier::Node,
            price: Price::named(Operation::Get, 1),
            limit: Tokens::whole(9),
            remaining: Tokens::whole(8),
            retry_after: None,
            reset_after: Millis::ZERO,
            policy_version: 3,
        }
    }

    fn refused() -> Decision {
        decision(Verdict::Refused(Reason::AppExhausted))
    }

    #[test]
    fn a_refusal_is_found_by_its_name() {
        let recorder = Recorder::default();
        let id = recorder.record("app-a", &refused(), None, Nanos::ZERO, Millis::new(7));
        let record = recorder.find(id.to_string().parse().unwrap()).unwrap();
        assert_eq!((record.at, record.app.as_str()), (Millis::new(7), "app-a"));
        assert_eq!("0123".parse::<DecisionId>(), Err(NotADecision));
    }

    #[test]
    fn keeps_a_bounded_number_of_bounded_records() {
        let recorder = Recorder::default();
        let name = "x".repeat(10_000);
        let first = recorder.record(&name, &refused(), None, Nanos::ZERO, Millis::ZERO);
        assert_eq!(recorder.find(first).unwrap().app.len(), MAX_LEN);
        for second in 1..=10 {
            for _ in 0..5_000 {
                recorder.record(&name, &refused(), None, Nanos::from_secs(second), Millis::ZERO);
            }
        }
        assert_eq!(recorder.find(first), None);
        assert_eq!(recorder.latest(usize::MAX).len(), KEPT);
    }

    #[test]
    fn a_flood_of_refusals_is_sampled_and_so_is_what_passes() {
        let recorder = Recorder::default();
        for _ in 0..3_000 {
            recorder.record("a", &refused(), None, Nanos::ZERO, Millis::ZERO);
        }
        assert_eq!(recorder.latest(usize::MAX).len(), 1_000);
        for _ in 0..SAMPLED * 10 {
            recorder.record("a", &decision(Verdict::Allowed), None, Nanos::ZERO, Millis::ZERO);
        }
        assert_eq!(recorder.latest(usize::MAX).len(), 1_010);
    }
}
