//! An application as one node sees it.

use crate::bell::Bell;
use crate::counters::{Counters, Counts};
use crate::desk::Refused;
use crate::dry::{Dry, Spell};
use crate::permit::Permit;
use crate::purse::Purse;
use crate::request::Request;
use crate::roster::Stamp;
use crate::tally::{Cell, Tally};
use arc_swap::ArcSwap;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use tollgate_config::policy;
use tollgate_core::cost::{Operation, Price};
use tollgate_core::decision::{Decision, Tier, Verdict};
use tollgate_core::id::AppId;
use tollgate_core::reason::Reason;
use tollgate_core::units::{Millis, Nanos, Tokens};

/// An application as one node sees it: what the node holds for it, and by which terms.
///
/// There is one for as long as the application is known; whoever looked it up may keep it. What a request reads and writes
/// that passes is one cache line, with the count of those who keep it: it is what a request waits for where there are ten
/// thousand of them, and threads at work on different applications do not disturb each other.
#[repr(C)]
pub struct App {
    head: Head,
    purse: Purse,
    gets: Cell,
    rest: Box<Rest>,
}

/// What a request that passes at once does not look at. It lies elsewhere, so that ten thousand applications are on few pages.
struct Rest {
    /// What was spent; on GET, see there.
    spent: [Cell; Operation::COUNT],
    /// What was counted as spent and has been undone since.
    undone: [Cell; Operation::COUNT],
    dry: Dry,
    counters: Counters,
    /// Rights that the ledger said were left.
    remaining: AtomicU64,
    /// What requests turned out to cost beyond what was in the purse.
    owed: AtomicU64,
    /// What was put back after it was switched off.
    withheld: AtomicU64,
    /// Whether it is switched off, or gone.
    is_closed: AtomicBool,
    terms: ArcSwap<Terms>,
    id: AppId,
    bell: Arc<Bell>,
    /// Whole tokens that callers gave back afterwards.
    returned: AtomicU64,
    /// The [stamp](Stamp) of the change that it came with.
    enrolled: AtomicU64,
}

/// An allocator that rounds sizes up to powers of two, as that of the shipped program, puts it on a line of its own.
#[cfg(all(not(tollgate_loom), target_pointer_width = "64"))]
const _: () = assert!(size_of::<App>() + 2 * size_of::<usize>() == 64);

