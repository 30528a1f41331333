//! What went wrong, as RFC 9457 has it: `application/problem+json`, with every wrong field at once.

use axum::response::{IntoResponse, Response};
use http::{HeaderValue, StatusCode, header};
use serde::Serialize;
use std::time::Duration;
use tollgate_config::{Error, Errors};
use tollgate_core::reason::Reason;
use tollgate_ledger::LedgerError;
use tollgate_ledger::protocol::Refusal;
use utoipa::ToSchema;

/// What went wrong with a call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub(crate) struct Problem {
    /// What kind of problem it is, for programs: `urn:tollgate:problem:` and a code.
    #[serde(rename = "type", serialize_with = "urn")]
    #[schema(value_type = String, example = "urn:tollgate:problem:config_validation_failed")]
    code: &'static str,
    /// The same for people.
    #[schema(value_type = String)]
    title: &'static str,
    /// The status of the response.
    status: u16,
    /// What is special about this case.
    #[serde(skip_serializing_if = "Option::is_none")]
    detail: Option<String>,
    /// Everything that is wrong with the call, field by field.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    errors: Vec<FieldError>,
    /// How many tokens the ledger would not have refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    available: Option<u64>,
    /// Seconds to wait before trying again.
    #[serde(skip_serializing_if = "Option::is_none")]
    retry_after: Option<u64>,
}

/// What is wrong with one field.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub(crate) struct FieldError {
    /// Which field, like `cost.base.GET`; empty for the body as a whole.
    pub(crate) path: String,
    /// What kind of mistake it is, for programs.
    pub(crate) kind: String,
    /// What kind of mistake it is, for people.
    pub(crate) message: String,
    /// The value as it was sent, shortened.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) value: Option<String>,
    /// What would be accepted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) expected: Option<String>,
}

impl FieldError {
    pub(crate) fn new(
        path: &str,
        kind: &str,
        message: impl Into<String>,
        expected: impl Into<String>,
    ) -> Self {
        Self {
            path: path.into(),
            kind: kind.into(),
            message: message.into(),
            value: None,
            expected: Some(expected.into()),
        }
    }

    #[must_use]
    pub(crate) fn with_value(mut self, value: u64) -> Self {
        self.value = Some(value.to_string());
        self
    }
}

impl From<&Error> for FieldError {
    fn from(error: &Error) -> Self {
        Self {
            path: error.path.clone(),
            kind: error.problem.kind().into(),
            message: error.problem.to_string(),
            value: error.value.clone(),
            expected: error.expected.clone(),
        }
    }
}

impl Problem {
    pub(crate) fn new(status: StatusCode, code: &'static str, title: &'static str) -> Self {
        Self {
            code,
            title,
            status: status.as_u16(),
            detail: None,
            errors: Vec::new(),
            available: None,
            retry_after: None,
        }
    }

    #[must_use]
    pub(crate) fn detail(mut self, detail: impl Into<String>) -> Self {
        self.detail = Some(detail.into());
        self
    }

    /// The call itself is wrong.
    pub(crate) fn invalid(errors: Vec<FieldError>) -> Self {
        let problem =
            Self::new(StatusCode::BAD_REQUEST, "config_validation_failed", "the request is not valid");
        Self { errors, ..problem }
    }

