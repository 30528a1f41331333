//! `app NAME guaranteed N burst N ...` and `apps N NAME ...`

use super::super::Scenario;
use super::parse_time;
use super::words::{ScenarioError, Words};
use serde_json::{Map, Value, json};

/// The most applications in a story.
const MAX_APPS: u64 = 100_000;

/// Applications as they are configured.
#[derive(Default)]
pub(super) struct Apps(Vec<Value>);

impl Apps {
    pub(super) fn one(&mut self, words: &mut Words<'_>) -> Result<(), ScenarioError> {
        let id = words.next("the name of an application")?;
        let mut app = terms(words)?;
        app.insert("id".into(), json!(id));
        self.0.push(Value::Object(app));
        Ok(())
    }

    /// Many alike, with numbers after their name.
    pub(super) fn many(&mut self, words: &mut Words<'_>) -> Result<(), ScenarioError> {
        let count = words.number(1, MAX_APPS)?;
        let name = words.next("what their names begin with")?;
        let terms = terms(words)?;
        for number in 0..count {
            let mut app = terms.clone();
            app.insert("id".into(), json!(format!("{name}-{number:05}")));
            self.0.push(Value::Object(app));
        }
        Ok(())
    }

    pub(super) fn values(&self) -> Value {
        Value::Array(self.0.clone())
    }
}

fn terms(words: &mut Words<'_>) -> Result<Map<String, Value>, ScenarioError> {
    let mut app = Map::new();
    while let Some(word) = words.peek() {
        words.expect(word)?;
        let (key, value) = match word {
            "guaranteed" => ("guaranteed_quota", json!(words.number(1, 1_000_000_000)?)),
            "burst" => ("burst_quota", json!(words.number(1, 4_000_000_000)?)),
            "priority" => ("priority", json!(words.number(0, 3)?)),
            "window" => ("burst_duration_s", json!(whole_seconds(words)?)),
            "on" => ("cluster", json!(words.next("the name of a cluster")?)),
            "borrows" => borrows(words)?,
            "outage" => outage(words)?,
            other => {
                return Err(words.wrong(other, "guaranteed, burst, priority, window, on, borrows or outage"));
            }
        };
        app.insert(key.into(), value);
    }
    Ok(app)
}

/// `borrows nothing`, or at most so much.
fn borrows(words: &mut Words<'_>) -> Result<(&'static str, Value), ScenarioError> {
    if words.takes("nothing") {
        return Ok(("borrow", json!(false)));
    }
    Ok(("max_borrow", json!(words.number(0, 4_000_000_000)?)))
}

/// `outage closed`, `outage 100/s` for each node, `outage 50%` of what it had.
fn outage(words: &mut Words<'_>) -> Result<(&'static str, Value), ScenarioError> {
    if words.takes("closed") {
        return Ok(("outage", json!("closed")));
    }
    if words.peek().is_some_and(|word| word.ends_with('%')) {
        return Ok(("fallback_ratio", json!(words.share(1.0)?)));
    }
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked by rate")]
    let rate = words.rate()? as u64;
    Ok(("fail_open_tokens", json!(rate)))
}

fn whole_seconds(words: &mut Words<'_>) -> Result<u64, ScenarioError> {
    let word = words.next("whole seconds such as 60s")?;
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the cast saturates")]
    let whole = parse_time(word).filter(|time| time.fract() == 0.0).map(|time| time as u64);
    whole.ok_or_else(|| words.wrong(word, "whole seconds such as 60s"))
}

/// The number of the application of that name.
pub(super) fn named(words: &mut Words<'_>, scenario: &Scenario) -> Result<usize, ScenarioError> {
    let name = words.next("the name of an application")?;
    let found = scenario.policy.apps().keys().position(|id| **id == *name);
    found.ok_or_else(|| words.wrong(name, "the name of an application of this story"))
}

/// The numbers of the applications whose names begin as a name does that ends in `*`.
pub(super) fn alike(words: &mut Words<'_>, scenario: &Scenario) -> Result<Vec<usize>, ScenarioError> {
    let Some(stem) = words.peek().and_then(|word| word.strip_suffix('*')) else {
        return named(words, scenario).map(|app| vec![app]);
    };
    let word = words.next("the name of an application")?;
    let ids = scenario.policy.apps().keys().enumerate().filter(|(_, id)| id.starts_with(stem));
    let found: Vec<usize> = ids.map(|(number, _)| number).collect();
    if found.is_empty() { Err(words.wrong(word, "the beginning of a name of this story")) } else { Ok(found) }
}
