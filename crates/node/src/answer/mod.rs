//! What a client is told about a decision: status, header fields and JSON, the same at every door.

mod fields;

pub use fields::{SHADOW, describe, describe_connections};

use crate::connection;
use crate::explain::DecisionId;
use http::header::{CONTENT_TYPE, RETRY_AFTER};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use serde_json::Value;
use tollgate_core::decision::Decision;
use tollgate_core::id::Hex;
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
    pub content: Content,
    /// Why.
    pub reason: Reason,
}

/// The content of an answer, told as JSON.
#[derive(Clone, Debug, Default)]
pub struct Content {
    error: &'static str,
    reason: &'static str,
    retry_after: Option<u64>,
    cost: u64,
    remaining: Option<u64>,
    limit: Option<u64>,
    current: Option<u64>,
    message: Option<String>,
    decision_id: Option<Hex>,
}

impl Answer {
    /// The answer to a request that was refused at `now` by the wall clock. A decision that was recorded has a name.
    pub fn refusal(app: &str, decision: &Decision, id: Option<DecisionId>, now: Millis) -> Self {
        let reason = decision.verdict.reason().unwrap_or(Reason::InvalidInput);
        let mut answer = Self::new(reason, decision.retry_after);
        describe(app, decision, now, &mut answer.headers);
        answer.content.remaining = Some(decision.remaining.floor());
        answer.content.cost = decision.price.cost();
        answer.content.limit = Some(decision.limit.floor());
        answer.named(id)
    }

    /// The answer to a request whose connection was refused. A decision that was recorded has a name.
    pub fn connection(refused: &connection::Refused, id: Option<DecisionId>) -> Self {
        let mut answer = Self::new(refused.reason, refused.retry_after);
        describe_connections(refused, &mut answer.headers);
        answer.content.remaining = Some(refused.remaining());
        answer.content.limit = Some(refused.limit);
        answer.content.current = Some(refused.current);
        answer.named(id)
    }

    /// The answer to a request that makes no sense.
    pub fn invalid(message: &str) -> Self {
        let mut answer = Self::new(Reason::InvalidInput, None);
        answer.content.message = Some(message.to_owned());
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

    fn named(mut self, id: Option<DecisionId>) -> Self {
        if let Some(digits) = id.map(DecisionId::hex) {
            self.content.decision_id = Some(digits);
            set_name(digits, &mut self.headers);
        }
        self
    }

    fn new(reason: Reason, retry_after: Option<Millis>) -> Self {
        let retry_after = retry_after.map(retry_seconds);
        let mut headers = HeaderMap::with_capacity(12);
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(REASON, HeaderValue::from_static(reason.code()));
        if let Some(seconds) = retry_after {
            headers.insert(RETRY_AFTER, HeaderValue::from(seconds));
        }
        let content =
            Content { error: error_of(reason), reason: reason.code(), retry_after, ..Content::default() };
        Self { status: status_of(reason), headers, content, reason }
    }
}

impl Content {
    /// As it is sent. Every refusal has one, and but for the message it is made of numbers and plain words: these are
    /// put down as they are.
    pub fn json(&self) -> Vec<u8> {
        let mut text = String::with_capacity(CONTENT);
        text.push_str("{\"error\":\"");
        text.push_str(self.error);
        text.push_str("\",\"reason\":\"");
        text.push_str(self.reason);
        text.push_str("\",\"retry_after\":");
        match self.retry_after {
            Some(seconds) => push_number(&mut text, seconds),
            None => text.push_str("null"),
        }
        let numbers = [
            (",\"cost\":", Some(self.cost)),
            (",\"remaining\":", self.remaining),
            (",\"limit\":", self.limit),
            (",\"current\":", self.current),
        ];
        for (key, number) in numbers {
            if let Some(number) = number {
                text.push_str(key);
                push_number(&mut text, number);
            }
        }
        if let Some(message) = &self.message {
            text.push_str(",\"message\":");
            text.push_str(&Value::from(message.as_str()).to_string());
        }
        if let Some(id) = self.decision_id {
            text.push_str(",\"decision_id\":\"");
            text.push_str(id.as_str());
            text.push('"');
        }
        text.push('}');
        text.into()
    }
}

/// Room for a content without a message, in bytes.
const CONTENT: usize = 256;

fn push_number(text: &mut String, number: u64) {
    text.push_str(itoa::Buffer::new().format(number));
}

/// Says in a header field by which name a decision can be asked about.
pub fn name(id: DecisionId, headers: &mut HeaderMap) {
    set_name(id.hex(), headers);
}

fn set_name(digits: Hex, headers: &mut HeaderMap) {
    if let Ok(value) = HeaderValue::from_str(digits.as_str()) {
        headers.insert(DECISION, value);
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
