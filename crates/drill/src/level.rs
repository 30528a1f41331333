//! How well a gateway reaches its ledger, by its own word.

use crate::http;
use serde::Serialize;
use serde_json::Value;
use std::fmt;
use std::net::SocketAddr;

/// From the best to the worst.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// Soon.
    Normal,
    /// Slowly.
    Mild,
    /// Very slowly.
    Significant,
    /// Not at all: it decides by itself.
    FailOpen,
    /// The gateway itself does not answer, or is not ready.
    NoAnswer,
}

impl Level {
    /// What the gateway at that address says, at `/ready`.
    pub(crate) fn of(admin: SocketAddr) -> Self {
        Self::ask(admin).unwrap_or(Self::NoAnswer)
    }

    fn ask(admin: SocketAddr) -> Option<Self> {
        let answer = http::look(admin, "GET /ready").ok()?;
        let ready: Value = serde_json::from_slice(&answer.body).ok()?;
        if ready["ready"] != true {
            return None;
        }
        if ready["reasons"].to_string().contains("out of reach") {
            return Some(Self::FailOpen);
        }
        match ready["ledgers"].as_object()?.values().next()?.as_str()? {
            "normal" => Some(Self::Normal),
            "mild" => Some(Self::Mild),
            "significant" => Some(Self::Significant),
            "fail_open" => Some(Self::FailOpen),
            _ => None,
        }
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Normal => "normal",
            Self::Mild => "mild",
            Self::Significant => "significant",
            Self::FailOpen => "fail_open",
            Self::NoAnswer => "no answer",
        })
    }
}
