//! What a node may have of one application, as whoever sees its messages reckons it: an account of the node's purse that
//! knows nothing of how the node keeps it.

use tollgate_core::units::{Nanos, Rate, Tokens};

/// One node's tokens of one application, in millionths.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Pocket {
    /// Of leases.
    leased: u64,
    /// Minted by itself while it was cut off.
    minted: u64,
    /// Let through, but for what was given back.
    passed: u64,
    /// Given back after it had passed.
    undone: u64,
    /// Reported as let through.
    reported: u64,
    /// What it minted lately: falls by the rate that it announced.
    minting: u64,
    minted_at: Nanos,
    /// The most that a request cost that asked for more than there was.
    asked: u64,
    /// Whether no lease has ended since the last report, and whether that was answered: then node and ledger agree.
    is_reported: bool,
    is_agreed: bool,
}

/// How much of its rate a node may mint to start with.
const FIRST_MINTED_MS: u64 = 100;

/// How much of its rate it may hold, unless a request costs more.
const MOST_MINTED_MS: u64 = 1_000;

impl Pocket {
    /// A grant arrived in time.
    pub(crate) const fn grant(&mut self, amount: Tokens) {
        self.leased += amount.micros();
        self.is_agreed = self.is_reported;
    }

    /// The lease ended: only what it minted itself is left.
    pub(crate) const fn expire(&mut self) {
        self.leased = 0;
        self.is_agreed = false;
        self.is_reported = false;
    }

    /// Whether node and ledger must agree on what is left.
    pub(crate) const fn is_agreed(&self) -> bool {
        self.is_agreed
    }

    /// A request asks for more than there is: so much may be saved up for it, if the application may ever have it.
    pub(crate) fn ask(&mut self, cost: Tokens, burst: Tokens) {
        self.asked = self.asked.max(cost.min(burst).micros());
    }

    /// It minted for itself at a rate that it had announced; whether that was no more than it may.
    pub(crate) fn mint(&mut self, amount: Tokens, rate: Rate, now: Nanos) -> bool {
        let fallen = rate.millis().saturating_mul(now.since(self.minted_at).get() / 1_000) / 1_000;
        self.minting = self.minting.saturating_sub(fallen) + amount.micros();
        self.minted_at = now;
        self.minted += amount.micros();
        let most = (rate.millis() * MOST_MINTED_MS).max(self.asked);
        self.minting <= rate.millis() * FIRST_MINTED_MS + most
    }

    /// Something passes; by how much that is more than it may have.
    pub(crate) fn pass(&mut self, cost: Tokens) -> Option<Tokens> {
        self.passed += cost.micros();
        let from_lease = cost.micros().min(self.leased);
        self.leased -= from_lease;
        let rest = cost.micros() - from_lease;
        let from_minted = rest.min(self.minted);
        self.minted -= from_minted;
        (rest > from_minted).then(|| Tokens::from_micros(rest - from_minted))
    }

    /// Something that had passed was given back. The node may count it as what it minted, and keep it longer.
    pub(crate) const fn undo(&mut self, cost: Tokens) {
        self.minted += cost.micros();
        self.passed -= cost.micros();
        self.undone += cost.micros();
    }

    /// It reports: what it has left must not be more than it may have. Returns by how much it is.
    pub(crate) fn left(&mut self, held: Tokens, returned: Tokens) -> Option<Tokens> {
        let has = held.micros() + returned.micros();
        let most = self.leased + self.minted;
        (self.leased, self.minted, self.is_reported) = (held.micros(), 0, true);
        (has > most).then(|| Tokens::from_micros(has - most))
    }

    /// It reports so much as let through. Whether that is what it let through: what was given back after it had been
    /// reported may be missing.
    pub(crate) const fn report(&mut self, spent: Tokens) -> bool {
        self.reported += spent.micros();
        self.passed <= self.reported && self.reported <= self.passed + self.undone
    }

    /// A report that will be said again under another name.
    pub(crate) const fn forget(&mut self, spent: Tokens) {
        self.reported = self.reported.saturating_sub(spent.micros());
    }

    /// What it minted itself and may still have.
    pub(crate) const fn minted(&self) -> Tokens {
        Tokens::from_micros(self.minted)
    }
}
