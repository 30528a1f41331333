//! What a desk wants of the ledger, and what comes of it.

use crate::app::{App, Retry};
use crate::permit::Permit;
use std::sync::Arc;
use tollgate_core::decision::Tier;
use tollgate_core::reason::Reason;
use tollgate_core::units::Nanos;
use tollgate_ledger::protocol::{Changes, Seed, Sync, SyncReply};

/// One call to be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Job {
    /// Report and ask.
    Sync(Sync),
    /// Say goodbye.
    Depart(Sync),
    /// Fill an empty ledger.
    Seed(Seed),
    /// Read the policies that changed after that version.
    Changes(u64),
}

/// What the ledger answered to a [`Job`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    /// To [`Job::Sync`].
    Sync(SyncReply),
    /// To [`Job::Depart`].
    Departed,
    /// To [`Job::Seed`].
    Seeded,
    /// To [`Job::Changes`].
    Changes(Changes),
}

/// What became of a request that waited, and its ticket.
pub type Outcome<T> = (T, Result<Permit<Arc<App>>, Refused>);

/// Why a request may not pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refused {
    /// Why.
    pub reason: Reason,
    /// Who said so.
    pub tier: Tier,
    pub(crate) retry: Retry,
}

impl Refused {
    /// A request that waited for the ledger as long as it may.
    pub const fn timed_out() -> Self {
        let retry = Retry::after(Nanos::from_secs(1));
        Self { reason: Reason::RedisTimeout, tier: Tier::Node, retry }
    }
}
