use crate::connection::Refused;
use http::{HeaderMap, HeaderName, HeaderValue};
use sfv::{Integer, KeyRef, ListSerializer, StringRef, key_ref, string_ref};
use std::cell::RefCell;
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

/// Says in header fields what a request cost and what its application has left, at `now` by the wall clock: those that
/// have become customary, and those that the IETF is about to make a standard. An application that is not known has
/// no limit to tell of.
pub fn describe(decision: &Decision, now: Millis, headers: &mut HeaderMap) {
    // Grown at once for all of them, and for what others add.
    headers.reserve(8);
    headers.insert(COST, HeaderValue::from(decision.price.cost()));
    if let Verdict::Shadowed(reason) = decision.verdict {
        headers.insert(SHADOW, HeaderValue::from_static(reason.code()));
    }
    if decision.limit.is_zero() {
        return;
    }
    let (limit, remaining) = (decision.limit.floor(), decision.remaining.floor());
    headers.insert(LIMIT, HeaderValue::from(limit));
    headers.insert(REMAINING, HeaderValue::from(remaining));
    let is_restored = decision.reset_after != Millis::MAX;
    if is_restored {
        headers.insert(RESET, HeaderValue::from(now.plus(decision.reset_after).ceil_secs()));
    }
    set(headers, RATE_LIMIT_POLICY, policy(limit));
    let mut state = ListSerializer::new();
    let told = state.bare_item(POLICY).parameter(LEFT, integer(remaining));
    if is_restored {
        let _ = told.parameter(RESTORED, integer(decision.reset_after.ceil_secs()));
    }
    set(headers, RATE_LIMIT, state.finish().and_then(|text| HeaderValue::try_from(text).ok()));
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
