use super::*;
use crate::Config;
use tollgate_core::cost::Operation;

const EXAMPLE: &str = r#"
domain: shop
descriptors:
  - key: database
    value: users
    rate_limit: { unit: second, requests_per_unit: 500 }
  - key: database
    value: default
    shadow_mode: true
    rate_limit: { unit: minute, requests_per_unit: 10 }
  - key: remote_address
    rate_limit: { unit: second, requests_per_unit: 3 }
  - key: path
    value: /Käse "x"
    descriptors:
      - key: method
        value: POST
        detailed_metric: true
        rate_limit: { unit: hour, requests_per_unit: 100, name: posts }
      - key: method
        value: GET
        rate_limit: { unlimited: true }
  - key: key
    value: blocked
    rate_limit: { unit: day, requests_per_unit: 0 }
"#;

fn read(toml: &str) -> Config {
    let config = Document::parse(toml, Format::Toml).and_then(Document::read);
    config.unwrap_or_else(|errors| panic!("{errors}\n{toml}"))
}

#[test]
fn limits_become_applications_and_rules() {
    let imported = ratelimit(EXAMPLE).unwrap();
    let Config { settings, policy } = read(&imported.toml);
    let app = |name: &str| policy.apps().get(name).unwrap_or_else(|| panic!("{name}: {}", imported.toml));
    let quota = |name: &str| (app(name).quota.guaranteed.floor(), app(name).quota.burst.floor());
    assert_eq!(quota("shop-users"), (500, 500));
    assert!(!app("shop-users").shadow && !app("shop-users").quota.loan.automatic);
    // Ten a minute: six tokens each, one token a second, ten at once.
    assert_eq!(quota("shop-default"), (1, 60));
    assert_eq!(app("shop-default").prices.base(Operation::Get), 6);
    assert!(app("shop-default").shadow);
    // A hundred an hour: 36 tokens each, one token a second.
    assert_eq!(quota("shop--K-se--x--POST"), (1, 3_600));
    assert_eq!(policy.apps().len(), 3);
    let rules = &settings.rls.rules;
    assert_eq!(rules.len(), 4);
    assert!(rules[..2].iter().all(|rule| rule.entries.len() == 2), "the more is known, the earlier");
    assert_eq!(rules.iter().filter(|rule| rule.app.is_none()).count(), 1);
    assert!(rules.iter().all(|rule| rule.domain.as_deref() == Some("shop")));
}

#[test]
fn what_cannot_be_said_is_noted() {
    let notes = ratelimit(EXAMPLE).unwrap().notes.join("\n");
    for told in [
        "remote_address=(any) limits every value by itself",
        "database=default is counted in tokens, 6 for a request",
        "key=blocked lets nothing pass",
    ] {
        assert!(notes.contains(told), "{told}: {notes}");
    }
}

#[test]
fn what_is_wrong_is_reported() {
    let errors = ratelimit(
        "domain: d\ndescriptors:\n- {key: a, rate_limit: {unit: fortnight, requests_per_unit: 1}}\n- {valu: b}",
    )
    .unwrap_err()
    .to_string();
    assert!(errors.contains("descriptors[0].rate_limit.unit: unknown unit (got \"fortnight\""), "{errors}");
    assert!(errors.contains("descriptors[1].key: missing"), "{errors}");
    assert!(errors.contains("descriptors[1].valu: unknown key, did you mean value"), "{errors}");
}

#[test]
fn many_limits_fit_into_their_cluster() {
    let many: Vec<String> = (0..50)
        .map(|i| {
            format!("- {{key: k, value: v{i}, rate_limit: {{unit: second, requests_per_unit: 100000}}}}")
        })
        .collect();
    let imported = ratelimit(&format!("domain: d\ndescriptors:\n{}", many.join("\n"))).unwrap();
    assert_eq!(read(&imported.toml).policy.apps().len(), 50);
}
