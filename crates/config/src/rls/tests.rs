use super::*;
use crate::source::{Document, Format};

fn read(text: &str) -> Result<Rls, String> {
    let config = Document::parse(text, Format::Toml).and_then(Document::read);
    config.map(|config| config.settings.rls).map_err(|errors| errors.to_string())
}

#[test]
fn rules_are_read_in_order() {
    let rls = read(
        "[rls]\nunmatched = 'refuse'\nheaders = 'refused'\nconnection_age_ms = 60_000\n\
         [[rls.rules]]\ndomain = 'edge'\nmatch = { tenant = '*', tier = 'gold' }\napp = 'gold-{tenant}'\n\
         [[rls.rules]]\nmatch = { path = '/video' }\napp = 'video'",
    )
    .unwrap();
    assert_eq!((rls.unmatched, rls.headers), (Unmatched::Refuse, Headers::Refused));
    assert_eq!(rls.connection_age, Some(Millis::from_secs(60)));
    assert_eq!(rls.rules.len(), 2);
    assert_eq!(rls.rules[0].entries, [("tenant".into(), None), ("tier".into(), Some("gold".into()))]);
    let name = rls.rules[0].app.as_ref().unwrap().fill(|key| (key == "tenant").then_some("acme"));
    assert_eq!(name.as_deref(), Some("gold-acme"));
    assert_eq!(rls.rules[1].app.as_ref().unwrap().to_string(), "video");
}

#[test]
fn a_rule_that_can_match_nothing_is_refused() {
    for (rule, told) in [
        ("match = {}\napp = 'a'", "rls.rules[0].match: wrong number of entries"),
        ("match = { k = '*' }", "rls.rules[0].app: missing"),
        (
            "match = { k = '*' }\nunlimited = true\napp = 'a'",
            "rls.rules[0].unlimited: nothing limits what is unlimited",
        ),
        ("match = { k = '*' }\napp = 'a/b'", "rls.rules[0].app: not a name"),
        ("match = { k = '*' }\napp = '{k'", "rls.rules[0].app: not a name"),
        ("match = { k = '*' }\napp = ''", "rls.rules[0].app: not a name"),
        (
            "match = { k = '*' }\napp = '{other}'",
            "rls.rules[0].app: stands for an entry that need not be there: other",
        ),
        ("match = { 'a b' = '*' }\napp = 'a'", "rls.rules[0].match.\"a b\": not the key of an entry"),
        ("match = { k = 7 }\napp = 'a'", "rls.rules[0].match.k: wrong type"),
    ] {
        let errors = read(&format!("[[rls.rules]]\n{rule}")).unwrap_err();
        assert!(errors.starts_with(told), "{rule}: {errors}");
    }
}

#[test]
fn names_are_written_as_they_are_read() {
    for text in ["a", "{k}", "a-{k}_b{l}"] {
        assert_eq!(Name::new(text).map(|name| name.to_string()).as_deref(), Some(text));
    }
}
