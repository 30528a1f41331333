//! What to tell the ledger about an application, and what to make of the answer.

use super::agenda::HEARTBEAT;
use crate::connection::room::Room;
use std::sync::Arc;
use tollgate_core::connection::Move;
use tollgate_core::units::Nanos;
use tollgate_ledger::connection::{Held, HoldEntry};

/// What is told about one application.
pub(super) struct Line {
    pub(super) room: Arc<Room>,
    pub(super) entry: HoldEntry,
    /// Whether slots move, or might.
    pub(super) is_change: bool,
}

impl Line {
    /// What there is to tell, if anything. Slots that are given back are not used any more from here on.
    pub(super) fn of(room: &Arc<Room>, now: Nanos) -> Option<Self> {
        let holding = room.holding();
        let (held, want) = match holding.next() {
            Move::Stay => (holding.held, holding.held),
            Move::Ask(total) => (holding.held, total),
            Move::GiveBack(total) => (room.gauge.trim(total), total),
        };
        let is_known = room.view.is_acknowledged(room.presented(held));
        let is_change = holding.next() != Move::Stay || !is_known;
        // Whoever holds idle slots looks how short they are for others.
        let is_old = now.since(room.view.asked_at()) >= HEARTBEAT;
        let is_worth_it = is_change || (is_old && holding.idle() > 0);
        is_worth_it.then(|| Self::new(room, held, want, is_change))
    }

    /// The same with all idle slots given back; `None` if there are none.
    pub(super) fn without_idle(room: &Arc<Room>) -> Option<Self> {
        let holding = room.holding();
        let keep = holding.in_use.saturating_add(holding.waiting);
        let held = room.gauge.trim(keep);
        (held < holding.held).then(|| Self::new(room, held, held, true))
    }

    fn new(room: &Arc<Room>, held: u32, want: u32, is_change: bool) -> Self {
        let holding = room.holding();
        let entry = HoldEntry {
            app: room.app.clone(),
            holds: room.presented(held),
            need: room.presented(holding.in_use.saturating_add(holding.waiting)),
            want: room.presented(want),
            limits: room.limits(),
        };
        Self { room: Arc::clone(room), entry, is_change }
    }

    /// The ledger answered. A refusal stands until `until`.
    pub(super) fn settle(&self, held: &Held, now: Nanos, until: Nanos) {
        self.room.gauge.add(held.slots.saturating_sub(self.entry.holds));
        self.room.view.learn(held.slots, held.app_total, now);
        match held.shortage {
            Some(shortage) => self.room.view.refuse(shortage, until),
            None => self.room.view.pardon(),
        }
    }
}
