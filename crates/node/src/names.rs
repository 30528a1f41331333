//! Names that nobody can guess.

use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};

/// Makes 128-bit names: keyed hashes of a counter. They do not repeat, and without the keys, which are drawn at
/// random when the process starts, they cannot be foretold.
#[derive(Debug, Default)]
pub(crate) struct Names {
    keys: [RandomState; 2],
    counter: AtomicU64,
}

impl Names {
    /// The next name, and how many there were before.
    pub(crate) fn next(&self) -> (u128, u64) {
        let count = self.counter.fetch_add(1, Ordering::Relaxed);
        let [high, low] = [0, 1].map(|i: usize| u128::from(self.keys[i].hash_one(count)));
        (high << 64 | low, count)
    }
}
