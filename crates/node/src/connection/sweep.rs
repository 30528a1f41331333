//! Finding connections that nobody released.

use super::connections::Connections;
use super::event::Event;
use super::table::Table;
use super::track::{Status, Track};
use std::sync::{Arc, PoisonError};
use tollgate_core::units::Nanos;
use tollgate_ledger::connection::EventKind;

/// What a cleanup did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Swept {
    /// Connections that it looked at.
    pub looked_at: usize,
    /// Those that had leaked and were released.
    pub leaked: usize,
}

/// Where the next cleanup goes on.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Cursor {
    shard: usize,
    place: usize,
}

impl Connections {
    /// Looks at the next `budget` connections and releases those that were not seen for the leak timeout. They are counted
    /// and logged; their guards do nothing any more.
    ///
    /// So a leak is found once it is as old as the timeout, within as many cleanups as it takes to look at all.
    pub fn sweep(&self, budget: usize, now: Nanos) -> Swept {
        let (looked_at, silent) = self.find_silent(budget, now);
        let leaked = silent.iter().filter(|track| self.is_silent(track, now) && self.end_leaked(track, now));
        Swept { looked_at, leaked: leaked.count() }
    }

    fn find_silent(&self, budget: usize, now: Nanos) -> (usize, Vec<Arc<Track>>) {
        let mut cursor = self.0.cursor.lock().unwrap_or_else(PoisonError::into_inner);
        let start = *cursor;
        let (mut looked_at, mut silent) = (0, Vec::new());
        // Ends in the shard it began with, before the place it began at.
        for step in 0..=Table::SHARDS {
            let end = if step == Table::SHARDS { start.place } else { usize::MAX };
            let shard = self.0.shared.table.shard(cursor.shard);
            for (place, track) in shard.from(cursor.place).take_while(|(place, _)| *place < end) {
                if looked_at == budget {
                    cursor.place = place;
                    return (looked_at, silent);
                }
                looked_at += 1;
                if self.is_silent(track, now) {
                    silent.push(Arc::clone(track));
                }
            }
            *cursor = Cursor { shard: (cursor.shard + 1) % Table::SHARDS, place: 0 };
        }
        *cursor = start;
        (looked_at, silent)
    }

    fn is_silent(&self, track: &Track, now: Nanos) -> bool {
        now.since(track.last_seen()) >= Nanos::from(self.0.settings.leak_timeout)
    }

    fn end_leaked(&self, track: &Track, now: Nanos) -> bool {
        if !track.end(Status::Leaked) {
            return false;
        }
        let shared = &self.0.shared;
        track.room.tally.leaked();
        shared.tally.leaked();
        let (app, client) = (track.room.app.clone(), Some(track.client));
        tracing::warn!(
            app = %app,
            cluster = %shared.cluster,
            connection = track.id.0,
            client = %track.client,
            silent_s = now.since(track.last_seen()).get() / 1_000_000_000,
            "connection_leaked"
        );
        shared.pending.push(Event { app, at: now, kind: EventKind::ConnectionLeaked, client });
        true
    }
}
