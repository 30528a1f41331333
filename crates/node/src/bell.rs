//! How requests wake whoever speaks to the ledger.

use crate::sync::{AtomicBool, Ordering, lock};
use std::sync::Mutex;
use tokio::sync::Notify;
use tollgate_core::id::AppId;

/// Rung by requests, heard by the one task that speaks to the ledger. Rings that nobody has heard yet are one.
#[derive(Debug, Default)]
pub struct Bell {
    is_rung: AtomicBool,
    notify: Notify,
    /// Applications whose purse runs low. Each is named once until it was looked after.
    low: Mutex<Vec<AppId>>,
    /// Applications that have come to owe something.
    owing: Mutex<Vec<AppId>>,
}

impl Bell {
    /// Rings.
    pub fn ring(&self) {
        if !self.is_rung.swap(true, Ordering::AcqRel) {
            self.notify.notify_one();
        }
    }

    /// Whether it was rung since this was last asked.
    pub fn answer(&self) -> bool {
        self.is_rung.swap(false, Ordering::AcqRel)
    }

    /// Rings for an application whose purse runs low.
    #[cold]
    pub(crate) fn runs_low(&self, app: &AppId) {
        lock(&self.low).push(app.clone());
        self.ring();
    }

    /// Those whose purse ran low since this was last asked.
    pub(crate) fn low(&self) -> Vec<AppId> {
        std::mem::take(&mut lock(&self.low))
    }

    /// Notes that an application owes something. That can wait until there is something to say anyway.
    #[cold]
    pub(crate) fn owes(&self, app: &AppId) {
        lock(&self.owing).push(app.clone());
    }

    /// Those that have come to owe something since this was last asked.
    pub(crate) fn owing(&self) -> Vec<AppId> {
        std::mem::take(&mut lock(&self.owing))
    }

    /// Whether it was rung and nobody has answered yet.
    pub fn is_rung(&self) -> bool {
        self.is_rung.load(Ordering::Acquire)
    }

    /// Waits for a ring.
    pub(crate) async fn rung(&self) {
        self.notify.notified().await;
    }
}

#[cfg(all(test, tollgate_loom))]
mod model {
    use super::*;
    use loom::sync::Arc;
    use loom::thread;

    /// Whoever rings is heard by an answer that begins before or after: never between the two.
    #[test]
    fn no_ring_is_lost_and_none_is_heard_twice() {
        loom::model(|| {
            let bell = Arc::new(Bell::default());
            let ringing = [(); 2].map(|()| {
                let bell = Arc::clone(&bell);
                thread::spawn(move || bell.ring())
            });
            let first = u32::from(bell.answer());
            for thread in ringing {
                thread.join().unwrap();
            }
            let heard = first + u32::from(bell.answer());
            assert!((1..=2).contains(&heard), "{heard}");
            assert!(!bell.answer());
        });
    }

    /// As a desk does it: answer, then look who runs low. Who is not seen then has rung again.
    #[test]
    fn whoever_runs_low_is_seen_by_the_answer_or_rings_again() {
        loom::model(|| {
            let bell = Arc::new(Bell::default());
            let low = thread::spawn({
                let bell = Arc::clone(&bell);
                move || bell.runs_low(&AppId::new("a").unwrap())
            });
            bell.answer();
            let seen = bell.low().len();
            low.join().unwrap();
            assert!(seen == 1 || bell.is_rung());
            assert_eq!(seen + bell.low().len(), 1);
        });
    }
}
