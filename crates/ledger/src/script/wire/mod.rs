//! What goes to a script and what comes back, as texts, numbers and rows of them.

mod args;
mod reply;
mod row;
mod view;

pub(super) use args::Args;
pub(super) use reply::{Reply, unexpected};

use tollgate_core::id::ClusterId;

/// Where scripts say that a cluster has changed.
pub(super) fn channel(cluster: &ClusterId) -> String {
    format!("ratelimit:config:{{{cluster}}}")
}

/// The key of a cluster, from which all its keys derive. What is in braces decides the hash slot: they all share it.
pub(super) fn key(cluster: &ClusterId) -> String {
    format!("ratelimit:{{{cluster}}}")
}
