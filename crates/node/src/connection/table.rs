use super::track::Track;
use std::fmt;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Neighbours in a row of shards would share a cache line.
#[repr(align(128))]
#[derive(Default)]
struct Padded(Mutex<Shard>);

/// Every tracked connection of this node. It holds exactly those that the cluster's counter counts, so it is bounded by
/// the cluster's limit.
#[derive(Default)]
pub(super) struct Table {
    shards: [Padded; Table::SHARDS],
}

#[derive(Default)]
pub(super) struct Shard {
    places: Vec<Option<Arc<Track>>>,
    free: Vec<u32>,
}

impl Table {
    pub(super) const SHARDS: usize = 16;

    pub(super) fn insert(&self, track: &Arc<Track>) {
        let mut shard = self.shard_of(track);
        let place = shard.free.pop().unwrap_or_else(|| {
            shard.places.push(None);
            // There are fewer connections than a counter of 32 bits counts.
            u32::try_from(shard.places.len() - 1).unwrap_or(u32::MAX)
        });
        track.place.store(place, Ordering::Relaxed);
        if let Some(empty) = shard.places.get_mut(place as usize) {
            *empty = Some(Arc::clone(track));
        }
    }

    pub(super) fn remove(&self, track: &Track) {
        let mut shard = self.shard_of(track);
        let place = track.place.load(Ordering::Relaxed);
        let removed = shard.places.get_mut(place as usize).and_then(Option::take);
        if removed.is_some() {
            shard.free.push(place);
        }
        if shard.free.len() == shard.places.len() {
            shard.places.clear();
            shard.free.clear();
        }
        drop(shard);
        // The last reference may be this one: it goes without the lock.
        drop(removed);
    }

    pub(super) fn shard(&self, index: usize) -> MutexGuard<'_, Shard> {
        // A shard is changed in steps that do not panic.
        self.shards[index % Self::SHARDS].0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn shard_of(&self, track: &Track) -> MutexGuard<'_, Shard> {
        #[expect(clippy::cast_possible_truncation, reason = "only the lower bits count")]
        self.shard(track.id.0 as usize)
    }
}

impl fmt::Debug for Table {
    /// Says nothing of the connections: they lead back here.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Table").finish_non_exhaustive()
    }
}

impl Shard {
    pub(super) fn len(&self) -> usize {
        self.places.len() - self.free.len()
    }

    /// The connections from a place on, each with its place.
    pub(super) fn from(&self, place: usize) -> impl Iterator<Item = (usize, &Arc<Track>)> {
        let tracks = self.places.iter().enumerate().skip(place);
        tracks.filter_map(|(place, track)| Some((place, track.as_ref()?)))
    }
}
