//! Where an application's rights came from and where they went: its books.

use tollgate_core::account::Account;
use tollgate_core::units::Tokens;

/// Every right that came or went since the books were opened. They balance at any moment:
///
/// `opened + minted + drawn + loaned + adopted + overrun
///  = rights + outstanding + spent + lost + repaid + expired + suspected + dropped`
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
pub struct Flows {
    /// What was there when the books were opened.
    pub opened: Tokens,
    /// What the guarantee minted.
    pub minted: Tokens,
    /// What was drawn from the burst allowance.
    pub drawn: Tokens,
    /// What was borrowed, and what reservations owed.
    pub loaned: Tokens,
    /// What nodes presented as held, and the ledger had lost.
    pub adopted: Tokens,
    /// What was spent without having been leased: on a lease that had expired, or while cut off.
    pub overrun: Tokens,
    /// What was spent.
    pub spent: Tokens,
    /// What did not fit under the burst.
    pub lost: Tokens,
    /// What went into paying back.
    pub repaid: Tokens,
    /// What was in leases that expired.
    pub expired: Tokens,
    /// What was set aside for what nodes that are cut off let through on their own.
    pub suspected: Tokens,
    /// What a change of policy, a reset or lost memory took away.
    pub dropped: Tokens,
}

impl Flows {
    /// Books that open with what the account holds.
    pub fn open(account: &Account) -> Self {
        Self { opened: account.rights.plus(account.outstanding), ..Self::default() }
    }

    /// All that came, in millionths of a token: more than an amount can hold, if need be.
    pub fn sources(&self) -> u64 {
        let all = [self.opened, self.minted, self.drawn, self.loaned, self.adopted, self.overrun];
        all.into_iter().map(Tokens::micros).sum()
    }

    /// All that went, likewise.
    pub fn sinks(&self) -> u64 {
        let all = [self.spent, self.lost, self.repaid, self.expired, self.suspected, self.dropped];
        all.into_iter().map(Tokens::micros).sum()
    }

    /// Whether they balance with what the account holds.
    pub fn balances(&self, account: &Account) -> bool {
        self.sources() == self.sinks() + account.rights.micros() + account.outstanding.micros()
    }

    /// Closes the books and opens new ones before the sums grow out of what is exact. Returns whether it did.
    pub fn close_if_large(&mut self, account: &Account) -> bool {
        let large = Tokens::MAX.micros() / 4;
        let is_large = self.sources() > large || self.sinks() > large;
        if is_large {
            *self = Self::open(account);
        }
        is_large
    }
}
