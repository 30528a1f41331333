//! An application as one node sees it.

use crate::bell::Bell;
use crate::counters::{Counters, Counts};
use crate::desk::Refused;
use crate::dry::{Dry, Spell};
use crate::permit::Permit;
use crate::purse::Purse;
use crate::tally::Tally;
use arc_swap::ArcSwap;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use tollgate_config::policy;
use tollgate_core::cost::{Operation, Price};
use tollgate_core::decision::{Decision, Tier, Verdict};
use tollgate_core::id::AppId;
use tollgate_core::reason::Reason;
use tollgate_core::units::{Millis, Nanos, Tokens};

/// An application as one node sees it: what the node holds for it, and by which terms.
///
/// There is one for as long as the application is known; whoever looked it up may keep it. Apart from its
/// neighbours in memory, so that threads at work on different applications do not disturb each other; and what a
/// request reads that passes comes first, in the order in which it is read, since that is what it waits for where there
/// are ten thousand of them.
#[repr(C, align(64))]
pub struct App {
    head: Head,
    purse: Purse,
    bases: [AtomicU32; Operation::COUNT],
    tally: Tally,
    /// What was counted in the tally and has been undone since.
    undone: Tally,
    dry: Dry,
    counters: Counters,
    /// Rights that the ledger said were left.
    remaining: AtomicU64,
    /// What requests turned out to cost beyond what was in the purse.
    owed: AtomicU64,
    terms: ArcSwap<Terms>,
    id: AppId,
    bell: Arc<Bell>,
    /// Whole tokens that callers gave back afterwards.
    returned: AtomicU64,
}

/// The beginning of a name, to be compared without looking elsewhere.
struct Head {
    len: u8,
    bytes: [u8; Self::LEN],
}

/// The terms in force.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Terms {
    /// What it was promised, and how it is treated.
    pub policy: policy::App,
    /// The version of that; zero if it is known from this node's own configuration only.
    pub version: u64,
}

impl App {
    pub(crate) fn new(id: AppId, terms: Terms, bell: Arc<Bell>) -> Self {
        let app = Self {
            head: Head::of(&id),
            purse: Purse::default(),
            bases: Default::default(),
            tally: Tally::default(),
            undone: Tally::default(),
            dry: Dry::default(),
            counters: Counters::default(),
            remaining: AtomicU64::new(0),
            owed: AtomicU64::new(0),
            terms: ArcSwap::from_pointee(terms),
            id,
            bell,
            returned: AtomicU64::new(0),
        };
        app.follow_terms();
        app
    }

    /// Its name.
    pub const fn id(&self) -> &AppId {
        &self.id
    }

    /// Whether that is its name.
    #[inline]
    pub(crate) fn is_called(&self, name: &str) -> bool {
        match self.head.bytes.get(..name.len()) {
            Some(head) => usize::from(self.head.len) == name.len() && head == name.as_bytes(),
            None => *self.id == *name,
        }
    }

    /// The terms in force.
    pub fn terms(&self) -> Arc<Terms> {
        self.terms.load_full()
    }

    /// What a request costs by these terms.
    #[inline]
    pub fn price(&self, operation: Operation, bytes: u64) -> Price {
        if bytes == 0 {
            let base = self.bases[operation.index()].load(Ordering::Relaxed);
            return Price::named(operation, u64::from(base));
        }
        self.terms.load().policy.prices.price(operation, bytes)
    }

    /// Lets a request pass if its cost is in the purse: no lock, no clock, no allocation, no call.
    #[inline]
    pub fn check(&self, price: Price) -> Option<Permit<&Self>> {
        self.pay(&price).then(|| Permit::paid(self, price))
    }

    /// What the node holds for it.
    pub fn held(&self) -> Tokens {
        self.purse.held()
    }

    /// What happened to its requests at this node.
    pub fn counts(&self) -> Counts {
        let mut counts = self.counters.counts();
        counts.add(&self.tally.peek());
        counts
    }

    /// Takes what a request costs from the purse.
    #[inline]
    pub(crate) fn pay(&self, price: &Price) -> bool {
        let Some(left) = self.purse.take(price.tokens()) else { return false };
        self.tally.count(price);
        if self.purse.runs_low(left) {
            self.bell.runs_low(&self.id);
        }
        true
    }

    /// Gives back what a request had paid.
    pub(crate) fn refund(&self, price: &Price) {
        self.purse.put(price.tokens(), self.terms.load().policy.quota.burst);
        self.undone.count(price);
        self.counters.rolled_back();
    }

    /// Charges what a request turned out to cost instead of what it paid. What cannot be taken is owed.
    pub(crate) fn adjust(&self, paid: &Price, actual: &Price) {
        let excess = paid.tokens().minus(actual.tokens());
        let missing = actual.tokens().minus(paid.tokens());
        if !excess.is_zero() {
            self.purse.put(excess, self.terms.load().policy.quota.burst);
            self.undone.add_cost(paid.operation, excess.floor());
        }
        if !missing.is_zero() {
            let owed = missing.minus(self.purse.take_up_to(missing));
            self.owed.fetch_add(owed.micros(), Ordering::Relaxed);
            self.tally.add_cost(paid.operation, missing.floor());
        }
    }

