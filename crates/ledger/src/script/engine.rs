//! What runs a script: a Redis server, or Lua in this process.

use super::Script;
use crate::notice::Notices;
use std::fmt;
use std::future::Future;

/// Runs scripts, each as one atomic step of the store that holds `key`.
pub trait Engine: Send + Sync {
    /// Runs `script` with `key` as its only key.
    fn eval(
        &self,
        script: &Script,
        key: &str,
        args: Vec<Vec<u8>>,
    ) -> impl Future<Output = Result<Value, EngineError>> + Send;

    /// Hints from what scripts publish. An engine that cannot listen has none.
    fn notices(&self, channels: &Channels) -> Notices {
        let _ = channels;
        Notices::silent()
    }

    /// Whether what publishing returns counts all who listen. In a cluster of servers each counts its own.
    fn counts_all(&self) -> bool {
        true
    }
}

/// Where scripts publish what concerns a cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Channels {
    /// The versions of its changes.
    pub changes: String,
    /// What its nodes ask each other.
    pub questions: String,
}

/// What a script returned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// Nothing.
    Nil,
    /// A number.
    Int(i64),
    /// A text.
    Bulk(Vec<u8>),
    /// A list.
    Array(Vec<Value>),
}

/// Why a script did not run, or nobody knows whether it did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EngineError {
    /// There was no answer in time: it may have run.
    Timeout,
    /// The store could not be reached, or the connection broke: it may have run.
    Connection(String),
    /// The store or the script answered something else than was agreed.
    Protocol(String),
}

impl fmt::Display for EngineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Timeout => write!(f, "no answer in time"),
            Self::Connection(why) => write!(f, "no connection: {why}"),
            Self::Protocol(what) => write!(f, "not as agreed: {what}"),
        }
    }
}

impl std::error::Error for EngineError {}
