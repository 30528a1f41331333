//! What an application gets while the ledger is down.

use crate::units::{Rate, Ratio};

/// What to do with an application whose ledger cannot be reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outage {
    /// Let this much through at each node.
    Limited(Rate),
    /// Let this share of what the node last had through: all nodes together then stay within the same share
    /// of what they had together.
    Share(Ratio),
    /// Let nothing through.
    Closed,
}

impl Default for Outage {
    fn default() -> Self {
        Self::Limited(Rate::per_second(100))
    }
}

impl Outage {
    /// The rate at a node that last had `share`.
    pub const fn rate(&self, share: Rate) -> Rate {
        match self {
            Self::Limited(rate) => *rate,
            Self::Share(ratio) => share.scaled(*ratio),
            Self::Closed => Rate::ZERO,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_sized_by_the_policy() {
        let share = Rate::per_second(3_000);
        assert_eq!(Outage::default().rate(share), Rate::per_second(100));
        assert_eq!(Outage::Share(Ratio::percent(50)).rate(share), Rate::per_second(1_500));
        assert_eq!(Outage::Closed.rate(share), Rate::ZERO);
    }
}
