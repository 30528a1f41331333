//! The right to pass, paid for and not used yet.

use crate::app::{App, Retry};
use crate::decide::bare;
use crate::roster::{Roster, Stamp};
use std::ops::Deref;
use std::sync::Arc;
use tollgate_core::cost::Price;
use tollgate_core::decision::{Decision, Tier, Verdict};
use tollgate_core::reason::Reason;

/// A request that may pass. Dropped before anybody [kept](Permit::keep) or [settled](Permit::settle) it, it gives
/// back what was paid: a request that never got anywhere costs nothing.
#[derive(Debug)]
#[must_use = "dropped, it gives back what was paid"]
pub struct Permit<P: Payer = Arc<App>> {
    payer: P,
    price: Price,
    tier: Tier,
    /// Set if the application's shadow mode let it pass: nothing was paid then.
    shadowed: Option<Reason>,
    is_open: bool,
}

/// Who paid, and gets back what was too much.
pub trait Payer {
    /// Does something with the application, unless it is gone.
    fn with<R>(&self, f: impl FnOnce(&App) -> R) -> Option<R>;
}

impl<A: Deref<Target = App>> Payer for A {
    fn with<R>(&self, f: impl FnOnce(&App) -> R) -> Option<R> {
        Some(f(self))
    }
}

/// An application that is looked up again should anything have to be given back to it: holding it would cost nearly as much as the
/// rest of a decision. If it is gone by then, or moved to another cluster, there is nobody to give it to, and what was paid stays spent.
#[derive(Clone, Copy, Debug)]
pub struct ByName<'a> {
    pub(crate) roster: &'a Roster,
    pub(crate) name: &'a str,
    pub(crate) stamp: Stamp,
}

impl Payer for ByName<'_> {
    fn with<R>(&self, f: impl FnOnce(&App) -> R) -> Option<R> {
        self.roster.with_same(self.name, self.stamp, |app| f(app))
    }
}

impl<P: Payer> Permit<P> {
    /// It was paid from the purse.
    #[inline]
    pub(crate) const fn paid(payer: P, price: Price) -> Self {
        Self { payer, price, tier: Tier::Node, shadowed: None, is_open: true }
    }

    /// It passes because of shadow mode only.
    pub(crate) const fn in_shadow(payer: P, price: Price, tier: Tier, reason: Reason) -> Self {
        Self { payer, price, tier, shadowed: Some(reason), is_open: true }
    }

    /// It could be paid, and was not: whoever asked only looks.
    pub(crate) const fn seen(payer: P, price: Price) -> Self {
        Self { payer, price, tier: Tier::Node, shadowed: None, is_open: false }
    }

    pub(crate) const fn by(mut self, tier: Tier) -> Self {
        self.tier = tier;
        self
    }

    /// The same in the hands of another.
    pub(crate) fn held_by<Q: Payer>(self, payer: Q) -> Permit<Q> {
        let Self { price, tier, shadowed, is_open, .. } = self;
        self.keep();
        Permit { payer, price, tier, shadowed, is_open }
    }

    /// What was paid, and how that was found.
    pub const fn price(&self) -> &Price {
        &self.price
    }

    /// Why it would not pass, were it not for shadow mode.
    #[inline]
    pub const fn shadowed(&self) -> Option<Reason> {
        self.shadowed
    }

    /// The answer, with everything a person may ask about it.
    pub fn decision(&self) -> Decision {
        let verdict = self.shadowed.map_or(Verdict::Allowed, Verdict::Shadowed);
        let known = self.payer.with(|app| app.decision(verdict, self.tier, self.price, Retry::NOW));
        known.unwrap_or_else(|| Decision { tier: self.tier, ..bare(verdict, self.price) })
    }

    /// The request has reached those who do the work: what was paid is spent.
    #[inline]
    pub fn keep(mut self) {
        self.is_open = false;
    }

    /// The work turned out to be something else, more or fewer bytes say. What was paid too much goes back; what is
    /// missing is taken, as far as it is there, and owed otherwise.
    pub fn settle(mut self, actual: Price) {
        self.is_open = false;
        if self.shadowed.is_none() {
            self.payer.with(|app| app.adjust(&self.price, &actual));
        }
    }

    /// Kept apart from what most permits come to, so that nothing of it is in their way.
    #[cold]
    fn undo(&self) {
        if self.shadowed.is_none() {
            self.payer.with(|app| app.refund(&self.price));
        }
    }
}

impl<A: Deref<Target = App>> Permit<A> {
    /// Which application passes.
    pub fn app(&self) -> &App {
        &self.payer
    }
}

impl<P: Payer> Drop for Permit<P> {
    #[inline]
    fn drop(&mut self) {
        if self.is_open {
            self.undo();
        }
    }
}
