use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tollgate_core::breaker::{Breaker, Terms};
use tollgate_core::degrade::{Degradation, Level};
use tollgate_core::units::Nanos;

/// How well the ledger can be reached: whoever calls it tells how it went. One may be shared by all who call.
pub trait Contact: Send + Sync {
    /// Whether the ledger may be called now.
    fn may_call(&self, now: Nanos) -> bool;

    /// The ledger answered a call after that long.
    fn answered(&self, latency: Nanos);

    /// The ledger did not answer a call.
    fn failed(&self, now: Nanos);

    /// How well it can be reached.
    fn level(&self) -> Level;
}

impl<T: Contact + ?Sized> Contact for Arc<T> {
    fn may_call(&self, now: Nanos) -> bool {
        (**self).may_call(now)
    }

    fn answered(&self, latency: Nanos) {
        (**self).answered(latency);
    }

    fn failed(&self, now: Nanos) {
        (**self).failed(now);
    }

    fn level(&self) -> Level {
        (**self).level()
    }
}

/// A circuit breaker, and a level that follows the latency.
#[derive(Debug, Default)]
pub struct Line {
    terms: Terms,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    breaker: Breaker,
    degradation: Degradation,
}

impl Line {
    /// A line whose breaker has other terms.
    pub fn new(terms: Terms) -> Self {
        Self { terms, state: Mutex::default() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Contact for Line {
    fn may_call(&self, now: Nanos) -> bool {
        self.state().breaker.admits(&self.terms, now)
    }

    fn answered(&self, latency: Nanos) {
        let mut state = self.state();
        state.breaker.succeeded();
        state.degradation.answered(latency);
    }

    fn failed(&self, now: Nanos) {
        let mut state = self.state();
        state.breaker.failed(&self.terms, now);
        if !state.breaker.is_closed() {
            state.degradation.lost();
        }
    }

    fn level(&self) -> Level {
        self.state().degradation.level()
    }
}