    /// The call cannot be read at all.
    pub(crate) fn malformed(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "malformed", "the request cannot be read").detail(detail)
    }

    /// Nobody knows who is calling.
    pub(crate) fn unauthorized(detail: &str) -> Self {
        Self::new(StatusCode::UNAUTHORIZED, "unauthorized", "who is calling is not known").detail(detail)
    }

    /// The caller may not do that.
    pub(crate) fn forbidden(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::FORBIDDEN, "forbidden", "the caller may not do this").detail(detail)
    }

    /// There is no such thing.
    pub(crate) fn not_found(what: &str, name: &str) -> Self {
        Self::nothing_there().detail(format!("no {what} is called {name:?}"))
    }

    /// The same, of something that has no name.
    pub(crate) fn nothing_there() -> Self {
        Self::new(StatusCode::NOT_FOUND, "not_found", "there is no such thing")
    }

    /// Something is in the way.
    pub(crate) fn conflict(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::CONFLICT, "conflict", "something else is in the way").detail(detail)
    }

    /// The ledger does not give what was asked for.
    pub(crate) fn refused(refusal: &Refusal) -> Self {
        let title = match refusal.reason {
            Reason::BorrowLimitExceeded => "the application may not borrow that much",
            Reason::ClusterInsufficient => "the cluster has not that much to lend",
            Reason::EmergencyQuotaExceeded => "nothing is lent in an emergency",
            _ => "the tokens are not there",
        };
        let available = refusal.available.floor();
        let problem = Self::new(StatusCode::CONFLICT, refusal.reason.code(), title);
        Self { available: Some(available), ..problem }.detail(format!("{title}: at most {available} now"))
    }

    /// Somebody else was faster.
    pub(crate) fn changed_meanwhile(now: &str) -> Self {
        Self::new(StatusCode::PRECONDITION_FAILED, "changed_meanwhile", "it has changed meanwhile")
            .detail(format!("its entity tag is {now} now: read it again and decide anew"))
    }

    /// There were too many calls.
    pub(crate) fn too_many(wait: Option<Duration>) -> Self {
        let seconds = wait.map_or(1, |wait| wait.as_secs() + u64::from(wait.subsec_nanos() > 0)).max(1);
        let problem = Self::new(StatusCode::TOO_MANY_REQUESTS, "too_many_requests", "too many requests");
        Self { retry_after: Some(seconds), ..problem }
    }

    /// Something of ours is out of reach.
    pub(crate) fn unavailable(detail: impl Into<String>) -> Self {
        let problem =
            Self::new(StatusCode::SERVICE_UNAVAILABLE, "unavailable", "something needed is out of reach");
        Self { retry_after: Some(1), ..problem.detail(detail) }
    }

    pub(crate) fn status(&self) -> StatusCode {
        StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
    }

    pub(crate) fn errors(&self) -> &[FieldError] {
        &self.errors
    }
}

/// What is special about the case, or else what kind of problem it is.
impl std::fmt::Display for Problem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let first = self.errors.first().map(|error| &error.message);
        f.write_str(self.detail.as_ref().or(first).map_or(self.title, String::as_str))
    }
}

impl From<Errors> for Problem {
    fn from(errors: Errors) -> Self {
        Self::invalid(errors.iter().map(FieldError::from).collect())
    }
}

impl From<crate::store::StoreError> for Problem {
    fn from(error: crate::store::StoreError) -> Self {
        tracing::error!(%error, "the control plane's database failed");
        // What the database says may tell more than callers should know.
        Self::unavailable("the database of the control plane")
    }
}

impl From<crate::secret::NoRandomness> for Problem {
    fn from(error: crate::secret::NoRandomness) -> Self {
        Self::unavailable(error.to_string())
    }
}

impl From<LedgerError> for Problem {
    fn from(error: LedgerError) -> Self {
        match &error {
            LedgerError::UnknownApp => Self::nothing_there(),
            LedgerError::Conflict(version) => Self::changed_meanwhile(&format!("\"{version}\"")),
            LedgerError::Overpromised(left) => Self::invalid(vec![overpromised(left.floor())]),
            LedgerError::Refused(refusal) => Self::refused(refusal),
            _ => Self::unavailable(error.to_string()),
        }
    }
}

fn urn<S: serde::Serializer>(code: &&'static str, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&format_args!("urn:tollgate:problem:{code}"))
}

/// A guarantee for which there is no room.
pub(crate) fn overpromised(left: u64) -> FieldError {
    let message = "the guarantees on the cluster would add up to more than 90 % of its capacity";
    FieldError::new("guaranteed_quota", "conflict", message, format!("at most {left}"))
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let body = serde_json::to_vec(&self).unwrap_or_default();
        let mut response = (self.status(), body).into_response();
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        if self.status() == StatusCode::UNAUTHORIZED {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer realm=\"tollgate\""));
        }
        if let Some(seconds) = self.retry_after {
            headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        response
    }
}
