//! Waiting for tokens, first come first served.
//!
//! Those who wait for the same key stand in line; only the first of the line tries to take tokens, so a large
//! request is not overtaken for ever by small ones. Nobody takes anything before it is there: a wait that is
//! dropped, at any point, has taken nothing and leaves the line.

use crate::clock::Clock;
use crate::error::Error;
use crate::sync::{Mutex, lock};
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::{Wake, Waker};
use std::time::Duration;
use tollgate_core::units::Nanos;

/// Everybody who waits at one limiter.
#[derive(Debug, Default)]
pub(crate) struct Room {
    closed: AtomicBool,
    /// How many wait, so that nobody looks for a line where there is none.
    count: AtomicUsize,
    lines: Mutex<Lines>,
}

#[derive(Debug, Default)]
struct Lines {
    next_ticket: u64,
    /// A line exists while somebody stands in it.
    by_key: HashMap<u64, VecDeque<Place>>,
}

#[derive(Debug)]
struct Place {
    ticket: u64,
    waker: Option<Waker>,
}

impl Room {
    #[inline]
    pub(crate) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Acquire)
    }

    /// Whether nobody waits for anything.
    pub(crate) fn is_empty(&self) -> bool {
        self.count.load(Ordering::Acquire) == 0
    }

    /// Sends everybody home.
    pub(crate) fn close(&self) {
        self.closed.store(true, Ordering::Release);
        for place in lock(&self.lines).by_key.values_mut().flatten() {
            if let Some(waker) = place.waker.take() {
                waker.wake();
            }
        }
    }

    /// Takes a place at the end of the line.
    pub(crate) fn enter(&self, key: u64) -> Turn<'_> {
        self.count.fetch_add(1, Ordering::AcqRel);
        let mut lines = lock(&self.lines);
        let ticket = lines.next_ticket;
        lines.next_ticket += 1;
        lines.by_key.entry(key).or_default().push_back(Place { ticket, waker: None });
        Turn { room: self, key, ticket }
    }
}

/// A place in a line, given up when dropped.
#[derive(Debug)]
pub(crate) struct Turn<'a> {
    room: &'a Room,
    key: u64,
    ticket: u64,
}

impl Turn<'_> {
    /// Whether this is the first in line. If not, or if the room closes, the waker is called.
    fn is_first(&self, waker: &Waker) -> bool {
        let mut lines = lock(&self.room.lines);
        let Some(line) = lines.by_key.get_mut(&self.key) else { return true };
        // Tickets rise along the line.
        let Ok(position) = line.binary_search_by_key(&self.ticket, |place| place.ticket) else { return true };
        line[position].waker = Some(waker.clone());
        position == 0
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.room.count.fetch_sub(1, Ordering::AcqRel);
        let mut lines = lock(&self.room.lines);
        let Some(line) = lines.by_key.get_mut(&self.key) else { return };
        line.retain(|place| place.ticket != self.ticket);
        match line.front_mut() {
            Some(next) => {
                if let Some(waker) = next.waker.take() {
                    waker.wake();
                }
            }
            None => {
                lines.by_key.remove(&self.key);
            }
        }
    }
}

/// One wait: what for, how to try, and until when. Nobody passes those who wait already.
pub(crate) struct Wait<'a, C, F> {
    pub(crate) room: &'a Room,
    pub(crate) key: u64,
    pub(crate) clock: &'a C,
    pub(crate) attempt: F,
    pub(crate) deadline: Option<Nanos>,
}

/// Why an attempt took nothing.
pub(crate) enum Refusal {
    /// The tokens will be there after this long, at the earliest.
    For(Nanos),
    /// They will never be.
    Forever(Error),
}

/// What a wait has come to.
enum Step {
    Done(Result<(), Error>),
    /// Look again when woken, or after this long.
    Park(Option<Duration>),
}

impl<C: Clock, F: Fn() -> Result<(), Refusal>> Wait<'_, C, F> {
    /// Tries without a place in the line, where there is none.
    fn hurry(&self) -> Option<Result<(), Error>> {
        match self.room.is_empty().then(&self.attempt)? {
            Ok(()) => Some(Ok(())),
            Err(Refusal::Forever(error)) => Some(Err(error)),
            Err(Refusal::For(_)) => None,
        }
    }

    fn step(&self, turn: &Turn<'_>, waker: &Waker) -> Step {
        let is_first = turn.is_first(waker);
        if self.room.is_closed() {
            return Step::Done(Err(Error::Closed));
        }
        let left = self.deadline.map(|deadline| deadline.since(self.clock.now()));
        if !is_first {
            return match left {
                Some(Nanos::ZERO) => Step::Done(Err(Error::Timeout)),
                left => Step::Park(left.map(Duration::from)),
            };
        }
        match (self.attempt)() {
            Ok(()) => Step::Done(Ok(())),
            Err(Refusal::For(wait)) if left.is_none_or(|left| wait <= left) => Step::Park(Some(wait.into())),
            // Waiting until the deadline cannot help: say so now.
            Err(Refusal::For(_)) => Step::Done(Err(Error::Timeout)),
            Err(Refusal::Forever(error)) => Step::Done(Err(error)),
        }
    }

    /// Waits with the thread.
    pub(crate) fn block(self) -> Result<(), Error> {
        if let Some(result) = self.hurry() {
            return result;
        }
        let waker = Waker::from(Arc::new(Unpark(std::thread::current())));
        let turn = self.room.enter(self.key);
        loop {
            match self.step(&turn, &waker) {
                Step::Done(result) => return result,
                Step::Park(longest) => self.clock.park(longest),
            }
        }
    }

    /// Waits without the thread.
    #[cfg(feature = "tokio")]
    pub(crate) async fn run(self) -> Result<(), Error> {
        use std::future::Future;
        use std::task::Poll;
        if let Some(result) = self.hurry() {
            return result;
        }
        let turn = self.room.enter(self.key);
        let mut alarm: Option<std::pin::Pin<Box<tokio::time::Sleep>>> = None;
        std::future::poll_fn(move |cx| {
            loop {
                match self.step(&turn, cx.waker()) {
                    Step::Done(result) => return Poll::Ready(result),
                    Step::Park(None) => return Poll::Pending,
                    Step::Park(Some(longest)) => {
                        let alarm = alarm.insert(Box::pin(tokio::time::sleep(longest)));
                        if alarm.as_mut().poll(cx).is_pending() {
                            return Poll::Pending;
                        }
                    }
                }
            }
        })
        .await
    }
}

/// Wakes a thread that is parked.
struct Unpark(std::thread::Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}
