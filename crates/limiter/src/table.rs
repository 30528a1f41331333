//! A table of buckets of a fixed size.
//!
//! A key is known by its 64-bit hash, seeded at random; a slot is that hash and the bucket's word, 16 bytes in
//! all. A key's home is one set of slots, and within it one cache line where it is looked for first, so a hit
//! touches one line. Finding a key takes no lock; giving it a slot takes the lock of its set.
//!
//! **When a set is full** the newcomer takes the slot with the earliest word and starts from that word. Since a
//! later word never leaves more, and every other word of the set is later, a key that comes back after it was
//! evicted can only find a word as late as its own or later: nobody ever regains tokens by being evicted, so
//! nobody gains by flooding the table. Newcomers start with what the least used key of their set had left,
//! which, until the table is full of keys in active use, is everything.

use crate::cell::Cell;
use crate::sync::{AtomicU64, Mutex, MutexGuard, Ordering, lock};
use tollgate_core::algorithm::Word;

/// Slots in a set. The model checker explores every interleaving, so it gets a small set.
const WAYS: usize = if cfg!(tollgate_loom) { 2 } else { 16 };

/// Slots in a cache line.
const LINE: usize = if cfg!(tollgate_loom) { 1 } else { 4 };

/// With three slots for each key it was made for, and all of them there, one key in 80,000 finds its set full.
const SLOTS_PER_KEY: usize = 3;

/// Sets that are looked through when it is time to sweep.
const SWEPT_AT_ONCE: usize = 256;

const LOCKS: usize = if cfg!(tollgate_loom) { 1 } else { 64 };

/// The hash of a key, never zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Tag(u64);

impl Tag {
    const NOBODY: u64 = 0;

    pub(crate) const fn new(hash: u64) -> Self {
        Self(if hash == Self::NOBODY { 1 } else { hash })
    }

    pub(crate) const fn get(self) -> u64 {
        self.0
    }
}

#[derive(Debug)]
struct Slot {
    tag: AtomicU64,
    cell: Cell,
}

#[repr(align(64))]
#[derive(Debug)]
struct Set {
    slots: [Slot; WAYS],
}

/// What is known about a table from the outside.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Keys that have a slot.
    pub keys: u64,
    /// Keys the table was made for.
    pub max_keys: u64,
    /// Keys that lost their slot while it still counted: the table is too small for the keys in use.
    pub crowded_out: u64,
    /// Bytes the table takes, now and for ever.
    pub bytes: u64,
}

#[derive(Debug)]
pub(crate) struct Table {
    sets: Box<[Set]>,
    locks: Box<[Mutex<()>]>,
    max_keys: usize,
    keys: AtomicU64,
    crowded_out: AtomicU64,
    next_swept: AtomicU64,
}

impl Table {
    pub(crate) fn new(max_keys: usize) -> Self {
        let sets = max_keys.saturating_mul(SLOTS_PER_KEY).div_ceil(WAYS).max(1);
        let slot = |_| Slot { tag: AtomicU64::new(Tag::NOBODY), cell: Cell::new(Word::FRESH) };
        Self {
            sets: (0..sets).map(|_| Set { slots: std::array::from_fn(slot) }).collect(),
            locks: (0..LOCKS).map(|_| Mutex::new(())).collect(),
            max_keys,
            keys: AtomicU64::new(0),
            crowded_out: AtomicU64::new(0),
            next_swept: AtomicU64::new(0),
        }
    }

    pub(crate) fn stats(&self) -> Stats {
        Stats {
            keys: self.keys.load(Ordering::Relaxed),
            max_keys: self.max_keys as u64,
            crowded_out: self.crowded_out.load(Ordering::Relaxed),
            bytes: size_of_val::<[Set]>(&self.sets) as u64,
        }
    }

