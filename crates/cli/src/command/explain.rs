use super::check::Door;
use super::{Outcome, serve};
use crate::{client, output};
use anyhow::Context;
use clap::Args;
use hyper::{Method, StatusCode};
use serde_json::Value;
use tollgate_node::DecisionId;

/// Ask a running tollgate how a decision came about
///
/// Refusals and a sample of what passed are kept for a while. Any node will do: it asks those that share its ledger. Exits with
/// 0 if the decision is known, 1 if it is not, and 2 if it could not be asked for.
#[derive(Debug, Args)]
pub(crate) struct Explain {
    /// The decision, as in the header X-Tollgate-Decision
    id: String,

    #[command(flatten)]
    door: Door,

    /// Answer in JSON
    #[arg(long)]
    json: bool,
}

impl Explain {
    pub(super) fn run(&self) -> anyhow::Result<Outcome> {
        let id: DecisionId = self.id.parse().with_context(|| format!("{:?}", self.id))?;
        let target = format!("/v1/decisions/{id}");
        let asked = client::ask(&self.door.url, Method::GET, &target, None);
        let answer = serve::runtime()?.block_on(asked)?;
        let outcome = match answer.status {
            StatusCode::OK => Outcome::Yes,
            StatusCode::NOT_FOUND => Outcome::No,
            _ => Outcome::Wrong,
        };
        if self.json {
            output::print_json(&answer.content)?;
        } else if outcome == Outcome::Yes {
            output::print(&explained(&answer.content))?;
        } else {
            output::complain(answer.content["message"].as_str().unwrap_or("no such decision"));
        }
        Ok(outcome)
    }
}

fn explained(record: &Value) -> String {
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let price = &record["price"];
    let verdict = match (record["allowed"].as_bool(), record["reason"].as_str()) {
        (Some(true), Some(reason)) => format!("passed in shadow mode, else refused: {reason}"),
        (Some(true), None) => "passed".into(),
        (_, reason) => format!("refused: {}", reason.unwrap_or("unknown")),
    };
    let retry = record["retry_after_ms"].as_u64().filter(|_| record["allowed"] != true);
    let retry = retry.map_or(String::new(), |ms| format!("\ncome back in {ms} ms"));
    format!(
        "{} of {}: {verdict}\n{} under policy version {}\n{} + {} for {} units of bandwidth ({} bytes) = {} \
         tokens\n{} of {} left{retry}",
        text(&price["operation"]),
        text(&record["app"]),
        trace(&record["trace"]),
        record["policy_version"],
        price["base"],
        price["bandwidth"],
        price["units"],
        price["bytes"],
        price["cost"],
        record["remaining"],
        record["limit"],
    )
}

/// `l3 passed it on, l2 refused`
fn trace(steps: &Value) -> String {
    let step = |step: &Value| {
        let did = match step["outcome"].as_str() {
            Some("passed_on") => "passed it on",
            Some("granted") => "granted it",
            _ => "refused it",
        };
        format!("{} {did}", step["tier"].as_str().unwrap_or_default())
    };
    steps.as_array().into_iter().flatten().map(step).collect::<Vec<_>>().join(", ")
}
