use super::*;
use proptest::prelude::*;
use serde_json::json;
use sfv::{BareItem, List, ListEntry, Parser};
use tollgate_core::cost::{Operation, Price};
use tollgate_core::decision::{Tier, Verdict};
use tollgate_core::units::Tokens;

const NOW: Millis = Millis::new(1_704_067_259_001);

fn decision(verdict: Verdict) -> Decision {
    Decision {
        verdict,
        tier: Tier::App,
        price: Price::named(Operation::Put, 17),
        limit: Tokens::whole(80_000),
        remaining: Tokens::from_micros(3_999_999),
        retry_after: Some(Millis::new(1)),
        reset_after: Millis::new(500),
        policy_version: 3,
    }
}

fn field<'a>(headers: &'a HeaderMap, name: &str) -> &'a str {
    headers.get(name).map_or("", |value| value.to_str().unwrap())
}

fn content(answer: &Answer) -> Value {
    serde_json::from_slice(&answer.content.json()).unwrap()
}

#[test]
fn a_refusal_says_why_and_when_to_come_back() {
    let answer = Answer::refusal("app-a", &decision(Verdict::Refused(Reason::AppExhausted)), None, NOW);
    assert_eq!(answer.status, 429);
    assert_eq!(
        content(&answer),
        json!({"error": "rate_limit_exceeded", "reason": "app_exhausted", "retry_after": 1, "remaining": 3,
               "cost": 17, "limit": 80_000})
    );
    let told = |name| field(&answer.headers, name);
    assert_eq!(told("x-ratelimit-cost"), "17");
    assert_eq!(told("x-ratelimit-limit"), "80000");
    assert_eq!(told("x-ratelimit-remaining"), "3");
    assert_eq!(told("x-ratelimit-reset"), "1704067260");
    assert_eq!(told("retry-after"), "1");
    assert_eq!(told("ratelimit-policy"), r#""app";q=80000;qu="tokens";pk=:YXBwLWE=:"#);
    assert_eq!(told("ratelimit"), r#""app";r=3;t=1;pk=:YXBwLWE=:"#);
    assert_eq!(told("content-type"), "application/json");
}

#[test]
fn the_fields_name_the_application_that_they_are_about() {
    // In turns, as what was told last is remembered.
    for (app, partition) in
        [("app-a", "YXBwLWE="), ("app-b", "YXBwLWI="), ("app-b", "YXBwLWI="), ("app-a", "YXBwLWE=")]
    {
        let mut headers = HeaderMap::new();
        describe(app, &decision(Verdict::Allowed), NOW, &mut headers);
        for name in ["ratelimit-policy", "ratelimit"] {
            assert!(field(&headers, name).ends_with(&format!(";pk=:{partition}:")), "{headers:?}");
        }
    }
    let mut headers = HeaderMap::new();
    describe("", &decision(Verdict::Allowed), NOW, &mut headers);
    assert_eq!(field(&headers, "ratelimit-policy"), r#""app";q=80000;qu="tokens""#);
}

#[test]
fn where_waiting_does_not_help_nobody_is_told_to() {
    let never = Decision { retry_after: None, ..decision(Verdict::Refused(Reason::AppDisabled)) };
    let answer = Answer::refusal("app-a", &never, None, NOW);
    assert_eq!((answer.status.as_u16(), &content(&answer)["retry_after"]), (403, &Value::Null));
    assert!(!answer.headers.contains_key(RETRY_AFTER));
}

#[test]
fn a_stranger_is_told_no_limit() {
    let unknown = Decision { limit: Tokens::ZERO, ..decision(Verdict::Refused(Reason::UnknownApp)) };
    let answer = Answer::refusal("app-a", &unknown, None, NOW);
    assert_eq!(answer.status, 403);
    assert!(!answer.headers.contains_key("ratelimit") && !answer.headers.contains_key("x-ratelimit-limit"));
}

#[test]
fn shadow_mode_is_marked_and_nothing_else_is() {
    let mut headers = HeaderMap::new();
    describe("app-a", &decision(Verdict::Allowed), NOW, &mut headers);
    assert!(!headers.contains_key(SHADOW) && !headers.contains_key(RETRY_AFTER));
    describe("app-a", &decision(Verdict::Shadowed(Reason::ClusterExhausted)), NOW, &mut headers);
    assert_eq!(field(&headers, "x-tollgate-shadow"), "cluster_exhausted");
}

#[test]
fn a_connection_is_refused_with_its_numbers() {
    let refused = connection::Refused {
        reason: Reason::AppLimitExceeded,
        limit: 1_000,
        current: 1_200,
        retry_after: Some(Millis::from_secs(1)),
    };
    let answer = Answer::connection(&refused, None);
    assert_eq!((answer.status.as_u16(), field(&answer.headers, "retry-after")), (429, "1"));
    assert_eq!(field(&answer.headers, "x-connection-limit"), "1000");
    assert_eq!(field(&answer.headers, "x-connection-current"), "1200");
    assert_eq!(field(&answer.headers, "x-connection-remaining"), "0");
    assert_eq!(content(&answer)["error"], "connection_limit_exceeded");
    assert_eq!(content(&answer)["reason"], "app_limit_exceeded");
}

#[test]
fn no_reason_is_a_failure_of_the_service_behind_us() {
    for &reason in Reason::ALL {
        assert!(status_of(reason).is_client_error(), "{reason}");
    }
}

fn parameter(field: &str, key: &str) -> Option<i64> {
    let list: List = Parser::new(field).parse().unwrap();
    let [ListEntry::Item(item)] = list.as_slice() else { panic!("{field}") };
    match item.params.get(key)? {
        BareItem::Integer(number) => Some((*number).into()),
        other => panic!("{other:?}"),
    }
}

proptest! {
    #[test]
    fn whatever_an_answer_says_its_content_is_json(
        numbers in proptest::array::uniform4(proptest::option::of(any::<u64>())), cost in any::<u64>(),
        message in proptest::option::of(any::<String>()), named in any::<bool>(),
    ) {
        let [retry_after, remaining, limit, current] = numbers;
        let id = "0123456789abcdef0123456789abcdef";
        let told = Content {
            error: "e", reason: "r", retry_after, cost, remaining, limit, current,
            message: message.clone(),
            decision_id: named.then(|| id.parse::<DecisionId>().unwrap().hex()),
        };
        let mut expected = json!({"error": "e", "reason": "r", "retry_after": retry_after, "cost": cost});
        for (key, number) in [("remaining", remaining), ("limit", limit), ("current", current)] {
            if let Some(number) = number {
                expected[key] = number.into();
            }
        }
        if let Some(message) = message {
            expected["message"] = message.into();
        }
        if named {
            expected["decision_id"] = id.into();
        }
        prop_assert_eq!(serde_json::from_slice::<Value>(&told.json()).unwrap(), expected);
    }

    #[test]
    fn whatever_is_decided_the_structured_fields_are_read_back(
        limit in 1..=u64::MAX, remaining in any::<u64>(), reset in any::<u64>(), now in any::<u64>(),
    ) {
        let decision = Decision {
            limit: Tokens::whole(limit),
            remaining: Tokens::from_micros(remaining),
            reset_after: Millis::new(reset),
            ..decision(Verdict::Allowed)
        };
        let mut headers = HeaderMap::new();
        describe("app-a", &decision, Millis::new(now), &mut headers);
        let told = |name, key| parameter(field(&headers, name), key).map(|number| u64::try_from(number).unwrap());
        prop_assert_eq!(told("ratelimit-policy", "q"), Some(decision.limit.floor()));
        prop_assert_eq!(told("ratelimit", "r"), Some(decision.remaining.floor()));
        let most = 999_999_999_999_999;
        let expected = Some(Millis::new(reset).ceil_secs().min(most)).filter(|_| reset != u64::MAX);
        prop_assert_eq!(told("ratelimit", "t"), expected);
    }

    #[test]
    fn nobody_is_told_to_come_back_early(wait in any::<u64>()) {
        let told = retry_seconds(Millis::new(wait));
        prop_assert!(told >= 1 && u128::from(told) * 1_000 >= u128::from(wait));
    }
}