    /// Decides for the bucket of `tag`. Words before `idle` are as good as new.
    #[inline]
    pub(crate) fn update(
        &self,
        tag: Tag,
        idle: impl Fn() -> Word,
        decide: impl Fn(Word) -> Option<Word>,
    ) -> (Word, bool) {
        let set = self.home(tag);
        loop {
            let slot = set.find(tag).unwrap_or_else(|| self.claim(tag, idle()));
            let answer = slot.cell.update(&decide);
            // If the slot was given away meanwhile, what was taken counts against its new owner, who loses a
            // little, and this key has to pay again. Somebody else got on for each time round here.
            if slot.is_of(tag) {
                return answer;
            }
        }
    }

    /// The word of `tag`, if it has a slot; else one that nobody has touched.
    pub(crate) fn word(&self, tag: Tag) -> Word {
        self.home(tag).find(tag).map_or(Word::FRESH, |slot| slot.cell.word())
    }

    /// Forgets keys whose word is before `idle`, as there is nothing to remember about them. Looks through a
    /// part of the table each time; returns how many it forgot.
    pub(crate) fn sweep(&self, idle: Word, sets: usize) -> u64 {
        let mut forgotten = 0;
        for _ in 0..sets.min(self.sets.len()) {
            let next = self.next_swept.fetch_add(1, Ordering::Relaxed);
            let index = usize::try_from(next % self.sets.len() as u64).unwrap_or(0);
            let _guard = self.lock(index);
            for slot in &self.sets[index].slots {
                let word = slot.cell.word();
                if !slot.is_empty() && word < idle && slot.hand_over(word, Tag::NOBODY) {
                    forgotten += 1;
                }
            }
        }
        self.keys.fetch_sub(forgotten, Ordering::Relaxed);
        forgotten
    }

    /// The part of the table that one sweep looks through.
    pub(crate) const fn swept_at_once() -> usize {
        SWEPT_AT_ONCE
    }

    pub(crate) fn sets(&self) -> usize {
        self.sets.len()
    }

    /// Gives `tag` a slot: an empty one if there is, else the one with the earliest word.
    #[cold]
    fn claim(&self, tag: Tag, idle: Word) -> &Slot {
        let index = self.index(tag);
        let set = &self.sets[index];
        let _guard = self.lock(index);
        if let Some(slot) = set.find(tag) {
            return slot;
        }
        if let Some(slot) = set.empty(tag) {
            slot.tag.store(tag.get(), Ordering::Release);
            self.keys.fetch_add(1, Ordering::Relaxed);
            return slot;
        }
        loop {
            let (slot, word) = set.earliest();
            if slot.hand_over(word, tag.get()) {
                if word >= idle {
                    self.crowded_out.fetch_add(1, Ordering::Relaxed);
                }
                return slot;
            }
            // Its owner took something just now, so it may not be the earliest any more.
        }
    }

    fn home(&self, tag: Tag) -> &Set {
        &self.sets[self.index(tag)]
    }

    /// The upper bits choose the set, the lowest the line within it.
    fn index(&self, tag: Tag) -> usize {
        let wide = u128::from(tag.get()) * self.sets.len() as u128;
        usize::try_from(wide >> 64).unwrap_or(0)
    }

    fn lock(&self, index: usize) -> MutexGuard<'_, ()> {
        lock(&self.locks[index % self.locks.len()])
    }
}

impl Set {
    #[inline]
    fn find(&self, tag: Tag) -> Option<&Slot> {
        self.home_first(tag).find(|slot| slot.is_of(tag))
    }

    fn empty(&self, tag: Tag) -> Option<&Slot> {
        self.home_first(tag).find(|slot| slot.is_empty())
    }

    fn earliest(&self) -> (&Slot, Word) {
        let seen = self.slots.iter().map(|slot| (slot, slot.cell.word()));
        seen.min_by_key(|&(_, word)| word).unwrap_or((&self.slots[0], Word::FRESH))
    }

    /// All slots, those of the key's own cache line first.
    #[inline]
    fn home_first(&self, tag: Tag) -> impl Iterator<Item = &Slot> {
        let lines = WAYS / LINE;
        let home = usize::try_from(tag.get() % lines as u64).unwrap_or(0) * LINE;
        (0..WAYS).map(move |i| &self.slots[(home + i) % WAYS])
    }
}

