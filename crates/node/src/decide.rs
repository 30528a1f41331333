//! What becomes of a request between the purse and the desk, for whoever drives a desk without a runtime.

use crate::app::App;
use crate::desk::{Refused, tier_of};
use crate::permit::Permit;
use std::sync::Arc;
use tollgate_core::cost::Price;
use tollgate_core::decision::{Decision, Verdict};
use tollgate_core::units::Nanos;

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
        let Some((reason, retry)) = self.stops(&price, now) else { return Decided::Ask };
        match self.refuse(price, Refused { reason, tier: tier_of(reason), retry }) {
            Ok(permit) => Decided::Passed(permit),
            Err(decision) => Decided::Refused(decision),
        }
    }

    /// Refuses a request, or lets it pass in shadow mode.
    pub fn refuse(self: &Arc<Self>, price: Price, refused: Refused) -> Result<Permit, Decision> {
        let is_shadow = self.is_shadow();
        self.counters().refused(refused.reason, price.tokens(), is_shadow);
        if is_shadow {
            return Ok(Permit::in_shadow(Arc::clone(self), price, refused.tier, refused.reason));
        }
        Err(self.decision(Verdict::Refused(refused.reason), refused.tier, price, refused.retry))
    }
}
