//! What strangers may write into a file: it is read, or everything that is wrong is told, and nothing else happens.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::collections::BTreeSet;
use tollgate_config::source::{Document, Format};
use tollgate_config::{Errors, diff_config, import};
use tollgate_testkit::Fuzz;

const WORDS: &[&str] = &[
    "[node]",
    "[ledger]",
    "[listen]",
    "[gateway]",
    "[gateway.tls]",
    "[[gateway.tls.certificates]]",
    "[gateway.limits]",
    "[gateway.timeouts]",
    "[identity]",
    "[[identity.api_keys]]",
    "[[upstreams]]",
    "[upstreams.health]",
    "[[routes]]",
    "[rls]",
    "[[rls.rules]]",
    "[resp]",
    "[cost]",
    "[[clusters]]",
    "[[apps]]",
    "[apps.cost]",
    "[admin]",
    "[check]",
    "url = ",
    "redis+cluster://",
    "rediss://",
    "guaranteed_quota = ",
    "burst_quota = ",
    "fallback_ratio = ",
    "base = { ",
    "servers = [",
    "http://",
    "order = [",
    "trusted_proxies = ['::/0']",
    "'*.example.com'",
    "{tenant}",
    "inf",
    "nan",
    "2026-01-01T00:00:00Z",
    "'''",
    "\"\"\"",
    "&a ",
    "*a",
    "<<: *a",
    "!!binary ",
    "? ",
    "- ",
    "\u{feff}",
    "\u{202e}",
];

/// What became of it: kinds of mistakes and where they are, without the values and names that somebody made up, so that new
/// kinds count and new values do not.
fn shape(errors: &Errors) -> Vec<String> {
    assert!(!errors.is_empty() && !errors.to_string().is_empty(), "an error that says nothing");
    let kinds = errors.iter().map(|error| {
        let kind = format!("{:?}", error.problem);
        let kind = kind.split([' ', '(']).next().unwrap_or_default().to_owned();
        let place: String = error.path.chars().filter(|letter| !letter.is_ascii_digit()).collect();
        if kind == "UnknownKey" { kind } else { format!("{kind} {place}") }
    });
    kinds.collect::<BTreeSet<_>>().into_iter().collect()
}

#[test]
fn fuzz_config_file() {
    let fuzz = Fuzz { target: "config-file", words: WORDS, mutations: 6_000 };
    let wanted = [
        ("good", 50),
        ("1 apps", 2),
        ("Syntax", 100),
        ("UnknownKey", 50),
        ("WrongType", 50),
        ("Missing", 20),
        ("OutOfRange", 1),
        ("Malformed", 20),
        ("BadId", 1),
        ("Duplicate", 1),
        ("Conflict", 1),
    ];
    fuzz.run_to(&wanted, |input| {
        let format = match input.first() {
            Some(b'{') => Format::Json,
            Some(b'%' | b'-' | b'#') => Format::Yaml,
            _ => Format::Toml,
        };
        let text = String::from_utf8_lossy(input);
        match Document::parse(&text, format).and_then(Document::read) {
            // What was read can be written down, and does not differ from itself.
            Ok(config) => {
                assert!(config.settings.to_value().is_object());
                assert!(diff_config(&config, &config).is_empty(), "it differs from itself");
                vec![format!("good: {} apps", config.policy.apps().len())]
            }
            Err(errors) => shape(&errors),
        }
    })
    .unwrap();
}

#[test]
fn fuzz_config_override() {
    let fuzz = Fuzz { target: "config-override", words: WORDS, mutations: 6_000 };
    let wanted = [
        ("good", 50),
        ("UnknownKey", 100),
        ("WrongType", 100),
        ("Missing", 50),
        ("OutOfRange", 1),
        ("Malformed", 100),
        ("Conflict", 50),
    ];
    fuzz.run_to(&wanted, |input| {
        let text = String::from_utf8_lossy(input);
        let pairs: Vec<(&str, &str)> = text.lines().filter_map(|line| line.split_once('=')).collect();
        let flags = pairs.iter().map(|(key, value)| (key.trim(), (*value).to_owned()));
        let variables = pairs.iter().map(|(key, value)| {
            (format!("TOLLGATE_{}", key.trim().to_uppercase().replace('.', "__")), (*value).to_owned())
        });
        let by_flags = Document::empty().with_flags(flags).read();
        let by_variables = Document::empty().with_environment(variables).read();
        [by_flags, by_variables].map(|read| read.as_ref().map_or_else(shape, |_| vec!["good".into()]))
    })
    .unwrap();
}

#[test]
fn fuzz_ratelimit_import() {
    let fuzz = Fuzz {
        target: "ratelimit-import",
        words: &[
            "domain: ",
            "descriptors:",
            "key: ",
            "value: ",
            "rate_limit:",
            "unit: ",
            "second",
            "requests_per_unit: ",
        ],
        mutations: 3_000,
    };
    let wanted = [
        ("good", 10),
        ("Syntax", 100),
        ("UnknownKey", 50),
        ("WrongType", 20),
        ("Missing", 50),
        ("Malformed", 1),
    ];
    fuzz.run_to(&wanted, |input| match import::ratelimit(&String::from_utf8_lossy(input)) {
        Ok(_) => vec!["good".to_owned()],
        Err(errors) => shape(&errors),
    })
    .unwrap();
}
