use crate::sync::{AtomicU64, Ordering};

/// Slots that are held and those in use, in one word: taking one is a single atomic step. In use never exceeds held,
/// and never falls below zero.
///
/// The slots guard no other memory, so no order is asked of the word.
#[derive(Debug, Default)]
pub(super) struct Gauge(AtomicU64);

/// What a gauge says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Reading {
    pub(super) held: u32,
    pub(super) in_use: u32,
}

impl Gauge {
    pub(super) fn of(held: u32) -> Self {
        Self(AtomicU64::new(Reading { held, in_use: 0 }.word()))
    }

    pub(super) fn read(&self) -> Reading {
        Reading::of(self.0.load(Ordering::Relaxed))
    }

    /// Takes a slot if one is free and fewer than `most` are in use; returns how many are in use then, or what there is.
    pub(super) fn take(&self, most: u32) -> Result<u32, Reading> {
        let taken = self.change(|reading| {
            let is_free = reading.in_use < reading.held.min(most);
            is_free.then(|| Reading { in_use: reading.in_use + 1, ..reading })
        });
        taken.map(|before| before.in_use + 1)
    }

    /// Gives a slot back that was taken.
    pub(super) fn give(&self) {
        let given = |reading: Reading| Some(Reading { in_use: reading.in_use.checked_sub(1)?, ..reading });
        // With none in use there is nothing to give back.
        let _ = self.change(given);
    }

    /// Holds that many more.
    pub(super) fn add(&self, slots: u32) {
        let _ = self.change(|reading| Some(Reading { held: reading.held.saturating_add(slots), ..reading }));
    }

    /// Holds no more than `keep`, or those that are in use; returns how many that are.
    pub(super) fn trim(&self, keep: u32) -> u32 {
        let trimmed = |reading: Reading| reading.held.min(keep.max(reading.in_use));
        match self.change(|reading| Some(Reading { held: trimmed(reading), ..reading })) {
            Ok(before) | Err(before) => trimmed(before),
        }
    }

    fn change(&self, to: impl Fn(Reading) -> Option<Reading>) -> Result<Reading, Reading> {
        let mut word = self.0.load(Ordering::Relaxed);
        loop {
            let before = Reading::of(word);
            let Some(after) = to(before) else { return Err(before) };
            match self.0.compare_exchange_weak(word, after.word(), Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => return Ok(before),
                Err(current) => word = current,
            }
        }
    }
}

impl Reading {
    #[expect(clippy::cast_possible_truncation, reason = "the two halves of the word")]
    const fn of(word: u64) -> Self {
        Self { held: (word >> 32) as u32, in_use: word as u32 }
    }

    fn word(self) -> u64 {
        u64::from(self.held) << 32 | u64::from(self.in_use)
    }
}

#[cfg(all(test, not(tollgate_loom)))]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::sync::atomic::AtomicI64;
    use std::thread;

    #[test]
    fn p17_giving_back_what_was_not_taken_changes_nothing() {
        let gauge = Gauge::of(3);
        gauge.give();
        assert_eq!(gauge.read(), Reading { held: 3, in_use: 0 });
        assert_eq!(gauge.take(u32::MAX), Ok(1));
    }

    #[test]
    fn what_is_in_use_is_not_trimmed() {
        let gauge = Gauge::of(5);
        assert_eq!((gauge.take(9), gauge.take(9)), (Ok(1), Ok(2)));
        assert_eq!((gauge.trim(4), gauge.trim(0), gauge.trim(9)), (4, 2, 2));
        assert_eq!(gauge.take(9), Err(Reading { held: 2, in_use: 2 }));
    }

    /// Many threads take, give back, add and trim at once: nobody ever has more than there is.
    #[test]
    fn p17_threads_take_exactly_what_is_there() {
        const MOST: u32 = 20;
        let gauge = Gauge::of(10);
        let (in_use, most) = (AtomicI64::new(0), AtomicI64::new(0));
        thread::scope(|scope| {
            for thread in 0..8u32 {
                let (gauge, in_use, most) = (&gauge, &in_use, &most);
                scope.spawn(move || {
                    for i in 0..20_000u32 {
                        if gauge.take(MOST).is_ok() {
                            most.fetch_max(in_use.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                            in_use.fetch_sub(1, Ordering::SeqCst);
                            gauge.give();
                        }
                        match (thread, i % 7) {
                            (0, 0) => gauge.add(3),
                            (0, 3) => _ = gauge.trim(10),
                            _ => {}
                        }
                    }
                });
            }
        });
        assert_eq!(gauge.read().in_use, 0);
        let most = most.into_inner();
        assert!((1..=i64::from(MOST)).contains(&most), "{most}");
    }

    proptest! {
        #[test]
        fn p17_never_below_zero_and_never_above_what_is_held(
            held in 0..6u32, steps in prop::collection::vec((0..4u8, 0..8u32), 1..60),
        ) {
            let gauge = Gauge::of(held);
            let mut expected = Reading { held, in_use: 0 };
            for (step, count) in steps {
                match step {
                    0 => {
                        let is_free = expected.in_use < expected.held && expected.in_use < count;
                        prop_assert_eq!(gauge.take(count).is_ok(), is_free);
                        expected.in_use += u32::from(is_free);
                    }
                    1 => {
                        gauge.give();
                        expected.in_use -= expected.in_use.min(1);
                    }
                    2 => {
                        gauge.add(count);
                        expected.held += count;
                    }
                    _ => {
                        expected.held = expected.held.min(count.max(expected.in_use));
                        prop_assert_eq!(gauge.trim(count), expected.held);
                    }
                }
                prop_assert_eq!(gauge.read(), expected);
                prop_assert!(expected.in_use <= expected.held);
            }
        }
    }
}

#[cfg(all(test, tollgate_loom))]
mod model {
    use super::*;
    use loom::sync::Arc;
    use loom::thread;

    /// One of them may take the last slot while the keeper gives it up: not both have it.
    #[test]
    fn p17_the_last_slot_is_taken_once_or_given_up() {
        loom::model(|| {
            let gauge = Arc::new(Gauge::of(1));
            let taking = [(); 2].map(|()| {
                let gauge = Arc::clone(&gauge);
                thread::spawn(move || gauge.take(u32::MAX).is_ok())
            });
            let kept = gauge.trim(0);
            let taken: u32 = taking.map(|thread| u32::from(thread.join().unwrap())).iter().sum();
            assert_eq!(gauge.read(), Reading { held: kept, in_use: taken });
            assert!(taken == kept);
        });
    }

    #[test]
    fn p17_what_is_given_back_and_added_is_all_there() {
        loom::model(|| {
            let gauge = Arc::new(Gauge::of(1));
            let other = thread::spawn({
                let gauge = Arc::clone(&gauge);
                move || {
                    let is_taken = gauge.take(u32::MAX).is_ok();
                    if is_taken {
                        gauge.give();
                    }
                }
            });
            gauge.add(2);
            let is_taken = gauge.take(u32::MAX).is_ok();
            other.join().unwrap();
            assert!(is_taken);
            assert_eq!(gauge.read(), Reading { held: 3, in_use: 1 });
        });
    }
}
