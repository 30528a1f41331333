use std::collections::VecDeque;
use std::net::IpAddr;
use std::sync::{Mutex, MutexGuard, PoisonError};
use tollgate_core::id::AppId;
use tollgate_core::units::{Millis, Nanos};
use tollgate_ledger::connection::{EventKind, NewEvent};

/// Single events that the log does not know of yet. The oldest go where there are too many.
#[derive(Debug, Default)]
pub(super) struct Pending(Mutex<VecDeque<Event>>);

#[derive(Clone, Debug)]
pub(super) struct Event {
    pub(super) app: AppId,
    pub(super) at: Nanos,
    pub(super) kind: EventKind,
    pub(super) client: Option<IpAddr>,
}

impl Pending {
    const MOST: usize = 500;

    pub(super) fn push(&self, event: Event) {
        let mut events = self.lock();
        if events.len() == Self::MOST {
            events.pop_front();
        }
        events.push_back(event);
    }

    pub(super) fn take(&self) -> VecDeque<Event> {
        std::mem::take(&mut *self.lock())
    }

    /// Puts back what could not be told, before what happened since.
    pub(super) fn put_back(&self, mut events: VecDeque<Event>) {
        let mut since = self.lock();
        events.append(&mut since);
        let surplus = events.len().saturating_sub(Self::MOST);
        events.drain(..surplus);
        *since = events;
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<Event>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Event {
    pub(super) fn as_of(&self, now: Nanos) -> NewEvent {
        let age = Millis::new(now.since(self.at).get() / 1_000_000);
        NewEvent { app: self.app.clone(), age, kind: self.kind, count: 1, client: self.client }
    }
}
