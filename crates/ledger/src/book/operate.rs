//! What exact callers and operators ask for: tokens at once, loans, emergencies, a fresh start.

use super::Book;
use crate::protocol::{LedgerError, MAX_AMOUNT, Refusal};
use tollgate_core::borrow::{BorrowError, Repayment};
use tollgate_core::emergency::Event;
use tollgate_core::grant::Ask;
use tollgate_core::id::AppId;
use tollgate_core::reason::Reason;
use tollgate_core::units::{Millis, Tokens};

impl Book {
    /// Spends all of `cost` or nothing; returns the rights that are left.
    pub fn acquire(&mut self, app: &AppId, cost: Tokens, now: Millis) -> Result<Tokens, LedgerError> {
        self.advance(now);
        self.refill(app, now)?;
        self.spend_now(app, cost.min(MAX_AMOUNT), now)?;
        self.apps.get(app).map(|app| app.account.rights).ok_or(LedgerError::UnknownApp)
    }

    /// Borrows `amount` into the bucket; returns the debt it makes.
    pub fn borrow(&mut self, id: &AppId, amount: Tokens, now: Millis) -> Result<Tokens, LedgerError> {
        self.advance(now);
        self.refill(id, now)?;
        let spendable = self.pool.spendable(&self.capacity);
        let is_emergency = self.emergency.is_on();
        let app = self.apps.get_mut(id).ok_or(LedgerError::UnknownApp)?;
        let terms = app.quota().loan;
        let refuse = |reason, available| LedgerError::Refused(Refusal { reason, wait: None, available });
        if is_emergency {
            return Err(refuse(Reason::EmergencyQuotaExceeded, Tokens::ZERO));
        }
        app.account.loan.check(&terms, amount, spendable).map_err(|error| match error {
            BorrowError::LimitExceeded(left) => refuse(Reason::BorrowLimitExceeded, left),
            BorrowError::ClusterInsufficient(left) => refuse(Reason::ClusterInsufficient, left),
        })?;
        let room = app.account.room(app.quota()).minus(app.account.rights);
        if amount > room {
            return Err(refuse(Reason::BorrowLimitExceeded, room));
        }
        Ok(app.borrow(&terms, amount))
    }

    /// Pays back from the bucket, as far as there is debt and there are rights.
    pub fn repay(&mut self, id: &AppId, amount: Tokens, now: Millis) -> Result<Repayment, LedgerError> {
        self.advance(now);
        self.refill(id, now)?;
        let app = self.apps.get_mut(id).ok_or(LedgerError::UnknownApp)?;
        let (repayment, spilled) = app.repay(amount);
        self.pool.absorb(spilled, &self.capacity, self.promised);
        Ok(repayment)
    }

    /// An operator declares an emergency, or gives it a new end.
    pub fn declare_emergency(&mut self, reason: &str, duration: Millis, now: Millis) -> Event {
        self.advance(now);
        self.version += 1;
        reason.clone_into(&mut self.emergency_reason);
        self.emergency.activate(duration, now)
    }

    /// An operator ends the emergency, if there is one.
    pub fn end_emergency(&mut self, now: Millis) -> Option<Event> {
        self.advance(now);
        let event = self.emergency.deactivate(now);
        self.version += u64::from(event.is_some());
        event
    }

    /// Starts an application's bucket over, debt and burst allowance included. Leases stay out.
    pub fn reset(&mut self, id: &AppId, now: Millis) -> Result<(), LedgerError> {
        self.advance(now);
        self.refill(id, now)?;
        self.apps.get_mut(id).ok_or(LedgerError::UnknownApp)?.reset();
        Ok(())
    }

    /// Takes and spends all of `cost` from an application brought up to now, or nothing.
    pub(super) fn spend_now(&mut self, id: &AppId, cost: Tokens, now: Millis) -> Result<(), LedgerError> {
        let app = self.apps.get(id).ok_or(LedgerError::UnknownApp)?;
        let refuse = |reason, wait, available| Err(LedgerError::Refused(Refusal { reason, wait, available }));
        if !app.policy.enabled {
            return refuse(Reason::AppDisabled, None, app.account.rights);
        }
        let drawn = self.draw(id, Ask::exactly(cost), now).ok_or(LedgerError::UnknownApp)?;
        if let Some(reason) = drawn.refusal {
            return refuse(reason, drawn.wait, drawn.available);
        }
        self.hand_out(id, &drawn, now);
        self.usage.record(cost, now);
        if let Some(app) = self.apps.get_mut(id) {
            app.spend(cost, 1);
        }
        Ok(())
    }
}
