//! Reservations: tokens spent ahead for work whose cost is known only when it is done.

use super::{Book, CHORES, climate};
use crate::protocol::{LedgerError, MAX_AMOUNT, Refusal};
use std::collections::BTreeMap;
use tollgate_core::id::AppId;
use tollgate_core::reason::Reason;
use tollgate_core::reservation::{MOST_OPEN, Reservation, Settlement};
use tollgate_core::units::{Millis, Tokens};

/// When an application that has too many open may try again.
const FULL_WAIT: Millis = Millis::from_secs(1);

/// A reservation and whose it is.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
pub struct Held {
    /// Whose tokens they are.
    pub app: AppId,
    /// How many, and until when.
    pub reservation: Reservation,
}

impl Book {
    /// Takes `estimate` now, or refuses. The caller makes the id up, unguessable.
    pub fn reserve(
        &mut self,
        id: &str,
        app: &AppId,
        estimate: Tokens,
        timeout: Millis,
        now: Millis,
    ) -> Result<Reservation, LedgerError> {
        self.advance(now);
        if let Some(held) = self.held.get(id) {
            // The answer got lost and the call came again.
            return Ok(held.reservation);
        }
        self.refill(app, now)?;
        self.find_room(app)?;
        let estimate = estimate.min(MAX_AMOUNT);
        self.spend_now(app, estimate, now)?;
        let reservation = Reservation::new(estimate, now.plus(timeout));
        count_one(&mut self.open, app);
        self.ends.insert((reservation.expires_at, id.to_owned()));
        self.held.insert(id.to_owned(), Held { app: app.clone(), reservation });
        Ok(reservation)
    }

    /// Refuses one more to an application that has as many as it may.
    fn find_room(&self, id: &AppId) -> Result<(), LedgerError> {
        if self.open.get(id).is_none_or(|open| *open < MOST_OPEN) {
            return Ok(());
        }
        let available = self.apps.get(id).ok_or(LedgerError::UnknownApp)?.account.rights;
        Err(LedgerError::Refused(Refusal { reason: Reason::AppExhausted, wait: Some(FULL_WAIT), available }))
    }

    /// The work is done and cost `actual`: gives back the excess, or takes the shortfall.
    pub fn complete(&mut self, id: &str, actual: Tokens, now: Millis) -> Result<Settlement, LedgerError> {
        self.advance(now);
        let actual = actual.min(MAX_AMOUNT);
        self.settle_held(id, now, |reservation, available| reservation.complete(actual, available).ok())
    }

    /// The work was given up: all of it comes back.
    pub fn cancel(&mut self, id: &str, now: Millis) -> Result<Settlement, LedgerError> {
        self.advance(now);
        self.settle_held(id, now, |reservation, _| reservation.cancel().ok())
    }

    /// Ends reservations whose time is up, a bounded number in each call.
    pub(super) fn expire_held(&mut self, now: Millis) {
        for _ in 0..CHORES {
            let Some((_, id)) = self.ends.first().filter(|(ends, _)| *ends <= now).cloned() else { return };
            let _ = self.settle_held(&id, now, |reservation, _| reservation.expire(now));
        }
    }

    fn settle_held(
        &mut self,
        id: &str,
        now: Millis,
        end: impl FnOnce(&mut Reservation, Tokens) -> Option<Settlement>,
    ) -> Result<Settlement, LedgerError> {
        let mut held = self.held.remove(id).ok_or(LedgerError::NoReservation)?;
        self.ends.remove(&(held.reservation.expires_at, id.to_owned()));
        self.forget_one(&held.app);
        // An application that was deleted meanwhile has nothing to settle with.
        self.refill(&held.app, now)?;
        let app = self.apps.get_mut(&held.app).ok_or(LedgerError::UnknownApp)?;
        let available = app.account.rights;
        let settlement = end(&mut held.reservation, available).ok_or(LedgerError::NoReservation)?;
        let spilled = app.settle(&climate(&self.emergency, &self.overload, app), &settlement);
        self.pool.absorb(spilled, &self.capacity, self.promised);
        Ok(settlement)
    }

    /// Counts what each application has open, which snapshots do not say.
    #[cfg(feature = "snapshot")]
    pub(crate) fn count_open(&mut self) {
        self.open.clear();
        for held in self.held.values() {
            count_one(&mut self.open, &held.app);
        }
    }

    /// An application has one less open.
    fn forget_one(&mut self, id: &AppId) {
        if let Some(open) = self.open.get_mut(id) {
            *open = open.saturating_sub(1);
            if *open == 0 {
                self.open.remove(id);
            }
        }
    }
}

/// An application has one more open.
fn count_one(open: &mut BTreeMap<AppId, u32>, app: &AppId) {
    *open.entry(app.clone()).or_default() += 1;
}
