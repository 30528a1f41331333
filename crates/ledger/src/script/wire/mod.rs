//! What goes to a script and what comes back, as texts and numbers.

mod args;
mod reply;

pub(super) use args::Args;
pub(super) use reply::{Reply, unexpected};

use tollgate_core::id::ClusterId;

/// The key of a cluster, from which all its keys derive. What is in braces decides the hash slot: they all share it.
pub(super) fn key(cluster: &ClusterId) -> String {
    format!("ratelimit:{{{cluster}}}")
}
