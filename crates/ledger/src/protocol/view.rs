//! What a ledger knows, for those who look: policies for nodes, states for operators.

use super::{AppPolicy, Carry};
use tollgate_core::account::Account;
use tollgate_core::cost::Operation;
use tollgate_core::emergency::Emergency;
use tollgate_core::id::AppId;
use tollgate_core::quota::Capacity;
use tollgate_core::units::{Millis, Rate, Ratio, Tokens};

/// The most that one page holds, whatever is asked for.
pub const MAX_PAGE: u32 = 256;

/// The policies that changed, the oldest change first. Ask from zero at first and whenever the epoch of a
/// [`SyncReply`](super::SyncReply) changes, then with `next` until there is no `more`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Changes {
    /// The version of the cluster, which is what the caller knows once there is no `more`.
    pub version: u64,
    /// What to pass as `since` to go on: the version if there is no `more`.
    pub next: u64,
    /// Whether there is more.
    pub more: bool,
    /// This page is the first of a whole: the caller forgets what it knew, and what is not listed from here on does
    /// not exist. So it is when asked from zero, and when asked from a time that the ledger does not remember.
    pub is_whole: bool,
    /// What the cluster can stand.
    pub capacity: Capacity,
    /// The applications that were set.
    pub apps: Vec<VersionedPolicy>,
    /// The applications that were deleted.
    pub gone: Vec<AppId>,
}

/// A policy and which version of it this is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VersionedPolicy {
    /// The version of the cluster that it came with.
    pub version: u64,
    /// The policy.
    pub policy: AppPolicy,
}

/// One application as of now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AppView {
    /// Its policy in force.
    pub policy: VersionedPolicy,
    /// What it holds: rights, meter, leases, what it drew of its burst and what it owes.
    pub account: Account,
    /// What nodes that are cut off are thought to let through.
    pub suspect_rate: Rate,
    /// What was spent in all, in whole tokens.
    pub total_consumed: u64,
    /// Requests in all.
    pub total_requests: u64,
    /// Both by operation, as far as nodes reported it.
    pub by_operation: Vec<OperationTotal>,
    /// The change that is scheduled, if there is one.
    pub pending: Option<Scheduled>,
}

/// All that was spent on one operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OperationTotal {
    /// Which operation.
    pub operation: Operation,
    /// How many requests.
    pub requests: u64,
    /// What they cost, in whole tokens.
    pub consumed: u64,
}

/// A change whose time has not come.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
pub struct Scheduled {
    /// When it takes effect, by the ledger's time.
    pub at: Millis,
    /// The application as it will be.
    pub policy: AppPolicy,
    /// What happens to its rights.
    pub carry: Carry,
}

/// One cluster as of now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClusterView {
    /// The ledger's time.
    pub now: Millis,
    /// Raised with every change of policy or emergency.
    pub version: u64,
    /// Another one whenever the ledger finds that it has lost something, or starts over.
    pub epoch: u64,
    /// What the cluster can stand.
    pub capacity: Capacity,
    /// What all guarantees add up to.
    pub promised: Rate,
    /// Headroom for anybody.
    pub slack: Tokens,
    /// The share of the capacity that was granted over the last second.
    pub usage: Ratio,
    /// How much overload cuts of allocations above the guarantee.
    pub cut: Ratio,
    /// Whether the cluster is in emergency mode.
    pub emergency: Emergency,
    /// Why an operator declared the emergency; empty if none did.
    pub emergency_reason: String,
    /// How many applications there are.
    pub apps: u64,
    /// How many nodes are heard of.
    pub nodes: u64,
    /// How many nodes fell silent and are still remembered.
    pub silent_nodes: u64,
}
