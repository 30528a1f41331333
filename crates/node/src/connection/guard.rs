use super::room::Room;
use super::track::{ConnectionId, Status, Track};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tollgate_core::id::AppId;
use tollgate_core::units::Nanos;

/// An open connection. It is released once: by [`Guard::release`], by the cleanup if it was not seen for too long, or
/// when this is dropped, whichever comes first.
#[derive(Debug)]
#[must_use = "the connection is released when this is dropped"]
pub struct Guard(Seat);

#[derive(Debug)]
enum Seat {
    /// On a slot.
    Tracked(Arc<Track>),
    /// Let in while the ledger could not be asked.
    Untracked { room: Arc<Room>, is_over: AtomicBool },
}

impl Guard {
    pub(super) const fn tracked(track: Arc<Track>) -> Self {
        Self(Seat::Tracked(track))
    }

    pub(super) fn untracked(room: Arc<Room>) -> Self {
        room.shared.let_in_untracked(&room);
        Self(Seat::Untracked { room, is_over: AtomicBool::new(false) })
    }

    /// Its number; `None` if it is not tracked.
    pub fn id(&self) -> Option<ConnectionId> {
        match &self.0 {
            Seat::Tracked(track) => Some(track.id),
            Seat::Untracked { .. } => None,
        }
    }

    /// The application it belongs to.
    pub fn app(&self) -> &AppId {
        match &self.0 {
            Seat::Tracked(track) => &track.room.app,
            Seat::Untracked { room, .. } => &room.app,
        }
    }

    /// What became of it.
    pub fn status(&self) -> Status {
        match &self.0 {
            Seat::Tracked(track) => track.status(),
            Seat::Untracked { is_over, .. } if is_over.load(Ordering::Relaxed) => Status::Released,
            Seat::Untracked { .. } => Status::Open,
        }
    }

    /// A sign of life: connections that are never seen for too long are taken for leaked.
    pub fn touch(&self, now: Nanos) {
        if let Seat::Tracked(track) = &self.0 {
            track.touch(now);
        }
    }

    /// Releases it now; returns whether it was this call that did.
    pub fn release(&self) -> bool {
        match &self.0 {
            Seat::Tracked(track) => track.end(Status::Released),
            Seat::Untracked { room, is_over } => {
                let is_mine = !is_over.swap(true, Ordering::Relaxed);
                if is_mine {
                    room.shared.tally.untracked_closed();
                    room.tally.untracked_closed();
                }
                is_mine
            }
        }
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        self.release();
    }
}