    /// Takes back what a caller was charged for and says it did not need, but never more than passed here. Returns how much.
    pub(crate) fn take_back(&self, operation: Operation, cost: u64) -> u64 {
        let passed = self.counts().passed().cost;
        let mut taken = 0;
        let _ = self.returned.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |returned| {
            taken = cost.min(passed.saturating_sub(returned));
            Some(returned + taken)
        });
        let put = self.purse.put(Tokens::whole(taken), self.terms.load().policy.quota.burst);
        self.undone.add_cost(operation, put.floor());
        put.floor()
    }

    /// What is owed and has not been collected.
    pub(crate) fn collect_owed(&self) -> Tokens {
        Tokens::from_micros(self.owed.swap(0, Ordering::Relaxed))
    }

    /// Whether anything was counted or is owed that the ledger has not been told of.
    pub(crate) fn has_counted(&self) -> bool {
        !self.tally.is_empty() || !self.undone.is_empty() || self.owed.load(Ordering::Relaxed) > 0
    }

    /// Whether the policy says to decide and count, but to let pass.
    pub(crate) fn is_shadow(&self) -> bool {
        self.terms.load().policy.shadow
    }

    /// Refuses a request, whatever mode the application is in.
    pub(crate) fn refuse_outright(&self, price: Price, refused: Refused) -> Decision {
        self.counters.refused(refused.reason, price.tokens(), false);
        self.decision(Verdict::Refused(refused.reason), refused.tier, price, refused.retry)
    }

    /// The answer to one of its requests.
    pub(crate) fn decision(&self, verdict: Verdict, tier: Tier, price: Price, retry: Retry) -> Decision {
        let terms = self.terms.load();
        let limit = terms.policy.quota.burst;
        let known = Tokens::from_micros(self.remaining.load(Ordering::Relaxed));
        let remaining = known.plus(self.purse.held()).min(limit);
        let missing = limit.minus(remaining);
        let reset_after = terms.policy.quota.guaranteed.time_to_mint(missing).unwrap_or(Millis::MAX);
        let policy_version = terms.version;
        Decision { verdict, tier, price, limit, remaining, retry_after: retry.0, reset_after, policy_version }
    }

    /// Why a request that found too little need not ask the ledger.
    pub(crate) fn stops(&self, price: &Price, now: Nanos) -> Option<(Reason, Retry)> {
        let spell = self.dry.spell(price.tokens(), now)?;
        let guaranteed = self.terms.load().policy.quota.guaranteed;
        let minting = |amount: Tokens| guaranteed.time_to_mint(amount).map(Nanos::from);
        let missing = price.tokens().minus(self.purse.held());
        match spell.come_back(minting(price.tokens()), minting(missing), now)? {
            Nanos::MAX => Some((spell.reason, Retry::NEVER)),
            come_back => Some((spell.reason, Retry::after(come_back.since(now)))),
        }
    }

    pub(crate) const fn purse(&self) -> &Purse {
        &self.purse
    }

    pub(crate) const fn tally(&self) -> &Tally {
        &self.tally
    }

    pub(crate) const fn undone(&self) -> &Tally {
        &self.undone
    }

    pub(crate) const fn dry(&self) -> &Dry {
        &self.dry
    }

    pub(crate) const fn counters(&self) -> &Counters {
        &self.counters
    }

    pub(crate) fn set_remaining(&self, remaining: Tokens) {
        self.remaining.store(remaining.micros(), Ordering::Relaxed);
    }

    /// Puts other terms in force.
    pub(crate) fn set_terms(&self, terms: Terms) {
        self.terms.store(Arc::new(terms));
        self.follow_terms();
    }

    /// The application is gone: whoever kept it gets nothing any more.
    pub(crate) fn retire(&self) {
        self.dry.set(&Spell::lasting(Reason::UnknownApp));
    }

    fn follow_terms(&self) {
        let terms = self.terms.load();
        for (cell, &operation) in self.bases.iter().zip(&Operation::ALL) {
            let base = terms.policy.prices.base(operation);
            cell.store(u32::try_from(base).unwrap_or(u32::MAX), Ordering::Relaxed);
        }
        if terms.policy.enabled {
            self.dry.clear();
        } else {
            self.dry.set(&Spell::lasting(Reason::AppDisabled));
        }
    }
}

impl Head {
    const LEN: usize = 31;

    fn of(name: &str) -> Self {
        let mut bytes = [0; Self::LEN];
        for (byte, &of_name) in bytes.iter_mut().zip(name.as_bytes()) {
            *byte = of_name;
        }
        Self { len: u8::try_from(name.len()).unwrap_or(u8::MAX), bytes }
    }
}

/// When to come back; never if waiting does not help.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Retry(Option<Millis>);

impl Retry {
    pub(crate) const NEVER: Self = Self(None);
    pub(crate) const NOW: Self = Self::after(Nanos::ZERO);

    /// Rounded up: whoever comes back then must not be early.
    pub(crate) const fn after(wait: Nanos) -> Self {
        Self(Some(Millis::new(wait.get().div_ceil(1_000_000))))
    }
}

impl fmt::Debug for App {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("App").field("id", &self.id).field("held", &self.held()).finish_non_exhaustive()
    }
}
