//! The limiter library, used as a web server would.

use super::table::{Side, Table, grouped};
use serde_json::{Value, json};
use std::time::Duration;
use tollgate_limiter::{Error, Limit, Limiter, ManualClock};

const HEADING: &str = "The limiter library refuses, and says when to come back";

const NOTE: &str = "\
Each customer may make 4 requests a second, and 3 at once. customer-17 asks too often, waits as long as it was told,
and is let through; customer-18 notices nothing.";

const RATE: u64 = 4;
const BURST: u64 = 3;

/// A request: who asks, after what pause.
const REQUESTS: [(&str, Pause); 8] = [
    ("customer-17", Pause::Millis(0)),
    ("customer-17", Pause::Millis(0)),
    ("customer-17", Pause::Millis(0)),
    ("customer-17", Pause::Millis(100)),
    ("customer-18", Pause::Millis(0)),
    ("customer-17", Pause::AsTold),
    ("customer-17", Pause::Millis(0)),
    ("customer-17", Pause::AsTold),
];

#[derive(Clone, Copy)]
enum Pause {
    Millis(u64),
    /// As long as the last refusal said.
    AsTold,
}

/// A request and the answer to it.
pub(super) struct Visit {
    at: Duration,
    key: &'static str,
    allowed: bool,
    remaining: u64,
    retry_after: Duration,
}

/// Makes the requests.
pub(super) fn demonstrate() -> Result<Vec<Visit>, Error> {
    let clock = ManualClock::default();
    let limiter = Limiter::builder().max_keys(1_000).build_with_clock(clock.clone());
    let limit = Limit::new(RATE, BURST)?;
    let (mut at, mut told) = (Duration::ZERO, Duration::ZERO);
    let visit = |(key, pause): (&'static str, Pause)| {
        let pause = match pause {
            Pause::Millis(millis) => Duration::from_millis(millis),
            Pause::AsTold => told,
        };
        clock.advance(pause);
        at += pause;
        let answer = limiter.allow(key, &limit)?;
        let retry_after = answer.retry_after().unwrap_or(Duration::MAX);
        if !answer.is_allowed() {
            told = retry_after;
        }
        Ok(Visit { at, key, allowed: answer.is_allowed(), remaining: answer.remaining(), retry_after })
    };
    REQUESTS.into_iter().map(visit).collect()
}

/// The visits as a table.
pub(super) fn to_text(visits: &[Visit]) -> String {
    let (left, right) = (Side::Left, Side::Right);
    let mut table = Table::new(vec![right, left, left, right, right]);
    table.row(["at", "key", "answer", "left", "retry after"]);
    for visit in visits {
        let answer = if visit.allowed { "allowed" } else { "refused" };
        let retry_after = if visit.allowed { String::new() } else { shown(visit.retry_after) };
        let cells = [shown(visit.at), visit.key.into(), answer.into(), grouped(visit.remaining), retry_after];
        table.row(cells);
    }
    format!("{HEADING}\n{NOTE}\n\n{}", table.to_text())
}

fn shown(time: Duration) -> String {
    format!("{} ms", time.as_millis())
}

impl Visit {
    /// The visit for programs.
    pub(super) fn to_value(&self) -> Value {
        json!({
            "at_ms": self.at.as_millis(),
            "key": self.key,
            "allowed": self.allowed,
            "remaining": self.remaining,
            "retry_after_ms": self.retry_after.as_millis(),
        })
    }
}
