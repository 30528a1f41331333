//! The right to pass, paid for and not used yet.

use crate::app::{App, Retry};
use std::ops::Deref;
use std::sync::Arc;
use tollgate_core::cost::Price;
use tollgate_core::decision::{Decision, Tier, Verdict};
use tollgate_core::reason::Reason;

/// A request that may pass. Dropped before anybody [kept](Permit::keep) or [settled](Permit::settle) it, it gives
/// back what was paid: a request that never got anywhere costs nothing.
#[derive(Debug)]
#[must_use = "dropped, it gives back what was paid"]
pub struct Permit<A: Deref<Target = App> = Arc<App>> {
    app: A,
    price: Price,
    tier: Tier,
    /// Set if the application's shadow mode let it pass: nothing was paid then.
    shadowed: Option<Reason>,
    is_open: bool,
}

impl<A: Deref<Target = App>> Permit<A> {
    /// It was paid from the purse.
    pub(crate) const fn paid(app: A, price: Price) -> Self {
        Self { app, price, tier: Tier::Node, shadowed: None, is_open: true }
    }

    /// It passes because of shadow mode only.
    pub(crate) const fn in_shadow(app: A, price: Price, tier: Tier, reason: Reason) -> Self {
        Self { app, price, tier, shadowed: Some(reason), is_open: true }
    }

    pub(crate) const fn by(mut self, tier: Tier) -> Self {
        self.tier = tier;
        self
    }

    /// Which application passes.
    pub fn app(&self) -> &App {
        &self.app
    }

    /// What was paid, and how that was found.
    pub const fn price(&self) -> &Price {
        &self.price
    }

    /// The answer, with everything a person may ask about it.
    pub fn decision(&self) -> Decision {
        let verdict = self.shadowed.map_or(Verdict::Allowed, Verdict::Shadowed);
        self.app.decision(verdict, self.tier, self.price, Retry::NOW)
    }

    /// The request has reached those who do the work: what was paid is spent.
    pub fn keep(mut self) {
        self.is_open = false;
    }

    /// The work turned out to be something else, more or fewer bytes say. What was paid too much goes back; what is
    /// missing is taken, as far as it is there, and owed otherwise.
    pub fn settle(mut self, actual: Price) {
        self.is_open = false;
        if self.shadowed.is_none() {
            self.app.adjust(&self.price, &actual);
        }
    }
}

impl<A: Deref<Target = App>> Drop for Permit<A> {
    fn drop(&mut self) {
        if self.is_open && self.shadowed.is_none() {
            self.app.refund(&self.price);
        }
    }
}
