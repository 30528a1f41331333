//! What became of demand, for people and for programs.

use anyhow::Context;
use serde_json::{Map, Value, json};
use tollgate_admin::whatif::Outcome;

/// What became of an application's demand, and what would have.
#[derive(Clone, Debug)]
pub(super) struct Comparison {
    pub(super) app: String,
    /// The application whose policy was tried, if it is another: this one is its neighbour.
    pub(super) tried: Option<String>,
    pub(super) before: Option<Outcome>,
    pub(super) after: Outcome,
}

impl Comparison {
    /// As a running system tells it.
    pub(super) fn read(value: &Value, tried: Option<&str>) -> anyhow::Result<Self> {
        let app = value["app_id"].as_str().context("the answer names no application")?.to_owned();
        let tried = tried.map(ToOwned::to_owned);
        Ok(Self { app, tried, before: Some(outcome(&value["before"])), after: outcome(&value["after"]) })
    }

    /// Whether more is refused than before.
    pub(super) fn is_worse(&self) -> bool {
        self.after.refused > self.before.map_or(0, |before| before.refused)
    }

    pub(super) fn to_value(&self) -> Value {
        let mut map = Map::from_iter([
            ("app_id".to_owned(), json!(self.app)),
            ("after".to_owned(), outcome_value(&self.after)),
        ]);
        if let Some(before) = &self.before {
            map.insert("before".into(), outcome_value(before));
        }
        if let Some(tried) = &self.tried {
            map.insert("neighbour_of".into(), json!(tried));
        }
        map.into()
    }
}

fn outcome(value: &Value) -> Outcome {
    let number = |key: &str| value[key].as_u64().unwrap_or_default();
    Outcome {
        demanded: number("demanded"),
        granted: number("granted"),
        refused: number("refused"),
        dry_seconds: number("dry_seconds"),
    }
}

fn outcome_value(outcome: &Outcome) -> Value {
    json!({
        "demanded": outcome.demanded,
        "granted": outcome.granted,
        "refused": outcome.refused,
        "dry_seconds": outcome.dry_seconds,
    })
}

/// A line for each.
pub(super) fn to_text(played: &[Comparison]) -> String {
    if played.is_empty() {
        return "nothing to play: the file changes no application, or there is no demand".into();
    }
    let lines: Vec<String> = played.iter().map(to_line).collect();
    lines.join("\n")
}

fn to_line(played: &Comparison) -> String {
    let told = |outcome: &Outcome| format!("{} tokens in {} s", outcome.refused, outcome.dry_seconds);
    let before = played.before.as_ref().map_or(String::new(), |before| format!("{} -> ", told(before)));
    let tried = played.tried.as_ref().map_or(String::new(), |app| format!(" (neighbour of {app})"));
    format!(
        "{}{tried}: asked for {}, refused {before}{}",
        played.app,
        played.after.demanded,
        told(&played.after)
    )
}
