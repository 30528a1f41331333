use super::{Outcome, serve};
use crate::{client, output};
use clap::Args;
use hyper::{Method, StatusCode};
use serde_json::{Value, json};

/// Ask a running tollgate whether a request may pass, and pay for it
///
/// Exits with 0 if it may, 1 if it may not, and 2 if it could not be asked.
#[derive(Debug, Args)]
pub(crate) struct Check {
    /// Whose request it is
    app: String,

    /// What it does: GET, PUT, LIST, COPY, ...
    #[arg(long, default_value = "GET")]
    operation: String,

    /// How many bytes its body has
    #[arg(long, default_value_t = 0)]
    bytes: u64,

    /// What it costs, instead of what the price list says
    #[arg(long)]
    cost: Option<u64>,

    /// Only ask, without paying
    #[arg(long)]
    dry_run: bool,

    #[command(flatten)]
    door: Door,

    /// Answer in JSON
    #[arg(long)]
    json: bool,
}

/// Where a running tollgate answers checks.
#[derive(Debug, Args)]
pub(super) struct Door {
    /// Where it answers checks
    #[arg(long, value_name = "URL", default_value = "http://127.0.0.1:8081")]
    pub(super) url: String,
}

impl Check {
    pub(super) fn run(&self) -> anyhow::Result<Outcome> {
        let mut question = json!({"app": self.app, "operation": self.operation, "bytes": self.bytes});
        if let Some(cost) = self.cost {
            question["cost"] = cost.into();
        }
        let target = format!("/v1/check?dry_run={}", self.dry_run);
        let asked = client::ask(&self.door.url, Method::POST, &target, Some(&question));
        let answer = serve::runtime()?.block_on(asked)?;
        let content = &answer.content;
        if self.json {
            output::print_json(content)?;
        } else {
            output::print(&summary(content))?;
        }
        let is_wrong = content["reason"] == "invalid_input";
        Ok(match answer.status {
            StatusCode::OK => Outcome::Yes,
            _ if is_wrong => Outcome::Wrong,
            _ => Outcome::No,
        })
    }
}

fn summary(content: &Value) -> String {
    let number = |key: &str| content[key].as_u64().unwrap_or_default();
    let (cost, remaining, limit) = (number("cost"), number("remaining"), number("limit"));
    if content["allowed"] == true {
        let mark =
            content["shadowed"].as_str().map_or(String::new(), |why| format!(", in shadow mode ({why})"));
        return format!("passes for {cost}, {remaining} of {limit} left{mark}");
    }
    let reason = content["reason"].as_str().unwrap_or("unknown");
    if let Some(message) = content["message"].as_str() {
        return format!("{reason}: {message}");
    }
    let retry = content["retry_after"].as_u64();
    let retry = retry.map_or("waiting does not help".into(), |seconds| format!("come back in {seconds} s"));
    format!("refused, {reason}: costs {cost}, {remaining} of {limit} left, {retry}")
}
