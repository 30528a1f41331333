//! An application at a node that is cut off: what it may mint, and what those are told who find too little.

use super::super::alarm::Alarm;
use super::super::job::{Outcome, Refused};
use super::super::onlookers::Onlookers;
use super::{Lease, Waiting};
use crate::app::Retry;
use std::collections::VecDeque;
use tollgate_core::decision::Tier;
use tollgate_core::fallback::Outage;
use tollgate_core::reason::Reason;
use tollgate_core::units::{Millis, Nanos, Rate, Ratio, Tokens};

/// How much later than it was told to a large request may come back and find what was saved up for it: clients count whole
/// seconds.
const GRACE: Nanos = Nanos::from_secs(1);

/// When to come back if nobody knows: the ledger may be there again.
const SOON: Nanos = Nanos::from_secs(1);

/// What a node that is cut off goes by.
#[derive(Clone, Copy, Debug)]
pub(in crate::desk) struct Alone {
    /// The emergency that it knows of.
    pub(in crate::desk) alarm: Alarm,
    /// Why it is alone.
    pub(in crate::desk) trouble: Reason,
    pub(in crate::desk) now: Nanos,
}

/// What a request waits for that costs more than is minted in a second: until then so much may be held.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Saving {
    cost: Tokens,
    until: Nanos,
}

impl<T> Lease<T> {
    /// What the node lets through on its own, should it lose the ledger. It goes on by the emergency that it knows of.
    pub(in crate::desk) fn fallback(&self, alarm: Alarm, now: Nanos) -> Rate {
        let policy = &self.app.terms().policy;
        policy.outage.rate(self.share.rate()).scaled(alarm.kept(policy.quota.priority, now))
    }

    /// Mints what the node may let through on its own since it last did: at most a second of it, or what a request costs that it is
    /// asked for, or saves up for.
    pub(in crate::desk) fn mint(&mut self, cost: Tokens, alarm: Alarm, now: Nanos) {
        // The first time there is no last time: a tenth of a second.
        let since = self.minted_at.unwrap_or(Nanos::new(now.get().saturating_sub(100_000_000)));
        let elapsed = Millis::new(now.since(since).get() / 1_000_000);
        if elapsed == Millis::ZERO {
            return;
        }
        self.minted_at = Some(since.plus(Nanos::new(elapsed.get() * 1_000_000)));
        let rate = self.fallback(alarm, now);
        // An emergency that is over was not, for a part of the time.
        let cut = elapsed.min(Millis::new(alarm.left(since).get() / 1_000_000));
        let minted = self.fallback(alarm, since).over(cut).plus(rate.over(elapsed.since(cut)));
        let saved = if now < self.saving.until { self.saving.cost } else { Tokens::ZERO };
        let wanted = cost.max(saved).min(self.app.terms().policy.quota.burst);
        let added = self.app.purse().put(minted, rate.per_one_second().max(wanted));
        self.base = self.base.plus(added);
        self.minted = self.minted.plus(added);
    }

    /// Serves those who wait, as far as what can be minted goes, and refuses the others.
    pub(in crate::desk) fn serve_alone(&mut self, alone: Alone, out: &mut Vec<Outcome<T>>) {
        self.refuse_hopeless(alone, out);
        let first = self.first_in_line();
        self.mint(first, alone.alarm, alone.now);
        self.serve(Tokens::ZERO, Tier::Fallback, out);
        let mut ahead = Tokens::ZERO;
        for waiting in std::mem::take(&mut self.waiting) {
            let cost = waiting.price.tokens();
            out.push((waiting.ticket, Err(self.refuse_alone(cost, ahead, alone))));
            ahead = ahead.plus(cost);
        }
        self.need = Tokens::ZERO;
    }

    /// Refuses those who would wait in vain, and keep others from what is there.
    fn refuse_hopeless(&mut self, alone: Alone, out: &mut Vec<Outcome<T>>) {
        let most = self.most_alone(self.fallback(alone.alarm, alone.now));
        let is_hopeless = |waiting: &Waiting<T>| waiting.price.tokens() > most;
        let (hopeless, waiting) = std::mem::take(&mut self.waiting).into_iter().partition(is_hopeless);
        self.waiting = waiting;
        let hopeless: VecDeque<Waiting<T>> = hopeless;
        for Waiting { ticket, price } in hopeless {
            self.need = self.need.minus(price.tokens());
            out.push((ticket, Err(self.foretell_alone(price.tokens(), Tokens::ZERO, alone))));
        }
    }

    /// The most that may ever be held.
    fn most_alone(&self, rate: Rate) -> Tokens {
        rate.per_one_second().max(self.app.terms().policy.quota.burst)
    }

    /// Tells those who only look what would become of them.
    pub(in crate::desk) fn tell_onlookers_alone(&mut self, alone: Alone, out: &mut Vec<Outcome<T>>) {
        let mut onlookers = std::mem::replace(&mut self.onlookers, Onlookers::new());
        onlookers.tell(&self.app, Tier::Fallback, out);
        onlookers.warn_all(|price| self.foretell_alone(price.tokens(), Tokens::ZERO, alone), out);
    }

    /// Refuses a request without the ledger. If it will be paid for some time, that is saved up for it until then.
    pub(in crate::desk) fn refuse_alone(&mut self, cost: Tokens, ahead: Tokens, alone: Alone) -> Refused {
        if let Some(wait) = self.wait_alone(cost, ahead, alone) {
            self.save(cost, alone.now.plus(wait).plus(GRACE), alone.now);
        }
        self.foretell_alone(cost, ahead, alone)
    }

    /// How long until what a request costs has been minted, and what those cost who were there before; `None` if it never will be.
    fn wait_alone(&self, cost: Tokens, ahead: Tokens, alone: Alone) -> Option<Nanos> {
        let rate = self.fallback(alone.alarm, alone.now);
        let missing = cost.plus(ahead).minus(self.app.held());
        rate.time_to_mint(missing).filter(|_| cost <= self.most_alone(rate)).map(Nanos::from)
    }

    /// Why a request is refused without the ledger, and when to come back.
    pub(in crate::desk) fn foretell_alone(&self, cost: Tokens, ahead: Tokens, alone: Alone) -> Refused {
        let Alone { alarm, trouble, now } = alone;
        let policy = &self.app.terms().policy;
        let because = |reason, retry| Refused { reason, tier: Tier::Fallback, retry };
        if policy.outage == Outage::Closed {
            return because(trouble, Retry::after(SOON));
        }
        if alarm.kept(policy.quota.priority, now) == Ratio::ZERO {
            return because(Reason::EmergencyBlocked, Retry::after(alarm.left(now)));
        }
        let rate = self.fallback(alarm, now);
        if cost > self.most_alone(rate) {
            return because(Reason::LocalExhausted, Retry::NEVER);
        }
        let wait = self.wait_alone(cost, ahead, alone);
        because(Reason::LocalExhausted, Retry::after(wait.unwrap_or(SOON)))
    }

    /// Of several the largest counts.
    fn save(&mut self, cost: Tokens, until: Nanos, now: Nanos) {
        if now >= self.saving.until {
            self.saving = Saving::default();
        }
        self.saving = Saving { cost: cost.max(self.saving.cost), until: until.max(self.saving.until) };
    }
}
