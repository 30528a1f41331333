//! What becomes of a request between the purse and the desk, for whoever drives a desk without a runtime.

use crate::app::{App, Retry};
use crate::connection;
use crate::desk::{Refused, tier_of};
use crate::permit::Permit;
use std::sync::Arc;
use tollgate_core::cost::Price;
use tollgate_core::decision::{Decision, Tier, Verdict};
use tollgate_core::units::{Millis, Nanos, Tokens};

/// What is decided about a request without asking anybody.
#[derive(Debug)]
pub enum Decided {
    /// It may pass.
    Passed(Permit),
    /// It may not.
    Refused(Decision),
    /// Only the ledger can tell.
    Ask,
}

impl App {
    /// Lets a request pass if its cost is in the purse. `now` is by the clock of the node's desks.
    pub fn decide(self: &Arc<Self>, price: Price, now: Nanos) -> Decided {
        if self.pay(&price) {
            return Decided::Passed(Permit::paid(Arc::clone(self), price));
        }
        self.decide_without(price, now)
    }

    /// Decides about a request whose cost is not in the purse.
    pub(crate) fn decide_without(self: &Arc<Self>, price: Price, now: Nanos) -> Decided {
        let Some((reason, retry)) = self.stops(&price, now) else { return Decided::Ask };
        match self.refuse(price, Refused { reason, tier: tier_of(reason), retry }) {
            Ok(permit) => Decided::Passed(permit),
            Err(decision) => Decided::Refused(decision),
        }
    }

    /// What would be decided about a request, as far as can be told without asking anybody. Nothing is paid, nothing counted.
    pub(crate) fn glance(&self, price: Price, now: Nanos) -> Option<Decision> {
        if price.tokens() <= self.held() {
            return Some(self.decision(Verdict::Allowed, Tier::Node, price, Retry::NOW));
        }
        let (reason, retry) = self.stops(&price, now)?;
        Some(self.foretell(price, Refused { reason, tier: tier_of(reason), retry }))
    }

    /// What would be said to a request that is refused for that.
    pub(crate) fn foretell(&self, price: Price, refused: Refused) -> Decision {
        let Refused { reason, tier, retry } = refused;
        if self.is_shadow() {
            return self.decision(Verdict::Shadowed(reason), tier, price, Retry::NOW);
        }
        self.decision(Verdict::Refused(reason), tier, price, retry)
    }

    /// Refuses a request that found no room for its connection, or lets it pass in shadow mode: once refused, it is asked for no
    /// tokens.
    pub(crate) fn crowd_out(
        self: &Arc<Self>,
        price: Price,
        refused: &connection::Refused,
    ) -> Result<Permit, Decision> {
        let (reason, retry) = (refused.reason, Retry::of(refused.retry_after));
        // More tokens would not have helped: this is no demand for them.
        self.counters().refused(reason, Tokens::ZERO, self.is_shadow());
        let refused = Refused { reason, tier: tier_of(reason), retry };
        if self.is_shadow() {
            return Ok(Permit::in_shadow(Arc::clone(self), price, refused.tier, reason));
        }
        Err(self.decision(Verdict::Refused(reason), refused.tier, price, refused.retry))
    }

    /// Refuses a request, or lets it pass in shadow mode.
    pub fn refuse(self: &Arc<Self>, price: Price, refused: Refused) -> Result<Permit, Decision> {
        if self.is_shadow() {
            self.counters().refused(refused.reason, price.tokens(), true);
            return Ok(Permit::in_shadow(Arc::clone(self), price, refused.tier, refused.reason));
        }
        Err(self.refuse_outright(price, refused))
    }
}

/// An answer of which no more is known than that.
pub(crate) const fn bare(verdict: Verdict, price: Price) -> Decision {
    Decision {
        verdict,
        tier: Tier::Node,
        price,
        limit: Tokens::ZERO,
        remaining: Tokens::ZERO,
        retry_after: None,
        reset_after: Millis::ZERO,
        policy_version: 0,
    }
}
