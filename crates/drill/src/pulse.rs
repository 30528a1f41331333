//! How late this machine is to run what is due.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Between two beats.
const PAUSE: Duration = Duration::from_millis(5);

/// A pulse that goes on: somebody who has nothing to do but to be on time.
#[derive(Debug)]
pub(crate) struct Pulse {
    is_over: Arc<AtomicBool>,
    beating: JoinHandle<Duration>,
}

impl Pulse {
    pub(crate) fn start() -> Self {
        let is_over = Arc::new(AtomicBool::new(false));
        let ended = Arc::clone(&is_over);
        let beating = thread::spawn(move || {
            let mut worst = Duration::ZERO;
            while !ended.load(Ordering::SeqCst) {
                let start = Instant::now();
                thread::sleep(PAUSE);
                worst = worst.max(start.elapsed().saturating_sub(PAUSE));
            }
            worst
        });
        Self { is_over, beating }
    }

    /// By how much it was late at worst.
    pub(crate) fn finish(self) -> Duration {
        self.is_over.store(true, Ordering::SeqCst);
        self.beating.join().unwrap_or_default()
    }
}
