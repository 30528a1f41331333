use crate::connection::Refused;
use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue};
use sfv::{Integer, KeyRef, ListSerializer, StringRef, key_ref, string_ref};
use std::cell::RefCell;
use std::ops::Range;
use tollgate_core::decision::{Decision, Verdict};
use tollgate_core::units::Millis;

const COST: HeaderName = HeaderName::from_static("x-ratelimit-cost");
const LIMIT: HeaderName = HeaderName::from_static("x-ratelimit-limit");
const REMAINING: HeaderName = HeaderName::from_static("x-ratelimit-remaining");
const RESET: HeaderName = HeaderName::from_static("x-ratelimit-reset");
const RATE_LIMIT: HeaderName = HeaderName::from_static("ratelimit");
const RATE_LIMIT_POLICY: HeaderName = HeaderName::from_static("ratelimit-policy");
const CONNECTION_LIMIT: HeaderName = HeaderName::from_static("x-connection-limit");
const CONNECTION_CURRENT: HeaderName = HeaderName::from_static("x-connection-current");
const CONNECTION_REMAINING: HeaderName = HeaderName::from_static("x-connection-remaining");

/// `X-Tollgate-Shadow`: the request passed although it would have been refused, for this reason.
pub const SHADOW: HeaderName = HeaderName::from_static("x-tollgate-shadow");

/// The one policy that a client is told of. It is counted in tokens, not in requests.
const POLICY: &StringRef = string_ref("app");
const UNIT: &StringRef = string_ref("tokens");
const QUOTA: &KeyRef = key_ref("q");
const QUOTA_UNIT: &KeyRef = key_ref("qu");
const LEFT: &KeyRef = key_ref("r");
const RESTORED: &KeyRef = key_ref("t");

/// Room for the longest row, in bytes: six numbers of 20 digits, and what stands between them.
const ROW: usize = 144;

/// Says in header fields what a request cost and what its application has left, at `now` by the wall clock: those that
/// have become customary, and those that the IETF is about to make a standard. An application that is not known has
/// no limit to tell of.
pub fn describe(decision: &Decision, now: Millis, headers: &mut HeaderMap) {
    // Grown at once for all of them, and for what others add.
    headers.reserve(8);
    if let Verdict::Shadowed(reason) = decision.verdict {
        headers.insert(SHADOW, HeaderValue::from_static(reason.code()));
    }
    let mut row = Row::new();
    let cost = row.number(decision.price.cost());
    if decision.limit.is_zero() {
        row.finish().tell(headers, COST, cost);
        return;
    }
    let (limit, remaining) = (decision.limit.floor(), decision.remaining.floor());
    let restored = Some(decision.reset_after).filter(|after| *after != Millis::MAX);
    let (most, left) = (row.number(limit), row.number(remaining));
    let reset = restored.map(|after| row.number(now.plus(after).ceil_secs()));
    let state = row.state(remaining, restored.map(Millis::ceil_secs));
    let row = row.finish();
    row.tell(headers, COST, cost);
    row.tell(headers, LIMIT, most);
    row.tell(headers, REMAINING, left);
    if let Some(reset) = reset {
        row.tell(headers, RESET, reset);
    }
    set(headers, RATE_LIMIT_POLICY, policy(limit));
    row.tell(headers, RATE_LIMIT, state);
}

/// The values of several fields, side by side in one piece of memory: that is less work than a piece for each.
struct Row(String);

impl Row {
    fn new() -> Self {
        Self(String::with_capacity(ROW))
    }

    fn number(&mut self, number: u64) -> Range<usize> {
        let start = self.0.len();
        self.0.push_str(itoa::Buffer::new().format(number));
        start..self.0.len()
    }

    /// What is left, and in how many seconds it will all be there again.
    fn state(&mut self, remaining: u64, restored: Option<u64>) -> Range<usize> {
        let start = self.0.len();
        let mut list = ListSerializer::with_buffer(&mut self.0);
        let told = list.bare_item(POLICY).parameter(LEFT, integer(remaining));
        if let Some(seconds) = restored {
            let _ = told.parameter(RESTORED, integer(seconds));
        }
        start..self.0.len()
    }

    fn finish(self) -> Told {
        Told(Bytes::from(self.0))
    }
}

/// A row that is complete.
struct Told(Bytes);

impl Told {
    fn tell(&self, headers: &mut HeaderMap, name: HeaderName, place: Range<usize>) {
        set(headers, name, HeaderValue::from_maybe_shared(self.0.slice(place)).ok());
    }
}

/// The policy. It is the same for request after request, so that the last one is kept.
fn policy(limit: u64) -> Option<HeaderValue> {
    thread_local! {
        static LAST: RefCell<Option<(u64, HeaderValue)>> = const { RefCell::new(None) };
    }
    LAST.with_borrow_mut(|last| match last {
        Some((of, value)) if *of == limit => Some(value.clone()),
        _ => {
            let mut policy = ListSerializer::new();
            let _ = policy.bare_item(POLICY).parameter(QUOTA, integer(limit)).parameter(QUOTA_UNIT, UNIT);
            let value = HeaderValue::try_from(policy.finish()?).ok()?;
            Some(last.insert((limit, value)).1.clone())
        }
    })
}

/// Says in header fields how many connections there are and may be.
pub fn describe_connections(refused: &Refused, headers: &mut HeaderMap) {
    headers.insert(CONNECTION_LIMIT, HeaderValue::from(refused.limit));
    headers.insert(CONNECTION_CURRENT, HeaderValue::from(refused.current));
    headers.insert(CONNECTION_REMAINING, HeaderValue::from(refused.remaining()));
}

/// The nearest number that a structured field can hold.
fn integer(number: u64) -> Integer {
    Integer::try_from(number).unwrap_or(Integer::MAX)
}

fn set(headers: &mut HeaderMap, name: HeaderName, value: Option<HeaderValue>) {
    if let Some(value) = value {
        headers.insert(name, value);
    }
}
