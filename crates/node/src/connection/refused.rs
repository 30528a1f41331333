use std::fmt;
use tollgate_core::reason::Reason;
use tollgate_core::units::Millis;

/// Why a connection may not be opened, and what there is to tell a client about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refused {
    /// Why.
    pub reason: Reason,
    /// How many connections there may be.
    pub limit: u64,
    /// How many there are, over all nodes, as far as this node knows; slots that nodes hold ahead are counted.
    pub current: u64,
    /// When to come back; `None` if waiting will not help.
    pub retry_after: Option<Millis>,
}

/// Why a connection could not be opened at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Denied {
    /// This node holds no free slot: the ledger has to be asked.
    NoSlot,
    /// It may not be opened.
    Refused(Refused),
}

impl Refused {
    /// How many more there may be.
    pub const fn remaining(&self) -> u64 {
        self.limit.saturating_sub(self.current)
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} of {} connections", self.reason, self.current, self.limit)
    }
}

impl std::error::Error for Refused {}
