//! What nodes say about connections, and what they are answered.

use std::net::IpAddr;
use tollgate_core::connection::{Limits, Shortage};
use tollgate_core::id::{AppId, NodeId};
use tollgate_core::units::Millis;

/// What a node holds and needs. Applications that are not named stay as they are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hold {
    /// Who is speaking.
    pub node: NodeId,
    /// Which life of that node: a later one fences earlier ones off, and their slots are free.
    pub incarnation: u64,
    /// The number of this call, from 1 on. The same number again gets the same answer again.
    pub seq: u64,
    /// The last call that this life of the node had an answer to, if that was within the lifetime of its slots; else 0.
    pub acked: u64,
    /// Whether this is goodbye: all its slots are free then. Said again, it is stale.
    pub is_leaving: bool,
    /// How many connections the cluster may have.
    pub cluster_max: u32,
    /// One entry for each application that there is something to say about.
    pub entries: Vec<HoldEntry>,
}

/// What a node holds and needs for one application.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HoldEntry {
    /// Which application.
    pub app: AppId,
    /// The slots that the node has and goes on using until it is answered.
    pub holds: u32,
    /// How many it needs in all, for the connections that there are and those that wait.
    pub need: u32,
    /// How many would be welcome in all.
    pub want: u32,
    /// How many connections the application may have.
    pub limits: Limits,
}

/// The answer to a [`Hold`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HoldReply {
    /// How long the slots last, from when the call was sent.
    pub ttl: Millis,
    /// All slots of the cluster that are out.
    pub cluster_total: u64,
    /// Whether the ledger may not know all that this node holds: it should tell everything.
    pub is_partial: bool,
    /// The answers, in the order of the entries.
    pub entries: Vec<Held>,
}

/// What a node has for one application now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Held {
    /// Its slots in all: never less than it said it holds.
    pub slots: u32,
    /// All slots of the application that are out, over all nodes.
    pub app_total: u64,
    /// Why the need was not met.
    pub shortage: Option<Shortage>,
}

/// Connections counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Open now, on a slot.
    pub open: u64,
    /// Slots that are held.
    pub held: u64,
    /// Open now without a slot, since the ledger could not be asked.
    pub untracked: u64,
    /// The most that were open at once.
    pub peak: u64,
    /// Opened so far.
    pub opened: u64,
    /// Refused so far.
    pub rejected: u64,
    /// Never released by their holder, so far.
    pub leaked: u64,
}

/// What a node tells about its connections, every ten seconds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// Who is speaking.
    pub node: NodeId,
    /// Over all its applications.
    pub totals: Counts,
    /// For each application, or the busiest of them.
    pub apps: Vec<(AppId, Counts)>,
    /// What happened since the last report, the oldest first.
    pub events: Vec<NewEvent>,
}

/// What a node last told about its connections.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeStats {
    /// Which node.
    pub node: NodeId,
    /// When.
    pub at: Millis,
    /// Over all its applications.
    pub totals: Counts,
    /// For each application, by name.
    pub apps: Vec<(AppId, Counts)>,
}

/// Something that happened on a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewEvent {
    /// To which application.
    pub app: AppId,
    /// How long ago.
    pub age: Millis,
    /// What.
    pub kind: EventKind,
    /// How often.
    pub count: u64,
    /// From where, if it was one client.
    pub client: Option<IpAddr>,
}

/// Something that happened, as it is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConnectionEvent {
    /// When, by the ledger's time.
    pub at: Millis,
    /// On which node.
    pub node: NodeId,
    /// What.
    pub kind: EventKind,
    /// How often.
    pub count: u64,
    /// From where, if it was one client.
    pub client: Option<IpAddr>,
}

macro_rules! kinds {
    ($($(#[$doc:meta])* $variant:ident $code:literal,)+) => {
        /// What happened to connections.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum EventKind {
            $($(#[$doc])* $variant,)+
        }

        impl EventKind {
            /// Every kind.
            pub const ALL: &[Self] = &[$(Self::$variant),+];

            /// The code, as in logs.
            pub const fn code(self) -> &'static str {
                match self { $(Self::$variant => $code),+ }
            }
        }
    };
}

kinds! {
    /// Refused: the application had too many.
    AppLimitExceeded "app_limit_exceeded",
    /// Refused: the cluster had too many.
    ClusterLimitExceeded "cluster_limit_exceeded",
    /// Refused: the ledger was still learning what nodes hold.
    LocalExhausted "local_exhausted",
    /// Never released by its holder.
    ConnectionLeaked "connection_leaked",
    /// Let in without a slot, since the ledger could not be asked.
    Untracked "untracked",
    /// The application has other limits.
    LimitsChanged "limits_changed",
}

impl EventKind {
    /// The kind of that code.
    pub fn parse(code: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|kind| kind.code() == code)
    }
}
