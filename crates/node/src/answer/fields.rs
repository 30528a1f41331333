use crate::connection::Refused;
use http::{HeaderMap, HeaderName, HeaderValue};
use sfv::{Integer, KeyRef, ListSerializer, ParameterSerializer, StringRef, key_ref, string_ref};
use std::borrow::BorrowMut;
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
const PARTITION: &KeyRef = key_ref("pk");

/// Says in header fields what a request cost and what its application has left, at `now` by the wall clock: those that
/// have become customary, and those that the IETF is about to make a standard. An application that is not known has
/// no limit to tell of; `app` is empty where nobody knows any more whose the limit was.
pub fn describe(app: &str, decision: &Decision, now: Millis, headers: &mut HeaderMap) {
    // Grown at once for all of them, and for what others add.
    headers.reserve(8);
    if let Verdict::Shadowed(reason) = decision.verdict {
        headers.insert(SHADOW, HeaderValue::from_static(reason.code()));
    }
    LAST.with_borrow_mut(|last| last.describe(app, decision, now, headers));
}

thread_local! {
    static LAST: RefCell<Last> = const { RefCell::new(Last::NOTHING) };
}

/// What was told last. Most of it is the same for request after request, and of one that is refused all of it.
struct Last {
    /// Whose the policy and the state are.
    app: String,
    cost: Kept<u64>,
    limit: Kept<u64>,
    policy: Kept<u64>,
    remaining: Kept<u64>,
    reset: Kept<u64>,
    state: Kept<(u64, Option<u64>)>,
}

impl Last {
    const NOTHING: Self = Self {
        app: String::new(),
        cost: Kept(None),
        limit: Kept(None),
        policy: Kept(None),
        remaining: Kept(None),
        reset: Kept(None),
        state: Kept(None),
    };

    fn describe(&mut self, app: &str, decision: &Decision, now: Millis, headers: &mut HeaderMap) {
        let number = |number: u64| Some(HeaderValue::from(number));
        set(headers, COST, self.cost.of(decision.price.cost(), number));
        if decision.limit.is_zero() {
            return;
        }
        let (limit, remaining) = (decision.limit.floor(), decision.remaining.floor());
        let restored = Some(decision.reset_after).filter(|after| *after != Millis::MAX);
        set(headers, LIMIT, self.limit.of(limit, number));
        set(headers, REMAINING, self.remaining.of(remaining, number));
        if let Some(after) = restored {
            set(headers, RESET, self.reset.of(now.plus(after).ceil_secs(), number));
        }
        self.speak_of(app);
        set(headers, RATE_LIMIT_POLICY, self.policy.of(limit, |limit| policy(app, limit)));
        let left = (remaining, restored.map(Millis::ceil_secs));
        set(headers, RATE_LIMIT, self.state.of(left, |left| state(app, left)));
    }

    /// What was told of another application does not hold for this one.
    fn speak_of(&mut self, app: &str) {
        if self.app != app {
            app.clone_into(&mut self.app);
            (self.policy, self.state) = (Kept(None), Kept(None));
        }
    }
}

/// The value of a field that was made last, and of what.
struct Kept<K>(Option<(K, HeaderValue)>);

impl<K: Copy + PartialEq> Kept<K> {
    fn of(&mut self, what: K, make: impl FnOnce(K) -> Option<HeaderValue>) -> Option<HeaderValue> {
        match &self.0 {
            Some((of, value)) if *of == what => Some(value.clone()),
            _ => Some(self.0.insert((what, make(what)?)).1.clone()),
        }
    }
}

/// How much there is for all requests of an application together.
fn policy(app: &str, limit: u64) -> Option<HeaderValue> {
    let mut policy = ListSerializer::new();
    let told = policy.bare_item(POLICY).parameter(QUOTA, integer(limit)).parameter(QUOTA_UNIT, UNIT);
    tell_whose(told, app);
    HeaderValue::try_from(policy.finish()?).ok()
}

/// What is left, and in how many seconds it will all be there again.
fn state(app: &str, (remaining, restored): (u64, Option<u64>)) -> Option<HeaderValue> {
    let mut state = ListSerializer::new();
    let mut told = state.bare_item(POLICY).parameter(LEFT, integer(remaining));
    if let Some(seconds) = restored {
        told = told.parameter(RESTORED, integer(seconds));
    }
    tell_whose(told, app);
    HeaderValue::try_from(state.finish()?).ok()
}

fn tell_whose<W: BorrowMut<String>>(told: ParameterSerializer<W>, app: &str) {
    if !app.is_empty() {
        let _ = told.parameter(PARTITION, app.as_bytes());
    }
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
