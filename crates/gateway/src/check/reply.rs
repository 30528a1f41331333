//! Answers.

use bytes::Bytes;
use http::header::{ALLOW, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue, Response, StatusCode};
use http_body_util::Full;
use serde_json::{Map, Value, json};
use tollgate_core::decision::Decision;
use tollgate_node::answer::{Answer, DECISION, describe};
use tollgate_node::{DecisionId, wall};

/// An answer as it is sent.
pub(super) type Reply = Response<Full<Bytes>>;

/// A request that may pass.
pub(super) fn pass(decision: &Decision, id: Option<DecisionId>) -> Reply {
    let mut content = Map::from_iter([
        ("allowed".to_owned(), json!(true)),
        ("cost".to_owned(), json!(decision.price.cost())),
        ("remaining".to_owned(), json!(decision.remaining.floor())),
        ("limit".to_owned(), json!(decision.limit.floor())),
    ]);
    if let Some(reason) = decision.verdict.reason() {
        content.insert("shadowed".into(), json!(reason.code()));
    }
    let mut headers = HeaderMap::with_capacity(10);
    describe(decision, wall(), &mut headers);
    if let Some(id) = id.map(|id| id.to_string()) {
        if let Ok(value) = HeaderValue::from_str(&id) {
            headers.insert(DECISION, value);
        }
        content.insert("decision_id".into(), json!(id));
    }
    json_with(StatusCode::OK, &content.into(), headers)
}

/// A request that may not. A refusal by a limit gets the status that was asked for; what waiting does not change is
/// told as it is.
pub(super) fn refuse(answer: Answer, status: StatusCode) -> Reply {
    let status = if answer.status == StatusCode::TOO_MANY_REQUESTS { status } else { answer.status };
    json_with(status, &answer.body, answer.headers)
}

/// A request that makes no sense.
pub(super) fn invalid(message: &str) -> Reply {
    let answer = Answer::invalid(message);
    json_with(answer.status, &answer.body, answer.headers)
}

/// Something else.
pub(super) fn json(status: StatusCode, content: &Value) -> Reply {
    json_with(status, content, HeaderMap::with_capacity(1))
}

pub(super) fn not_found(message: &str) -> Reply {
    json(StatusCode::NOT_FOUND, &json!({"error": "not_found", "message": message}))
}

pub(super) fn wrong_method(allowed: &'static str) -> Reply {
    let content = json!({"error": "method_not_allowed", "message": format!("expected {allowed}")});
    let mut reply = json(StatusCode::METHOD_NOT_ALLOWED, &content);
    reply.headers_mut().insert(ALLOW, HeaderValue::from_static(allowed));
    reply
}

fn json_with(status: StatusCode, content: &Value, mut headers: HeaderMap) -> Reply {
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    let mut reply = Response::new(Full::new(Bytes::from(content.to_string())));
    *reply.status_mut() = status;
    *reply.headers_mut() = headers;
    reply
}
