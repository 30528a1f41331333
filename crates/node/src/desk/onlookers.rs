//! Those who only look what would become of a request. They stand beside the line: what they ask for is wanted and never needed, so
//! that nothing is borrowed for it; it is no demand, and nothing is taken.

use super::job::{Outcome, Refused};
use crate::app::App;
use crate::permit::Permit;
use std::sync::Arc;
use tollgate_core::cost::Price;
use tollgate_core::decision::Tier;
use tollgate_core::units::{Nanos, Tokens};

/// The most who look at one application at a time.
const MAX_LOOKING: usize = 1_024;

/// All who look at one application.
#[derive(Debug)]
pub(super) struct Onlookers<T> {
    looking: Vec<Onlooker<T>>,
    warned: Option<Warning>,
}

/// What was said last to one who would not pass. Whoever would need as much is told the same for a while, without asking the ledger.
#[derive(Clone, Copy, Debug)]
struct Warning {
    cost: Tokens,
    refused: Refused,
    until: Nanos,
}

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
        Self { looking: Vec::new(), warned: None }
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.looking.is_empty()
    }

    /// One more; gives the ticket back if there are too many.
    pub(super) fn join(&mut self, ticket: T, price: Price) -> Result<(), T> {
        if self.looking.len() >= MAX_LOOKING {
            return Err(ticket);
        }
        self.looking.push(Onlooker { ticket, price, is_asked: false });
        Ok(())
    }

    /// The ledger is asked: what has to be left for all of them to find enough.
    pub(super) fn ask(&mut self) -> Option<Tokens> {
        self.looking.iter_mut().for_each(|one| one.is_asked = true);
        self.looking.iter().map(|one| one.price.tokens()).max()
    }

    /// Tells those who would find enough in the purse.
    pub(super) fn tell(&mut self, app: &Arc<App>, tier: Tier, out: &mut Vec<Outcome<T>>) {
        let held = app.held();
        for one in self.looking.extract_if(.., |one| one.price.tokens() <= held) {
            out.push((one.ticket, Ok(Permit::seen(Arc::clone(app), one.price).by(tier))));
        }
    }

    /// Tells those that the ledger was asked for why they would not pass, which holds for the others until then.
    pub(super) fn warn(&mut self, why: impl Fn(&Price) -> Refused, until: Nanos, out: &mut Vec<Outcome<T>>) {
        for one in self.looking.extract_if(.., |one| one.is_asked) {
            let (cost, refused) = (one.price.tokens(), why(&one.price));
            self.warned = self
                .warned
                .filter(|last| last.until == until && last.cost <= cost)
                .or(Some(Warning { cost, refused, until }));
            out.push((one.ticket, Err(refused)));
        }
    }

    /// What somebody was told a moment ago who would have needed no more.
    pub(super) fn warning(&self, cost: Tokens, now: Nanos) -> Option<Refused> {
        self.warned.filter(|last| now < last.until && last.cost <= cost).map(|last| last.refused)
    }

    /// Tells all of them why they would not pass.
    pub(super) fn warn_all(&mut self, why: impl Fn(&Price) -> Refused, out: &mut Vec<Outcome<T>>) {
        out.extend(self.looking.drain(..).map(|one| (one.ticket, Err(why(&one.price)))));
    }
}
