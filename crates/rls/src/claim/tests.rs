use super::*;
use crate::api::Entry;

fn descriptor(entries: &[(&str, &str)]) -> RateLimitDescriptor {
    let entries = entries.iter().map(|(key, value)| Entry { key: (*key).into(), value: (*value).into() });
    RateLimitDescriptor { entries: entries.collect(), ..Default::default() }
}

fn call(domain: &str, descriptor: RateLimitDescriptor) -> RateLimitRequest {
    RateLimitRequest { domain: domain.into(), descriptors: vec![descriptor], hits_addend: 0 }
}

fn rule(domain: Option<&str>, entries: &[(&str, Option<&str>)], app: &str) -> Rule {
    Rule {
        domain: domain.map(Into::into),
        entries: entries.iter().map(|(key, value)| ((*key).into(), value.map(Into::into))).collect(),
        app: Name::new(app),
    }
}

#[test]
fn the_plain_entries_need_no_rule() {
    let call = call("any", descriptor(&[("app", "photos"), ("operation", "put"), ("bytes", "10240")]));
    let Found::Claim(claim) = Claim::find(&Rls::default(), &call, &call.descriptors[0]) else { panic!() };
    assert_eq!(claim.request(), Request::new("photos", Operation::Put).with_bytes(10_240));
}

#[test]
fn without_an_application_there_is_no_claim() {
    let call = call("any", descriptor(&[("remote_address", "203.0.113.7")]));
    assert_eq!(Claim::find(&Rls::default(), &call, &call.descriptors[0]), Found::Nobody);
}

#[test]
fn the_first_rule_that_matches_wins() {
    let settings = Rls {
        rules: vec![
            rule(Some("edge"), &[("tier", Some("gold")), ("tenant", None)], "gold-{tenant}"),
            rule(None, &[("tenant", None)], "{tenant}"),
            rule(None, &[("path", Some("/video"))], "video"),
            Rule { app: None, ..rule(None, &[("path", Some("/health"))], "none") },
        ],
        ..Rls::default()
    };
    let app = |domain: &str, entries: &[(&str, &str)]| {
        let call = call(domain, descriptor(entries));
        match Claim::find(&settings, &call, &call.descriptors[0]) {
            Found::Claim(claim) => claim.app.into_owned(),
            other => format!("{other:?}"),
        }
    };
    let gold = [("tenant", "acme"), ("tier", "gold")];
    assert_eq!(app("edge", &gold), "gold-acme");
    assert_eq!(app("other", &gold), "acme");
    assert_eq!(app("edge", &[("tenant", "acme"), ("tier", "tin")]), "acme");
    assert_eq!(app("edge", &[("path", "/video")]), "video");
    assert_eq!(app("edge", &[("app", "plain")]), "plain");
    assert_eq!(app("edge", &[("path", "/audio")]), "Nobody");
    assert_eq!(app("edge", &[("path", "/health"), ("app", "plain")]), "Unlimited");
}

#[test]
fn hits_are_the_cost() {
    let of = |in_call: u32, hits: Option<u64>, is_negative_hits: bool| {
        let descriptor = RateLimitDescriptor { hits_addend: hits, is_negative_hits, ..descriptor(&[]) };
        let call = RateLimitRequest { hits_addend: in_call, ..call("d", descriptor) };
        Hits::of(&call, &call.descriptors[0])
    };
    assert_eq!(of(0, None, false), Hits::Listed);
    assert_eq!(of(7, None, false), Hits::Named(7));
    assert_eq!(of(7, Some(9), false), Hits::Named(9));
    assert_eq!(of(0, Some(u64::MAX), false), Hits::Named(u64::MAX));
    assert_eq!(of(7, Some(0), false), Hits::Peek);
    assert_eq!(of(7, Some(9), true), Hits::Returned(9));
    assert_eq!(of(7, None, true), Hits::Returned(7));
    assert_eq!(of(0, None, true), Hits::Returned(1));
}

#[test]
fn bytes_are_a_number_or_nothing() {
    for (text, expected) in
        [("0", 0), ("65537", 65_537), ("99999999999999999999", u64::MAX), ("", 0), ("-1", 0), ("1e9", 0)]
    {
        assert_eq!(bytes(text), expected, "{text:?}");
    }
}
