//! What goes to a script and what comes back, as texts, numbers and rows of them.

mod args;
mod reply;
mod row;
mod view;

pub(super) use args::Args;
pub(super) use reply::{Reply, unexpected};

use super::Channels;
use tollgate_core::id::ClusterId;

/// Where scripts tell of a cluster. What is in braces decides the hash slot: channels and keys share it.
pub(super) fn channels(cluster: &ClusterId) -> Channels {
    Channels {
        changes: format!("ratelimit:config:{{{cluster}}}"),
        questions: format!("ratelimit:questions:{{{cluster}}}"),
    }
}

/// The key of a cluster, from which all its keys derive.
pub(super) fn key(cluster: &ClusterId) -> String {
    format!("ratelimit:{{{cluster}}}")
}