impl Slot {
    #[inline]
    fn is_of(&self, tag: Tag) -> bool {
        self.tag.load(Ordering::Acquire) == tag.get()
    }

    /// Gives the slot to another key, or to nobody, if its word is still the one that was seen. Its owner looks at
    /// the tag after changing the word: either the change comes first and is noticed here, or the new tag does
    /// and is noticed there. The set must be locked.
    fn hand_over(&self, seen: Word, tag: u64) -> bool {
        let owner = self.tag.load(Ordering::Relaxed);
        self.tag.store(tag, Ordering::Release);
        let confirmed = self.cell.confirm(seen);
        if !confirmed {
            self.tag.store(owner, Ordering::Release);
        }
        confirmed
    }

    fn is_empty(&self) -> bool {
        self.tag.load(Ordering::Acquire) == Tag::NOBODY
    }
}

#[cfg(all(test, tollgate_loom))]
mod model {
    use super::{Table, Tag, WAYS};
    use loom::sync::Arc;
    use loom::thread;
    use tollgate_core::algorithm::{Algorithm, Limit, Word, gcra};
    use tollgate_core::units::Nanos;

    const ALICE: Tag = Tag::new(11);
    const BOB: Tag = Tag::new(12);
    const CAROL: Tag = Tag::new(13);

    fn limit() -> Limit {
        Limit::new(1, 10).unwrap()
    }

    fn take(table: &Table, tag: Tag, n: u64) -> bool {
        table.update(tag, || Word::FRESH, |word| gcra::take(&limit(), word, Nanos::ZERO, n)).1
    }

    fn taken(table: &Table, tag: Tag) -> u64 {
        let (word, _) = table.update(tag, || Word::FRESH, |_| None);
        10 - gcra::remaining(&limit(), word, Nanos::ZERO)
    }

    #[test]
    fn a_new_key_gets_one_slot_however_many_bring_it() {
        loom::model(|| {
            let table = Arc::new(Table::new(1));
            let other = {
                let table = Arc::clone(&table);
                thread::spawn(move || take(&table, ALICE, 1))
            };
            assert!(take(&table, ALICE, 1));
            assert!(other.join().unwrap());
            assert_eq!(taken(&table, ALICE), 2);
            assert_eq!(table.stats().keys, 1);
        });
    }

    /// While Alice takes, Carol crowds her out of a full set. Alice overtakes Bob meanwhile, so what she took must
    /// not only count against Carol: she would come back to Bob's earlier word.
    #[test]
    fn nobody_regains_tokens_by_being_crowded_out() {
        loom::model(|| {
            assert_eq!(WAYS, 2);
            let table = Arc::new(Table::new(0));
            assert!(take(&table, ALICE, 1));
            assert!(take(&table, BOB, 2));
            let carol = {
                let table = Arc::clone(&table);
                thread::spawn(move || take(&table, CAROL, 1))
            };
            assert!(take(&table, ALICE, 2));
            assert!(carol.join().unwrap());
            assert!(taken(&table, ALICE) >= 3);
        });
    }

    /// Alice comes back in the very moment in which she is forgotten for being idle.
    #[test]
    fn nobody_regains_tokens_by_being_swept() {
        loom::model(|| {
            let table = Arc::new(Table::new(0));
            let later = Nanos::from_secs(5);
            let take = |table: &Table, now| {
                table.update(ALICE, || Word::FRESH, |word| gcra::take(&limit(), word, now, 1)).1
            };
            assert!(take(&table, Nanos::ZERO));
            let sweeper = {
                let table = Arc::clone(&table);
                thread::spawn(move || table.sweep(Algorithm::Gcra.word_at(later), 1))
            };
            assert!(take(&table, later));
            sweeper.join().unwrap();
            let (word, _) = table.update(ALICE, || Word::FRESH, |_| None);
            assert!(gcra::remaining(&limit(), word, later) <= 9);
        });
    }
}
