//! What a client is told about a decision: status, header fields and JSON, the same at every door.

mod fields;

pub use fields::{SHADOW, describe, describe_connections};

use crate::connection;
use crate::explain::DecisionId;
use http::header::{CONTENT_TYPE, RETRY_AFTER};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use serde_json::{Value, json};
use tollgate_core::decision::Decision;
use tollgate_core::reason::{Blame, Reason};
use tollgate_core::units::Millis;
use tollgate_ledger::LedgerError;

/// `X-Tollgate-Decision`: by this name a decision can be asked about later.
pub const DECISION: HeaderName = HeaderName::from_static("x-tollgate-decision");

/// `X-Tollgate-Reason`: why a request was refused, for proxies that do not pass the content on.
pub const REASON: HeaderName = HeaderName::from_static("x-tollgate-reason");

/// The answer to a request that may not pass.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The status.
    pub status: StatusCode,
    /// The header fields, the type of the content included.
    pub headers: HeaderMap,
    /// The content.
    pub body: Value,
    /// Why.
    pub reason: Reason,
}

impl Answer {
    /// The answer to a request that was refused at `now` by the wall clock. A decision that was recorded has a name.
    pub fn refusal(decision: &Decision, id: Option<DecisionId>, now: Millis) -> Self {
        let reason = decision.verdict.reason().unwrap_or(Reason::InvalidInput);
        let mut answer = Self::new(reason, decision.retry_after);
        describe(decision, now, &mut answer.headers);
        answer.say("remaining", decision.remaining.floor());
        answer.say("cost", decision.price.cost());
        answer.say("limit", decision.limit.floor());
        if let Some(id) = id {
            answer.name(id);
        }
        answer
    }

    /// The answer to a request whose connection was refused.
    pub fn connection(refused: &connection::Refused) -> Self {
        let mut answer = Self::new(refused.reason, refused.retry_after);
        describe_connections(refused, &mut answer.headers);
        answer.say("remaining", refused.remaining());
        answer.say("cost", 0);
        answer.say("limit", refused.limit);
        answer.say("current", refused.current);
        answer
    }

    /// The answer to a request that makes no sense.
    pub fn invalid(message: &str) -> Self {
        let mut answer = Self::new(Reason::InvalidInput, None);
        answer.say("message", message);
        answer
    }

    /// The answer to a call that the ledger could not carry out: it may succeed if it is made again.
    pub fn unsettled(error: &LedgerError) -> Self {
        let reason = match error {
            LedgerError::Timeout => Reason::RedisTimeout,
            _ => Reason::RedisConnectionFailed,
        };
        Self::new(reason, Some(Millis::from_secs(1)))
    }

    /// The content as it is sent.
    pub fn content(&self) -> String {
        self.body.to_string()
    }

    fn new(reason: Reason, retry_after: Option<Millis>) -> Self {
        let retry_after = retry_after.map(retry_seconds);
        let mut headers = HeaderMap::with_capacity(12);
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(REASON, HeaderValue::from_static(reason.code()));
        if let Some(seconds) = retry_after {
            headers.insert(RETRY_AFTER, HeaderValue::from(seconds));
        }
        let body = json!({"error": error_of(reason), "reason": reason.code(), "retry_after": retry_after, "cost": 0});
        Self { status: status_of(reason), headers, body, reason }
    }

    fn say(&mut self, key: &str, value: impl Into<Value>) {
        if let Some(map) = self.body.as_object_mut() {
            map.insert(key.to_owned(), value.into());
        }
    }

    fn name(&mut self, id: DecisionId) {
        let id = id.to_string();
        if let Ok(value) = HeaderValue::from_str(&id) {
            self.headers.insert(DECISION, value);
        }
        self.say("decision_id", id);
    }
}

/// The status that tells a client of a refusal. Trouble of ours is no fault of the client's, and no failure of the service behind us
/// either: it is asked to come back.
pub const fn status_of(reason: Reason) -> StatusCode {
    match reason {
        Reason::InvalidInput | Reason::ConfigValidationFailed => StatusCode::BAD_REQUEST,
        Reason::UnknownApp | Reason::AppDisabled => StatusCode::FORBIDDEN,
        _ => StatusCode::TOO_MANY_REQUESTS,
    }
}

/// The kind of a refusal, in one word.
pub const fn error_of(reason: Reason) -> &'static str {
    match reason {
        Reason::AppLimitExceeded | Reason::ClusterLimitExceeded => "connection_limit_exceeded",
        Reason::InvalidInput => "invalid_request",
        _ => match reason.blame() {
            Blame::Caller => "request_refused",
            Blame::Limit | Blame::Service => "rate_limit_exceeded",
        },
    }
}

/// Whole seconds, rounded up and at least one: whoever comes back then is not early.
pub fn retry_seconds(wait: Millis) -> u64 {
    wait.ceil_secs().max(1)
}

#[cfg(test)]
mod tests;
