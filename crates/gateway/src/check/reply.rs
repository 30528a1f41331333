//! Answers.

use bytes::Bytes;
use http::header::{ALLOW, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue, Response, StatusCode};
use http_body_util::Full;
use serde_json::{Map, Value, json};
use tollgate_core::decision::Decision;
use tollgate_node::answer::{self, Answer, describe};
use tollgate_node::{DecisionId, wall};

/// An answer as it is sent.
pub(super) type Reply = Response<Full<Bytes>>;

/// A request that may pass.
pub(super) fn pass(app: &str, decision: &Decision, id: Option<DecisionId>) -> Reply {
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
    describe(app, decision, wall(), &mut headers);
    if let Some(id) = id {
        answer::name(id, &mut headers);
        content.insert("decision_id".into(), json!(id.to_string()));
    }
    with_content(StatusCode::OK, Value::from(content).to_string(), headers)
}

/// A request that may not. A refusal by a limit gets the status that was asked for; what waiting does not change is
/// told as it is.
pub(super) fn refuse(answer: Answer, status: StatusCode) -> Reply {
    let status = if answer.status == StatusCode::TOO_MANY_REQUESTS { status } else { answer.status };
    with_content(status, answer.content.json(), answer.headers)
}

/// A request that makes no sense.
pub(super) fn invalid(message: &str) -> Reply {
    let answer = Answer::invalid(message);
    with_content(answer.status, answer.content.json(), answer.headers)
}

/// Something else.
pub(super) fn json(status: StatusCode, content: &Value) -> Reply {
    with_content(status, content.to_string(), HeaderMap::with_capacity(1))
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

fn with_content(status: StatusCode, content: impl Into<Bytes>, mut headers: HeaderMap) -> Reply {
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    let mut reply = Response::new(Full::new(content.into()));
    *reply.status_mut() = status;
    *reply.headers_mut() = headers;
    reply
}
