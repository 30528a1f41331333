//! A running system, as its admin API shows it.

use crate::client::{self, Answer};
use crate::system::TOKEN_VARIABLE;
use anyhow::{Context, bail, ensure};
use clap::Args;
use hyper::{Method, StatusCode};
use serde_json::Value;
use std::io::Read;
use std::path::{Path, PathBuf};
use tollgate_config::Policy;

/// Where the admin API is unless said.
const USUAL: &str = "http://127.0.0.1:8090";

/// The longest token that is read from a file, in bytes.
const MAX_TOKEN: u64 = 4_096;

/// Where the admin API of a running tollgate is, and who asks.
#[derive(Debug, Args)]
pub(super) struct Running {
    /// Where the admin API is; without it, `http://127.0.0.1:8090`
    #[arg(long, value_name = "URL")]
    url: Option<String>,

    /// A file with a token for machines; without it, the variable `TOLLGATE_TOKEN` holds the token
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
}

/// What a system says about an answer that is no.
#[derive(Debug)]
pub(super) struct Refusal(pub(super) Value);

impl Running {
    /// Whether the caller said where it is.
    pub(super) const fn is_named(&self) -> bool {
        self.url.is_some()
    }

    pub(super) fn url(&self) -> &str {
        self.url.as_deref().unwrap_or(USUAL)
    }

    /// Asks, and returns what was answered, or why it was refused.
    pub(super) async fn ask(
        &self,
        method: Method,
        target: &str,
        body: Option<&Value>,
    ) -> anyhow::Result<Result<Value, Refusal>> {
        let Answer { status, content } =
            client::ask_as(self.url(), &self.token()?, method, target, body).await?;
        let detail =
            || content["detail"].as_str().or(content["title"].as_str()).unwrap_or_default().to_owned();
        match status {
            status if status.is_success() => Ok(Ok(content)),
            StatusCode::UNAUTHORIZED => bail!(
                "{}: {}; make a token at /api/v1/tokens or in the console, and name it by --token-file or {TOKEN_VARIABLE}",
                self.url(),
                detail()
            ),
            StatusCode::FORBIDDEN => bail!("{}: {}", self.url(), detail()),
            _ => Ok(Err(Refusal(content))),
        }
    }

    /// The policies in force. Prices that hold for all are told by the nodes' own configuration: they are taken to be those
    /// of `like`.
    pub(super) async fn policy(&self, like: &Policy) -> anyhow::Result<Policy> {
        let get = async |target: &str| match self.ask(Method::GET, target, None).await? {
            Ok(content) => Ok(content),
            Err(refusal) => bail!("{}{target}: {refusal}", self.url()),
        };
        let mut tree = get("/api/v1/config/export").await?;
        tree["cost"] = like.to_value()["cost"].clone();
        Policy::from_value(&tree)
            .with_context(|| format!("{} has policies that this version cannot read", self.url()))
    }

    fn token(&self) -> anyhow::Result<String> {
        let Some(file) = &self.token_file else {
            return Ok(std::env::var(TOKEN_VARIABLE).unwrap_or_default().trim().to_owned());
        };
        let shown = file.display();
        let token = read_bounded(file).with_context(|| format!("cannot read {shown}"))?;
        let token = token.trim();
        ensure!(token.bytes().all(|byte| byte.is_ascii_graphic()), "{shown}: not a token");
        Ok(token.to_owned())
    }
}

fn read_bounded(file: &Path) -> std::io::Result<String> {
    let mut text = String::new();
    std::fs::File::open(file)?.take(MAX_TOKEN).read_to_string(&mut text)?;
    Ok(text)
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

/// Every wrong field on a line, or what else is wrong.
impl std::fmt::Display for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let errors: Vec<String> = list(&self.0["errors"])
            .map(|error| {
                let got = error["value"].as_str().map_or(String::new(), |value| format!("got {value}, "));
                let expected = text(&error["expected"]);
                format!("{}: {} ({got}expected {expected})", text(&error["path"]), text(&error["message"]))
            })
            .collect();
        if errors.is_empty() {
            let detail = self.0["detail"].as_str().or(self.0["title"].as_str());
            return f.write_str(detail.unwrap_or("it was refused"));
        }
        f.write_str(&errors.join("\n"))
    }
}
