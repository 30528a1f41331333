//! Looks at every gateway while a drill goes on: how well it reaches its ledger, and how much memory it takes.

use crate::gateway::Gateway;
use crate::http;
use serde_json::Value;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Between two looks.
const PAUSE: Duration = Duration::from_millis(100);

/// The levels of degradation, from the best to the worst, by the names that `/ready` has for them. What does not answer is
/// worse than any.
pub(crate) const LEVELS: [&str; 5] = ["normal", "mild", "significant", "fail_open", "no answer"];

/// A watch that goes on.
#[derive(Debug)]
pub(crate) struct Watch {
    shared: Arc<Shared>,
    watcher: JoinHandle<()>,
}

/// The worst level of any gateway at a look, as a position in [`LEVELS`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Look {
    pub(crate) at: Duration,
    pub(crate) worst: usize,
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
        let (doors, watching) = (gateways.iter().map(|gateway| gateway.admin).collect(), Arc::clone(&shared));
        Self { shared, watcher: thread::spawn(move || watching.watch(doors)) }
    }

    /// Whether all were well at the last look, if that was after this time.
    pub(crate) fn is_well_since(&self, time: Duration) -> bool {
        let looks = self.shared.looks.lock().unwrap_or_else(PoisonError::into_inner);
        looks.last().is_some_and(|look| look.at > time && look.worst == 0)
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
    fn watch(&self, doors: Vec<SocketAddr>) {
        while !self.is_over.load(Ordering::SeqCst) {
            let at = self.started.elapsed();
            let worst = doors.iter().map(|door| rank(level(*door).as_deref())).max().unwrap_or(0);
            self.looks.lock().unwrap_or_else(PoisonError::into_inner).push(Look { at, worst });
            thread::sleep(PAUSE);
        }
    }
}

fn rank(level: Option<&str>) -> usize {
    let found = level.and_then(|level| LEVELS.iter().position(|known| *known == level));
    found.unwrap_or(LEVELS.len() - 1)
}

/// How well a gateway can reach its ledger, by the name that the level has; nothing if it does not say, or is not ready.
pub(crate) fn level(admin: SocketAddr) -> Option<String> {
    let answer = http::look(admin, "GET /ready").ok()?;
    let ready: Value = serde_json::from_slice(&answer.body).ok()?;
    let is_alone = ready["reasons"].to_string().contains("out of reach");
    let level = ready["ledgers"].as_object()?.values().next()?.as_str()?;
    (ready["ready"] == true).then(|| if is_alone { "fail_open".into() } else { level.to_owned() })
}
