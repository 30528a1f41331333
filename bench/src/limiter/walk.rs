//! The keys, in the order in which they are asked for.

use crate::race::Lap;

/// A random walk over the keys: each step a key drawn with equal chances.
///
/// Every step holds its own copy of its key, one after the other in memory. If the steps pointed at one copy
/// per key, half of the time at a million keys would be the caller's misses on its own strings.
#[derive(Debug)]
pub(crate) struct Walk(Vec<String>);

/// Steps for each key, so that a processor cannot learn the walk by heart.
const STEPS_PER_KEY: usize = 64;

/// More steps than this are not worth their memory: at a million keys, two for each.
const MOST_STEPS: usize = 1 << 21;

impl Walk {
    pub(crate) fn new(keys: u32) -> Self {
        let steps = (keys as usize).saturating_mul(STEPS_PER_KEY).min(MOST_STEPS);
        let mut draw = Draw(0x9e37_79b9_7f4a_7c15);
        Self((0..steps).map(|_| key(draw.below(keys))).collect())
    }

    /// The steps of that lap, round and round; threads start far from each other.
    pub(crate) fn from(&self, lap: Lap) -> Steps<'_> {
        Steps { keys: &self.0, next: (lap.first + lap.thread * self.0.len() / 2) % self.0.len() }
    }
}

/// The rest of a walk, which never ends. Not a chain of the standard iterators: this is in every lap.
#[derive(Clone, Debug)]
pub(crate) struct Steps<'a> {
    keys: &'a [String],
    next: usize,
}

impl<'a> Iterator for Steps<'a> {
    type Item = &'a String;

    #[inline]
    fn next(&mut self) -> Option<&'a String> {
        let key = self.keys.get(self.next);
        self.next = if self.next + 1 < self.keys.len() { self.next + 1 } else { 0 };
        key
    }
}

/// The key of that number.
pub(crate) fn key(number: u32) -> String {
    format!("tenant-{number:08}")
}

/// A xorshift generator: the same walk every time.
struct Draw(u64);

impl Draw {
    fn below(&mut self, limit: u32) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        u32::try_from(((self.0 >> 32) * u64::from(limit)) >> 32).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn a_walk_visits_all_of_a_few_keys() {
        let walk = Walk::new(100);
        let visited: HashSet<&String> = walk.0.iter().collect();
        assert_eq!((walk.0.len(), visited.len()), (6_400, 100));
    }

    #[test]
    fn a_lap_goes_on_where_the_last_one_stopped_and_round_at_the_end() {
        let walk = Walk::new(10);
        let lap = |first| Lap { thread: 0, first, decisions: 0 };
        let long: Vec<_> = walk.from(lap(0)).take(1_000).collect();
        let rest: Vec<_> = walk.from(lap(900)).take(100).collect();
        assert_eq!(long[900..], rest);
        assert_eq!(long[0], long[640]);
    }

    #[test]
    fn threads_start_apart() {
        let walk = Walk::new(1_000);
        let keys = |thread| walk.from(Lap { thread, first: 0, decisions: 0 }).take(20).collect::<Vec<_>>();
        assert_ne!(keys(0), keys(1));
    }
}