/// A short name in two words, to be compared at a glance; of a longer one only that it is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Head([u64; 2]);

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
            gets: Cell::default(),
            rest: Box::new(Rest {
                spent: Default::default(),
                undone: Default::default(),
                dry: Dry::default(),
                counters: Counters::default(),
                remaining: AtomicU64::new(0),
                owed: AtomicU64::new(0),
                withheld: AtomicU64::new(0),
                is_closed: AtomicBool::new(false),
                terms: ArcSwap::from_pointee(terms),
                id,
                bell,
                returned: AtomicU64::new(0),
                enrolled: AtomicU64::new(0),
            }),
        };
        app.follow_terms();
        app
    }

    /// Its name.
    pub const fn id(&self) -> &AppId {
        &self.rest.id
    }

    /// Whether that is its name, of which this is the head.
    #[inline]
    pub(crate) fn is_called(&self, name: &str, head: Head) -> bool {
        self.head == head && (head != Head::LONG || *self.rest.id == *name)
    }

    /// The head of its name.
    pub(crate) const fn head(&self) -> Head {
        self.head
    }

    /// The terms in force.
    pub fn terms(&self) -> Arc<Terms> {
        self.rest.terms.load_full()
    }

    /// What a request costs by these terms.
    #[inline]
    pub fn price(&self, operation: Operation, bytes: u64) -> Price {
        if bytes == 0
            && let Some(base) = self.purse.price(operation)
        {
            return Price::named(operation, base);
        }
        self.rest.terms.load().policy.prices.price(operation, bytes)
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
        let mut counts = self.rest.counters.counts();
        counts.add(&self.tally().peek());
        counts
    }

    /// Takes what a request costs from the purse.
    #[inline]
    pub(crate) fn pay(&self, price: &Price) -> bool {
        let Some(left) = self.purse.take(price.tokens()) else { return false };
        self.spent(price.operation).count(price.cost());
        self.watch(left);
        true
    }

    /// Takes what a request costs by these terms from the purse; returns the price that was paid.
    #[inline]
    pub(crate) fn buy(&self, request: &Request<'_>) -> Result<Price, Price> {
        match self.buy_plainly(request) {
            Some(cost) => Ok(Price::named(Operation::Get, cost)),
            None => self.buy_apart(request),
        }
    }

    /// The same for what most requests are, a GET without a body: returns what it cost, in whole tokens.
    #[inline]
    pub(crate) fn buy_plainly(&self, request: &Request<'_>) -> Option<u64> {
        if !request.is_plain_get() {
            return None;
        }
        let (cost, left) = self.purse.get().or_else(|| self.get_after_counting())?;
        self.watch(left);
        Some(cost)
    }

    /// The purse counts a few requests beside its tokens: from time to time they have to be put elsewhere.
    #[inline(never)]
    fn get_after_counting(&self) -> Option<(u64, Tokens)> {
        self.gets.count_all(self.purse.take_counted());
        self.purse.get()
    }

    /// Kept apart from what most requests do, which is to be short.
    #[inline(never)]
    fn buy_apart(&self, request: &Request<'_>) -> Result<Price, Price> {
        let price = request.price(|| self.price(request.operation, request.bytes));
        if self.pay(&price) { Ok(price) } else { Err(price) }
    }

    /// Asks for more if what is left is little.
    #[inline]
    fn watch(&self, left: Tokens) {
        if self.purse.runs_low(left) {
            self.rest.bell.runs_low(&self.rest.id);
        }
    }

    /// Gives back what a request had paid.
    pub(crate) fn refund(&self, price: &Price) {
        self.put_back(price.tokens());
        self.rest.undone[price.operation.index()].count(price.cost());
        self.rest.counters.rolled_back();
    }

    /// Charges what a request turned out to cost instead of what it paid. What cannot be taken is owed.
    pub(crate) fn adjust(&self, paid: &Price, actual: &Price) {
        let excess = paid.tokens().minus(actual.tokens());
        let missing = actual.tokens().minus(paid.tokens());
        if !excess.is_zero() {
            self.put_back(excess);
            self.rest.undone[paid.operation.index()].add_cost(excess.floor());
        }
        if !missing.is_zero() {
            self.owe(missing.minus(self.purse.take_up_to(missing)));
            self.spent(paid.operation).add_cost(missing.floor());
        }
    }

    /// Whoever speaks to the ledger may have forgotten the application by now, and hears of it once until it has collected.
    fn owe(&self, amount: Tokens) {
        if !amount.is_zero() && self.rest.owed.fetch_add(amount.micros(), Ordering::Relaxed) == 0 {
            self.rest.bell.owes(&self.rest.id);
        }
    }

    /// Takes back what a caller was charged for and says it did not need, but never more than passed here. Returns how much.
    pub(crate) fn take_back(&self, operation: Operation, cost: u64) -> u64 {
        let passed = self.counts().passed().cost;
        let mut taken = 0;
        let _ = self.rest.returned.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |returned| {
            taken = cost.min(passed.saturating_sub(returned));
            Some(returned + taken)
        });
        let put = self.put_back(Tokens::whole(taken));
        self.rest.undone[operation.index()].add_cost(put.floor());
        put.floor()
    }

    /// Puts back what was paid; returns how much of it found room. Whoever is switched off gets nothing that could be spent: it goes back
    /// to the ledger.
    fn put_back(&self, amount: Tokens) -> Tokens {
        if self.is_closed() {
            self.withhold(amount);
            return amount;
        }
        let put = self.purse.put(amount, self.rest.terms.load().policy.quota.burst);
        // In that very moment: whoever empties the purse may have been there before.
        if self.is_closed() {
            self.withhold(self.purse.take_up_to(put));
        }
        put
    }

    fn is_closed(&self) -> bool {
        self.rest.is_closed.load(Ordering::Acquire)
    }

    fn withhold(&self, amount: Tokens) {
        self.rest.withheld.fetch_add(amount.micros(), Ordering::Relaxed);
    }

    /// What was put back and cannot be spent here, and has not been collected.
    pub(crate) fn collect_withheld(&self) -> Tokens {
        Tokens::from_micros(self.rest.withheld.swap(0, Ordering::Relaxed))
    }

    /// What is owed and has not been collected.
    pub(crate) fn collect_owed(&self) -> Tokens {
        Tokens::from_micros(self.rest.owed.swap(0, Ordering::Relaxed))
    }

    /// Whether anything was counted or is owed that the ledger has not been told of.
    pub(crate) fn has_counted(&self) -> bool {
        let is_any = |amount: &AtomicU64| amount.load(Ordering::Relaxed) > 0;
        !self.tally().is_empty()
            || !self.undone().is_empty()
            || is_any(&self.rest.owed)
            || is_any(&self.rest.withheld)
    }

    /// Whether the policy says to decide and count, but to let pass.
    pub(crate) fn is_shadow(&self) -> bool {
        self.rest.terms.load().policy.shadow
    }

    /// Refuses a request, whatever mode the application is in.
    pub(crate) fn refuse_outright(&self, price: Price, refused: Refused) -> Decision {
        self.rest.counters.refused(refused.reason, price.tokens(), false);
        self.decision(Verdict::Refused(refused.reason), refused.tier, price, refused.retry)
    }

    /// The answer to one of its requests.
    pub(crate) fn decision(&self, verdict: Verdict, tier: Tier, price: Price, retry: Retry) -> Decision {
        let terms = self.rest.terms.load();
        let limit = terms.policy.quota.burst;
        let known = Tokens::from_micros(self.rest.remaining.load(Ordering::Relaxed));
        let remaining = known.plus(self.purse.held()).min(limit);
        let missing = limit.minus(remaining);
        let reset_after = terms.policy.quota.guaranteed.time_to_mint(missing).unwrap_or(Millis::MAX);
        let policy_version = terms.version;
        Decision { verdict, tier, price, limit, remaining, retry_after: retry.0, reset_after, policy_version }
    }

    /// Why a request that found too little need not ask the ledger.
    pub(crate) fn stops(&self, price: &Price, now: Nanos) -> Option<(Reason, Retry)> {
        let spell = self.rest.dry.spell(price.tokens(), now)?;
        let guaranteed = self.rest.terms.load().policy.quota.guaranteed;
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

    /// What was spent since it was last reported.
    pub(crate) fn tally(&self) -> Tally<'_> {
        self.gets.count_all(self.purse.take_counted());
        Tally(Operation::ALL.map(|operation| self.spent(operation)))
    }

    /// What was undone since it was last reported.
    pub(crate) fn undone(&self) -> Tally<'_> {
        Tally(self.rest.undone.each_ref())
    }

    #[inline]
    pub(crate) fn spent(&self, operation: Operation) -> &Cell {
        match operation {
            Operation::Get => &self.gets,
            other => &self.rest.spent[other.index()],
        }
    }

    pub(crate) const fn dry(&self) -> &Dry {
        &self.rest.dry
    }

    pub(crate) const fn counters(&self) -> &Counters {
        &self.rest.counters
    }

    pub(crate) fn set_remaining(&self, remaining: Tokens) {
        self.rest.remaining.store(remaining.micros(), Ordering::Relaxed);
    }

    /// Puts other terms in force.
    pub(crate) fn set_terms(&self, terms: Terms) {
        self.rest.terms.store(Arc::new(terms));
        self.follow_terms();
    }

    /// It will be known from then on.
    pub(crate) fn enrol(&self, stamp: Stamp) {
        self.rest.enrolled.store(stamp.0, Ordering::Relaxed);
    }

    /// Since when it has been known.
    pub(crate) fn enrolled(&self) -> Stamp {
        Stamp(self.rest.enrolled.load(Ordering::Relaxed))
    }

    /// The application is gone: whoever kept it gets nothing any more.
    pub(crate) fn retire(&self) {
        self.rest.is_closed.store(true, Ordering::Release);
        self.rest.dry.set(&Spell::lasting(Reason::UnknownApp));
    }

    fn follow_terms(&self) {
        let terms = self.rest.terms.load();
        self.gets.count_all(self.purse.set_prices(&terms.policy.prices));
        self.rest.is_closed.store(!terms.policy.enabled, Ordering::Release);
        if terms.policy.enabled {
            self.rest.dry.clear();
        } else {
            self.rest.dry.set(&Spell::lasting(Reason::AppDisabled));
        }
    }
}

