//! What Envoy is told about a call.

use crate::api::{Code, DescriptorStatus, HeaderValue, RateLimit, RateLimitResponse, Unit};
use crate::verdicts::Held;
use http::HeaderMap;
use prost_types::value::Kind;
use prost_types::{Struct, Value};
use tollgate_config::rls::Headers;
use tollgate_core::decision::Decision;
use tollgate_core::id::AppId;
use tollgate_core::units::{Millis, Rate};
use tollgate_node::answer::{self, Answer};
use tollgate_node::{DecisionId, wall};

/// A decision that speaks for the whole call.
pub(crate) struct Spokesman<'a> {
    /// As the call names it.
    pub(crate) app: &'a str,
    /// Who pays, if anybody does: whose the numbers are that clients are told.
    pub(crate) payer: Option<AppId>,
    pub(crate) decision: Decision,
    /// By which it can be asked about later.
    pub(crate) id: Option<DecisionId>,
}

/// What one descriptor is told. `rate` is what its application was promised.
pub(crate) fn status(held: &Held, app: &str, rate: Rate) -> DescriptorStatus {
    let code = match held {
        Held::Free | Held::Paid(_) | Held::Seen(_) => Code::Ok,
        Held::Refused(_) => Code::OverLimit,
        Held::Unasked(_) => Code::Unknown,
    };
    let Some(decision) = held.decision() else {
        return DescriptorStatus { code: code.into(), ..Default::default() };
    };
    let limit =
        RateLimit { requests_per_unit: clamp(rate.floor()), unit: Unit::Second.into(), name: app.to_owned() };
    DescriptorStatus {
        code: code.into(),
        current_limit: (!rate.is_zero()).then_some(limit),
        limit_remaining: clamp(decision.remaining.floor()),
        duration_until_reset: (decision.reset_after != Millis::MAX).then(|| duration(decision.reset_after)),
    }
}

/// The answer to a call. Every call has a spokesman, unless nothing limits it.
pub(crate) fn response(
    statuses: Vec<DescriptorStatus>,
    spokesman: Option<&Spokesman<'_>>,
    told: Headers,
) -> RateLimitResponse {
    let mut response = RateLimitResponse { overall_code: Code::Ok.into(), statuses, ..Default::default() };
    let Some(spokesman) = spokesman else { return response };
    let decision = &spokesman.decision;
    let is_told = match told {
        Headers::Always => true,
        Headers::Refused => decision.verdict.reason().is_some(),
        Headers::Never => false,
    };
    response.dynamic_metadata = metadata(spokesman);
    let payer = spokesman.payer.as_deref().unwrap_or_default();
    let headers = if decision.verdict.passes() {
        let mut headers = HeaderMap::new();
        if is_told {
            answer::describe(payer, decision, wall(), &mut headers);
        }
        headers
    } else {
        let answer = Answer::refusal(payer, decision, spokesman.id, wall());
        response.overall_code = Code::OverLimit.into();
        response.raw_body = answer.content.json();
        answer.headers
    };
    if is_told {
        response.response_headers_to_add = fields(&headers);
    }
    response
}

fn fields(headers: &HeaderMap) -> Vec<HeaderValue> {
    let field = |(name, value): (&http::HeaderName, &http::HeaderValue)| {
        Some(HeaderValue { key: name.as_str().to_owned(), value: value.to_str().ok()?.to_owned() })
    };
    headers.iter().filter_map(field).collect()
}

/// Why a call was refused, or would have been, for the filters that come next and for access logs.
fn metadata(spokesman: &Spokesman<'_>) -> Option<Struct> {
    let Spokesman { app, decision, id, .. } = spokesman;
    let reason = decision.verdict.reason()?;
    let text = |text: &str| Kind::StringValue(text.to_owned());
    #[allow(clippy::cast_precision_loss, reason = "numbers of a Struct are doubles")]
    let number = |number: u64| Kind::NumberValue(number as f64);
    let mut fields = vec![
        ("app", text(app)),
        ("reason", text(reason.code())),
        ("tier", text(decision.tier.name())),
        ("cost", number(decision.price.cost())),
        ("remaining", number(decision.remaining.floor())),
        ("shadow", Kind::BoolValue(decision.verdict.passes())),
    ];
    fields.extend(decision.retry_after.map(|wait| ("retry_after_ms", number(wait.get()))));
    fields.extend(id.map(|id| ("decision_id", text(&id.to_string()))));
    let named = |(name, kind): (&str, Kind)| (name.to_owned(), Value { kind: Some(kind) });
    Some(Struct { fields: fields.into_iter().map(named).collect() })
}

fn duration(time: Millis) -> prost_types::Duration {
    prost_types::Duration {
        seconds: i64::try_from(time.get() / 1_000).unwrap_or(i64::MAX),
        nanos: i32::try_from(time.get() % 1_000 * 1_000_000).unwrap_or(0),
    }
}

fn clamp(number: u64) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}
