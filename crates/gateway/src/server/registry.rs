use crate::stats::Counters;
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

/// Everybody a thread serves, so that they can all be asked to leave.
#[derive(Debug)]
pub(crate) struct Registry(Rc<Guests>);

#[derive(Debug)]
struct Guests {
    mood: Cell<Mood>,
    next: Cell<u64>,
    wakers: RefCell<HashMap<u64, Option<Waker>>>,
    /// Woken when the last leaves.
    alone: RefCell<Option<Waker>>,
    counters: Arc<Counters>,
}

/// How welcome connections are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Mood {
    /// They are.
    Open,
    /// The next answer is the last.
    Draining,
    /// Those without a request are to go.
    Closing,
    /// All are to go.
    Over,
}

/// A place for one connection.
#[derive(Debug)]
pub(crate) struct Seat {
    guests: Rc<Guests>,
    number: u64,
    is_known: Cell<bool>,
}

impl Registry {
    pub(crate) fn new(counters: Arc<Counters>) -> Self {
        Self(Rc::new(Guests {
            mood: Cell::new(Mood::Open),
            next: Cell::new(0),
            wakers: RefCell::default(),
            alone: RefCell::default(),
            counters,
        }))
    }

    /// A place for one more.
    pub(crate) fn seat(&self) -> Seat {
        let number = self.0.next.get();
        self.0.next.set(number + 1);
        self.0.wakers.borrow_mut().insert(number, None);
        self.0.counters.connections_active.up();
        Seat { guests: Rc::clone(&self.0), number, is_known: Cell::new(false) }
    }

    pub(crate) fn is_draining(&self) -> bool {
        self.0.mood.get() != Mood::Open
    }

    /// Tells everybody.
    pub(crate) fn change(&self, mood: Mood) {
        self.0.mood.set(mood);
        let wakers: Vec<Waker> = self.0.wakers.borrow().values().flatten().cloned().collect();
        wakers.iter().for_each(Waker::wake_by_ref);
    }

    /// How many are there.
    pub(crate) fn count(&self) -> usize {
        self.0.wakers.borrow().len()
    }

    /// Waits until nobody is.
    pub(crate) async fn emptied(&self) {
        poll_fn(|cx| {
            if self.count() == 0 {
                return Poll::Ready(());
            }
            *self.0.alone.borrow_mut() = Some(cx.waker().clone());
            Poll::Pending
        })
        .await;
    }
}

impl Seat {
    /// How welcome the one who sits here is; it is woken when that changes.
    pub(crate) fn mood(&self, cx: &Context<'_>) -> Mood {
        // A task's waker does not change.
        if !self.is_known.replace(true) {
            self.guests.wakers.borrow_mut().insert(self.number, Some(cx.waker().clone()));
        }
        self.guests.mood.get()
    }

    /// What comes of `future`, unless connections without a request are to go before that.
    pub(crate) async fn unless_closed<F: Future>(&self, future: F) -> Option<F::Output> {
        let mut future = pin!(future);
        poll_fn(|cx| {
            if self.mood(cx) >= Mood::Closing {
                return Poll::Ready(None);
            }
            future.as_mut().poll(cx).map(Some)
        })
        .await
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        let mut wakers = self.guests.wakers.borrow_mut();
        wakers.remove(&self.number);
        self.guests.counters.connections_active.down();
        if wakers.is_empty()
            && let Some(waker) = self.guests.alone.borrow_mut().take()
        {
            waker.wake();
        }
    }
}