impl Head {
    /// That of every name which does not fit.
    pub(crate) const LONG: Self = Self([u64::MAX; 2]);

    /// Up to fifteen bytes with zeros behind them, and the length in the last byte.
    #[inline]
    pub(crate) fn of(name: &str) -> Self {
        let name = name.as_bytes();
        let bits = |bytes: usize| u32::try_from(bytes * 8).unwrap_or(u32::MAX);
        let [low, high] = match (name.first_chunk(), name.last_chunk()) {
            _ if name.len() > 15 => return Self::LONG,
            // The last eight bytes, less those that are among the first.
            (Some(&first), Some(&last)) => {
                let last = u64::from_le_bytes(last).checked_shr(bits(16 - name.len()));
                [u64::from_le_bytes(first), last.unwrap_or(0)]
            }
            _ => [name.iter().rev().fold(0, |low, &byte| low << 8 | u64::from(byte)), 0],
        };
        Self([low, high | (name.len() as u64) << 56])
    }

    /// Spreads heads over all numbers, in another way for each pair of keys.
    #[inline]
    pub(crate) fn hash(self, keys: [u64; 2]) -> u64 {
        let [low, high] = self.0;
        let wide = u128::from(low ^ keys[0]) * u128::from(high ^ keys[1]);
        #[expect(clippy::cast_possible_truncation, reason = "both halves are used")]
        let folded = (wide >> 64) as u64 ^ wide as u64;
        folded
    }
}

/// When to come back; never if waiting does not help.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Retry(Option<Millis>);

impl Retry {
    pub(crate) const NEVER: Self = Self(None);
    pub(crate) const NOW: Self = Self::after(Nanos::ZERO);

    pub(crate) const fn of(wait: Option<Millis>) -> Self {
        Self(wait)
    }

    /// Rounded up: whoever comes back then must not be early.
    pub(crate) const fn after(wait: Nanos) -> Self {
        Self(Some(Millis::new(wait.get().div_ceil(1_000_000))))
    }
}

impl fmt::Debug for App {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("App").field("id", &self.rest.id).field("held", &self.held()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn names_of_up_to_fifteen_bytes_are_told_apart_by_their_heads(
            a in "[ab]{0,17}|[a-c\\x00é]{0,7}",
            b in "[ab]{0,17}|[a-c\\x00é]{0,7}",
        ) {
            let is_long = |name: &str| name.len() > 15;
            prop_assert_eq!(Head::of(&a) == Head::of(&b), a == b || is_long(&a) && is_long(&b));
            prop_assert_eq!(Head::of(&a) == Head::LONG, is_long(&a));
        }
    }
}
