//! Envoy's rate limit service: how the descriptors of a call become requests.

mod rule;

pub use rule::{Name, Rule};

use crate::error::Problem;
use crate::reader::Table;
use serde_json::{Value, json};
use std::net::{Ipv4Addr, SocketAddr};
use tollgate_core::units::Millis;

/// The longest key or value of a descriptor that can be configured, in bytes.
const MAX_TEXT: usize = 256;

/// A day, in milliseconds.
const DAY_MS: u64 = 86_400_000;

/// Everything the rate limit service needs to know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rls {
    /// Where it listens: `rls` in `[listen]`.
    pub listen: SocketAddr,
    /// The entry of a descriptor that names the application, where no rule does.
    pub app: String,
    /// The entry that names the operation.
    pub operation: String,
    /// The entry that says how many bytes a request carries.
    pub bytes: String,
    /// Which descriptors are whose; the first that matches wins.
    pub rules: Vec<Rule>,
    /// What becomes of a descriptor that names no application.
    pub unmatched: Unmatched,
    /// Which responses are told what is left.
    pub headers: Headers,
    /// The most connections at a time; the rest waits outside.
    pub max_connections: u32,
    /// How often a silent connection is asked whether it is still there.
    pub keepalive: Millis,
    /// How old a connection gets before its client is asked to open another, so that clients spread over new nodes; none
    /// for as old as it likes.
    pub connection_age: Option<Millis>,
}

/// What becomes of a descriptor that names no application.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unmatched {
    /// It limits nothing.
    Pass,
    /// It is refused as an unknown application.
    Refuse,
}

/// Which responses are told what is left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Headers {
    /// All of them.
    Always,
    /// Those of requests that were refused, or would have been.
    Refused,
    /// None of them.
    Never,
}

impl Default for Rls {
    fn default() -> Self {
        Self {
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 8082)),
            app: "app".into(),
            operation: "operation".into(),
            bytes: "bytes".into(),
            rules: Vec::new(),
            unmatched: Unmatched::Pass,
            headers: Headers::Always,
            max_connections: 1_000,
            keepalive: Millis::from_secs(30),
            connection_age: None,
        }
    }
}

impl Rls {
    pub(crate) fn read(mut table: Table<'_>, listen: Option<SocketAddr>) -> Option<Self> {
        let default = Self::default();
        let app = table.field("app").text(KEY, key);
        let operation = table.field("operation").text(KEY, key);
        let bytes = table.field("bytes").text(KEY, key);
        let unmatched = table.field("unmatched").word(&Unmatched::WORDS);
        let headers = table.field("headers").word(&Headers::WORDS);
        let max_connections = table.field("max_connections").count(1..=1_000_000);
        let keepalive = table.field("keepalive_ms").whole(1_000..=DAY_MS).map(Millis::new);
        let age = table.field("connection_age_ms").whole(0..=DAY_MS);
        let rules = rule::read_all(&mut table);
        table.finish();
        Some(Self {
            listen: listen?,
            app: app.or(default.app)?,
            operation: operation.or(default.operation)?,
            bytes: bytes.or(default.bytes)?,
            rules: rules?,
            unmatched: unmatched.or(default.unmatched)?,
            headers: headers.or(default.headers)?,
            max_connections: max_connections.or(default.max_connections)?,
            keepalive: keepalive.or(default.keepalive)?,
            connection_age: age.map(|age| (age > 0).then_some(Millis::new(age))).or(default.connection_age)?,
        })
    }

    pub(crate) fn to_value(&self) -> Value {
        json!({
            "app": self.app,
            "operation": self.operation,
            "bytes": self.bytes,
            "unmatched": word_of(&Unmatched::WORDS, self.unmatched),
            "headers": word_of(&Headers::WORDS, self.headers),
            "max_connections": self.max_connections,
            "keepalive_ms": self.keepalive.get(),
            "connection_age_ms": self.connection_age.map_or(0, Millis::get),
            "rules": self.rules.iter().map(Rule::to_value).collect::<Vec<_>>(),
        })
    }
}

impl Unmatched {
    const WORDS: [(&'static str, Self); 2] = [("pass", Self::Pass), ("refuse", Self::Refuse)];
}

impl Headers {
    const WORDS: [(&'static str, Self); 3] =
        [("always", Self::Always), ("refused", Self::Refused), ("never", Self::Never)];
}

/// What the key of an entry may be.
const KEY: &str = "1 to 256 visible characters";

fn key(text: &str) -> Result<String, Problem> {
    if !is_plain(text) {
        return Err(Problem::Malformed("not the key of an entry"));
    }
    Ok(text.to_owned())
}

fn is_plain(text: &str) -> bool {
    (1..=MAX_TEXT).contains(&text.len()) && text.bytes().all(|c| c.is_ascii_graphic())
}

fn word_of<T: Copy + PartialEq>(words: &[(&'static str, T)], value: T) -> &'static str {
    words.iter().find(|(_, one)| *one == value).map_or("", |(word, _)| word)
}

#[cfg(test)]
mod tests;
