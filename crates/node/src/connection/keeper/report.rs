use super::Keeper;
use crate::connection::clock::NodeClock;
use crate::connection::contact::Contact;
use crate::connection::event::Event;
use crate::connection::room::Room;
use std::cmp::Reverse;
use std::collections::VecDeque;
use std::sync::Arc;
use tollgate_core::id::AppId;
use tollgate_core::units::{Millis, Nanos};
use tollgate_ledger::connection::{Counts, EventKind, MAX_ENTRIES, NewEvent, Report};
use tollgate_ledger::{LedgerError, Slots};

/// What was counted since the last report.
struct Counted {
    room: Arc<Room>,
    kind: EventKind,
    count: u64,
}

impl<L: Slots, T: Contact, C: NodeClock> Keeper<L, T, C> {
    /// Tells the ledger how the connections are doing and what happened. What could not be told is told the next time.
    pub async fn report(&mut self) {
        let now = self.clock.now();
        if !self.contact.may_call(now) {
            return;
        }
        let single = self.connections.0.shared.pending.take();
        let counted = self.counted(MAX_ENTRIES - single.len().min(MAX_ENTRIES));
        let report = Report {
            node: self.identity.node.clone(),
            totals: self.connections.totals(),
            apps: self.busiest(),
            events: events(&single, &counted, now),
        };
        let settings = &self.connections.0.settings;
        let call = self.ledger.report_connections(&settings.cluster, &report);
        let answer = tokio::time::timeout(settings.ledger_timeout, call).await;
        let answer = answer.unwrap_or(Err(LedgerError::Timeout));
        self.note(&answer, now);
        match answer {
            Ok(()) => counted.iter().for_each(Counted::log),
            Err(_) => self.connections.0.shared.pending.put_back(single),
        }
    }

    fn counted(&self, most: usize) -> Vec<Counted> {
        let rooms = self.connections.0.rooms.load();
        let of_room = |room: &Arc<Room>| {
            let missing = room.tally.to_log().map(|(kind, logged)| (kind, logged.missing()));
            let missing = missing.into_iter().filter(|(_, count)| *count > 0);
            missing.map(|(kind, count)| Counted { room: Arc::clone(room), kind, count }).collect::<Vec<_>>()
        };
        rooms.values().flat_map(of_room).take(most).collect()
    }

    /// The applications with anything to tell, or those with the most connections.
    fn busiest(&self) -> Vec<(AppId, Counts)> {
        let mut apps = self.connections.all_counts();
        apps.retain(|(_, counts)| *counts != Counts::default());
        apps.sort_unstable_by_key(|(_, counts)| Reverse((counts.open, counts.opened)));
        apps.truncate(MAX_ENTRIES);
        apps
    }
}

impl Counted {
    fn log(&self) {
        for (kind, logged) in self.room.tally.to_log() {
            if kind == self.kind {
                logged.log(self.count);
            }
        }
    }
}

fn events(single: &VecDeque<Event>, counted: &[Counted], now: Nanos) -> Vec<NewEvent> {
    let counted = counted.iter().map(|counted| NewEvent {
        app: counted.room.app.clone(),
        age: Millis::ZERO,
        kind: counted.kind,
        count: counted.count,
        client: None,
    });
    single.iter().map(|event| event.as_of(now)).chain(counted).collect()
}
