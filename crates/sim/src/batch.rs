//! Many runs, on as many threads as there are cores. Each run is a world of its own, on one thread.

use crate::run::{Outcome, RunError, Staging};
use crate::scenario::Scenario;
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{MutexGuard, PoisonError};

impl Scenario {
    /// Plays the story with each of the seeds, in any order, and hands each outcome over as it comes; goes on until
    /// that says to stop.
    pub fn run_many(
        &self,
        seeds: Range<u64>,
        staging: impl Into<Staging>,
        each: impl FnMut(Outcome) -> bool + Send,
    ) -> Result<(), RunError> {
        let staging = staging.into();
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let (next, is_over) = (AtomicU64::new(seeds.start), AtomicBool::new(false));
        let (each, failed) = (Mutex::new(each), Mutex::new(None));
        let work = || {
            while !is_over.load(Ordering::Relaxed) {
                let seed = next.fetch_add(1, Ordering::Relaxed);
                if seed >= seeds.end {
                    return;
                }
                let goes_on = match self.run(seed, staging) {
                    Ok(outcome) => lock(&each)(outcome),
                    Err(error) => {
                        lock(&failed).get_or_insert(error);
                        false
                    }
                };
                if !goes_on {
                    is_over.store(true, Ordering::Relaxed);
                }
            }
        };
        std::thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(work);
            }
        });
        let failed = lock(&failed).take();
        failed.map_or(Ok(()), Err)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
