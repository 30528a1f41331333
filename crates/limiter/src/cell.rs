//! One bucket's word, changed by compare-and-swap.

use crate::sync::{AtomicU64, Ordering, spin_loop};
use tollgate_core::algorithm::Word;

/// The word is all there is to a bucket. Changing it acquires and releases for the sake of the table, where a
/// slot changes hands: see [`Cell::confirm`].
#[derive(Debug)]
pub(crate) struct Cell(AtomicU64);

impl Cell {
    pub(crate) fn new(word: Word) -> Self {
        Self(AtomicU64::new(word.get()))
    }

    /// Stores what `decide` makes of the word, unless it refuses; returns the word as it is then, and whether
    /// it was changed. `decide` runs again if another thread was faster.
    #[inline]
    pub(crate) fn update(&self, decide: impl Fn(Word) -> Option<Word>) -> (Word, bool) {
        let mut seen = self.0.load(Ordering::Relaxed);
        while let Some(next) = decide(Word::new(seen)) {
            match self.0.compare_exchange_weak(seen, next.get(), Ordering::AcqRel, Ordering::Relaxed) {
                Ok(_) => return (next, true),
                Err(newer) => seen = newer,
            }
            spin_loop();
        }
        (Word::new(seen), false)
    }

    /// Whether the word is still the one that was seen. If so, whoever changes it from now on also sees all that
    /// this thread did before it asked.
    pub(crate) fn confirm(&self, seen: Word) -> bool {
        let seen = seen.get();
        self.0.compare_exchange(seen, seen, Ordering::AcqRel, Ordering::Relaxed).is_ok()
    }

    /// Nothing can be taken any more, not even by those who are about to.
    pub(crate) fn close(&self) {
        self.0.store(Word::END.get(), Ordering::Relaxed);
    }

    pub(crate) fn word(&self) -> Word {
        Word::new(self.0.load(Ordering::Relaxed))
    }
}

#[cfg(all(test, tollgate_loom))]
mod model {
    use super::Cell;
    use loom::sync::Arc;
    use loom::thread;
    use tollgate_core::algorithm::{Limit, Word, gcra};
    use tollgate_core::units::Nanos;

    /// Every interleaving of threads that each take once from a bucket of `burst`: how many got something.
    fn takers(threads: u64, burst: u64) {
        loom::model(move || {
            let limit = Limit::new(1, burst).unwrap();
            let cell = Arc::new(Cell::new(Word::FRESH));
            let take = move |cell: &Cell| cell.update(|word| gcra::take(&limit, word, Nanos::ZERO, 1)).1;
            let others: Vec<_> = (1..threads)
                .map(|_| {
                    let cell = Arc::clone(&cell);
                    thread::spawn(move || take(&cell))
                })
                .collect();
            let mine = take(&cell);
            let theirs = others.into_iter().map(|other| u64::from(other.join().unwrap())).sum::<u64>();
            let taken = u64::from(mine) + theirs;
            assert_eq!(taken, threads.min(burst), "no more than there is, and nothing lost");
            assert_eq!(gcra::remaining(&limit, cell.word(), Nanos::ZERO), burst - taken);
        });
    }

    #[test]
    fn two_threads_never_overdraw_nor_lose() {
        takers(2, 1);
        takers(2, 2);
    }

    #[test]
    fn three_threads_never_overdraw_nor_lose() {
        takers(3, 2);
    }
}
