//! Those who only look what would become of a request. They stand beside the line: what they ask for is wanted and never needed, so
//! that nothing is borrowed for it; it is no demand, and nothing is taken.

use super::job::{Outcome, Refused};
use crate::app::App;
use crate::permit::Permit;
use std::sync::Arc;
use tollgate_core::cost::Price;
use tollgate_core::decision::Tier;
use tollgate_core::units::Tokens;

/// The most who look at one application at a time.
const MAX_LOOKING: usize = 1_024;

/// All who look at one application.
#[derive(Debug)]
pub(super) struct Onlookers<T>(Vec<Onlooker<T>>);

/// Somebody who looks.
#[derive(Debug)]
struct Onlooker<T> {
    ticket: T,
    price: Price,
    /// Whether the ledger was asked since they came.
    is_asked: bool,
}

impl<T> Onlookers<T> {
    pub(super) const fn new() -> Self {
        Self(Vec::new())
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// One more; gives the ticket back if there are too many.
    pub(super) fn join(&mut self, ticket: T, price: Price) -> Result<(), T> {
        if self.0.len() >= MAX_LOOKING {
            return Err(ticket);
        }
        self.0.push(Onlooker { ticket, price, is_asked: false });
        Ok(())
    }

    /// The ledger is asked: what has to be left for all of them to find enough.
    pub(super) fn ask(&mut self) -> Option<Tokens> {
        self.0.iter_mut().for_each(|one| one.is_asked = true);
        self.0.iter().map(|one| one.price.tokens()).max()
    }

    /// Tells those who would find enough in the purse.
    pub(super) fn tell(&mut self, app: &Arc<App>, tier: Tier, out: &mut Vec<Outcome<T>>) {
        let held = app.held();
        for one in self.0.extract_if(.., |one| one.price.tokens() <= held) {
            out.push((one.ticket, Ok(Permit::seen(Arc::clone(app), one.price).by(tier))));
        }
    }

    /// Tells those that the ledger was asked for why they would not pass.
    pub(super) fn warn(&mut self, why: impl Fn(&Price) -> Refused, out: &mut Vec<Outcome<T>>) {
        let asked = self.0.extract_if(.., |one| one.is_asked);
        out.extend(asked.map(|one| (one.ticket, Err(why(&one.price)))));
    }

    /// Tells all of them why they would not pass.
    pub(super) fn warn_all(&mut self, why: impl Fn(&Price) -> Refused, out: &mut Vec<Outcome<T>>) {
        out.extend(self.0.drain(..).map(|one| (one.ticket, Err(why(&one.price)))));
    }
}
