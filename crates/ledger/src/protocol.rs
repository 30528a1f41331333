//! What nodes and operators say to a ledger, and what it answers.

mod view;

pub use view::{AppView, Changes, ClusterView, MAX_PAGE, OperationTotal, Scheduled, VersionedPolicy};

use tollgate_core::cost::Operation;
use tollgate_core::emergency::Emergency;
use tollgate_core::id::{AppId, NodeId};
use tollgate_core::quota::{Capacity, Quota};
use tollgate_core::reason::Reason;
use tollgate_core::units::{Millis, Rate, Ratio, Tokens};

/// The most that one call can spend or ask for. A larger amount counts as this much, which is far from anything a request
/// costs, and near enough for the books to stay exact.
pub const MAX_AMOUNT: Tokens = Tokens::whole(1_000_000_000);

/// A node's report and request, for all its applications in one call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sync {
    /// Who is speaking.
    pub node: NodeId,
    /// Which life of that node: a later one fences earlier ones off. A node that had no answer for
    /// [`NODE_TTL`](crate::book::NODE_TTL) starts a new one, as it may have been forgotten.
    pub incarnation: u64,
    /// The number of this call, from 1 on. The same number again gets the same answer again.
    pub seq: u64,
    /// The last call that this life of the node had an answer to.
    pub acked: u64,
    /// The epoch of the last answer that this node had; 0 if it had none.
    pub epoch: u64,
    /// After how long without another word it is to be taken for one that goes on alone; no longer than a lease lasts.
    pub silence: Millis,
    /// One entry for each application.
    pub entries: Vec<Entry>,
}

/// What a node reports of one application and wants for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Which application.
    pub app: AppId,
    /// What was spent since the last call that was answered.
    pub spent: Tokens,
    /// How many requests that was.
    pub requests: u64,
    /// What was spent on which operation and is not reported yet. It is counted in all and not held against `spent`,
    /// so a node may report it less often.
    pub by_operation: Vec<OperationUse>,
    /// What is given back unspent.
    pub returned: Tokens,
    /// What the node holds after that.
    pub holding: Tokens,
    /// What a request is waiting for.
    pub need: Tokens,
    /// All that would be welcome, the need included.
    pub want: Tokens,
    /// What the node will let through on its own, should it lose the ledger.
    pub fallback: Rate,
}

impl Entry {
    /// An entry that reports and wants nothing.
    pub const fn idle(app: AppId) -> Self {
        Self {
            app,
            spent: Tokens::ZERO,
            requests: 0,
            by_operation: Vec::new(),
            returned: Tokens::ZERO,
            holding: Tokens::ZERO,
            need: Tokens::ZERO,
            want: Tokens::ZERO,
            fallback: Rate::ZERO,
        }
    }
}

/// What was spent on one operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OperationUse {
    /// Which operation.
    pub operation: Operation,
    /// How many requests.
    pub requests: u64,
    /// What they cost.
    pub cost: Tokens,
}

/// The answer to a [`Sync`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
pub struct SyncReply {
    /// The ledger's time.
    pub now: Millis,
    /// Another one whenever the ledger finds that it has lost something, or starts over.
    pub epoch: u64,
    /// Raised with every change of policy or emergency.
    pub version: u64,
    /// How long the leases last, from when the call was sent.
    pub lease_ttl: Millis,
    /// Whether the cluster is in emergency mode.
    pub emergency: Emergency,
    /// How much overload cuts of allocations above the guarantee.
    pub cut: Ratio,
    /// The answers, in the order of the entries.
    pub entries: Vec<Granted>,
}

/// What a node got for one application.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
pub struct Granted {
    /// What was added to its lease.
    pub granted: Tokens,
    /// Rights that are left in the application's bucket.
    pub remaining: Tokens,
    /// How long until what was needed is there; zero if it was granted, `None` if the guarantee never holds it.
    pub wait: Option<Millis>,
    /// The version of the application's policy; zero if there is no such application.
    pub policy_version: u64,
    /// Why the need was not met.
    pub refusal: Option<Reason>,
}

/// What happens to an application's rights when its quota changes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
pub enum Carry {
    /// They stay, as far as the new burst allows.
    Keep,
    /// They stay the same share of the burst.
    #[default]
    Scale,
    /// They start over with one second of the new guarantee.
    Reset,
}

/// An application as an operator sets it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
pub struct AppPolicy {
    /// Which application.
    pub app: AppId,
    /// What it is promised.
    pub quota: Quota,
    /// Whether it may pass at all.
    pub enabled: bool,
    /// Everything else about it, which the ledger keeps and hands out but does not read.
    pub body: String,
}

/// A change of one application's policy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PutApp {
    /// The application as it shall be.
    pub policy: AppPolicy,
    /// The version that is to be replaced: zero for a new application, `None` to replace whatever there is.
    pub replaces: Option<u64>,
    /// What happens to its rights.
    pub carry: Carry,
    /// When it shall take effect, by the ledger's time; at once if that has passed.
    pub effective_at: Millis,
}

/// A cluster and its applications, to fill an empty ledger.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seed {
    /// What the cluster can stand.
    pub capacity: Capacity,
    /// Its applications.
    pub apps: Vec<AppPolicy>,
    /// The version that a node remembers, if this ledger was there before and lost its memory. Nobody starts
    /// with anything then.
    pub remembered: Option<u64>,
}

/// Why a ledger did not do what it was asked to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LedgerError {
    /// A later life of this node has spoken.
    Fenced,
    /// A later call of this node has been answered.
    Stale,
    /// The ledger knows no such cluster: it has to be seeded.
    Unseeded,
    /// The ledger knows no such application.
    UnknownApp,
    /// The policy is not the one that was to be replaced; it has this version.
    Conflict(u64),
    /// The guarantees would add up to more than may be promised; this much is left.
    Overpromised(Rate),
    /// The tokens are not there.
    Refused(Refusal),
    /// There is no such reservation, or it has ended.
    NoReservation,
    /// The ledger did not answer in time: it may have done it.
    Timeout,
    /// The ledger could not be reached, or the connection broke: it may have done it.
    Connection(String),
    /// The ledger answered something else than was agreed.
    Protocol(String),
}

/// Why tokens are not there, and when they will be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Why.
    pub reason: Reason,
    /// How long until they are; `None` if the guarantee never holds that many.
    pub wait: Option<Millis>,
    /// What there is.
    pub available: Tokens,
}

impl std::fmt::Display for LedgerError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Fenced => write!(f, "a later incarnation of this node has spoken"),
            Self::Stale => write!(f, "a later call of this node has been answered"),
            Self::Unseeded => write!(f, "the ledger knows no such cluster"),
            Self::UnknownApp => write!(f, "the ledger knows no such application"),
            Self::Conflict(version) => {
                write!(f, "the policy has changed meanwhile, it is at version {version}")
            }
            Self::Overpromised(left) => {
                write!(f, "the guarantees exceed what may be promised, {left} is left")
            }
            Self::Refused(refusal) => write!(f, "refused: {}", refusal.reason),
            Self::NoReservation => write!(f, "no such reservation, or it has ended"),
            Self::Timeout => write!(f, "the ledger did not answer in time"),
            Self::Connection(why) => write!(f, "the ledger could not be reached: {why}"),
            Self::Protocol(what) => write!(f, "the ledger does not speak as agreed: {what}"),
        }
    }
}

impl std::error::Error for LedgerError {}
