//! Looks at every gateway while a drill goes on.

use crate::gateway::Gateway;
use crate::level::Level;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Between two looks.
const PAUSE: Duration = Duration::from_millis(100);

/// A watch that goes on.
#[derive(Debug)]
pub(crate) struct Watch {
    shared: Arc<Shared>,
    watcher: JoinHandle<()>,
}

/// The worst level of any gateway at a look.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Look {
    pub(crate) at: Duration,
    pub(crate) worst: Level,
}

#[derive(Debug)]
struct Shared {
    started: Instant,
    is_over: AtomicBool,
    looks: Mutex<Vec<Look>>,
}

impl Watch {
    pub(crate) fn start(gateways: &[Gateway]) -> Self {
        let shared = Arc::new(Shared {
            started: Instant::now(),
            is_over: AtomicBool::new(false),
            looks: Mutex::default(),
        });
        let doors: Vec<SocketAddr> = gateways.iter().map(|gateway| gateway.admin).collect();
        let watching = Arc::clone(&shared);
        Self { shared, watcher: thread::spawn(move || watching.watch(&doors)) }
    }

    /// Whether all were well at the last look, if that was after this time.
    pub(crate) fn is_well_since(&self, time: Duration) -> bool {
        let looks = self.shared.looks.lock().unwrap_or_else(PoisonError::into_inner);
        looks.last().is_some_and(|look| look.at > time && look.worst == Level::Normal)
    }

    pub(crate) fn elapsed(&self) -> Duration {
        self.shared.started.elapsed()
    }

    pub(crate) fn finish(self) -> Vec<Look> {
        self.shared.is_over.store(true, Ordering::SeqCst);
        let _ = self.watcher.join();
        self.shared.looks.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Shared {
    fn watch(&self, doors: &[SocketAddr]) {
        while !self.is_over.load(Ordering::SeqCst) {
            let at = self.started.elapsed();
            let worst = doors.iter().map(|door| Level::of(*door)).max().unwrap_or(Level::Normal);
            self.looks.lock().unwrap_or_else(PoisonError::into_inner).push(Look { at, worst });
            thread::sleep(PAUSE);
        }
    }
}
