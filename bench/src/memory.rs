//! How much memory is in use, counted by the allocator itself.
//!
//! Counting is one relaxed addition to a statistic for each allocation. It cannot distort the races, because
//! nothing in a lap allocates: the memory questions check that for every side they measure.

#![expect(unsafe_code, reason = "an allocator is unsafe to implement; all this one does is count")]

use mimalloc::MiMalloc;
use std::alloc::{GlobalAlloc, Layout};
use std::sync::atomic::{AtomicU64, Ordering};

/// The allocator of the shipped program, with a count of what it was asked for and given back.
struct Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);
static TAKEN: AtomicU64 = AtomicU64::new(0);
static GIVEN_BACK: AtomicU64 = AtomicU64::new(0);

impl Counting {
    fn took(block: *mut u8, bytes: usize) -> *mut u8 {
        if !block.is_null() {
            ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
            TAKEN.fetch_add(bytes as u64, Ordering::Relaxed);
        }
        block
    }

    fn gave_back(bytes: usize) {
        GIVEN_BACK.fetch_add(bytes as u64, Ordering::Relaxed);
    }
}

// SAFETY: every call is handed to that allocator as it came, and its answer handed back as it is.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps the contract of `alloc`, which is the same one.
        Self::took(unsafe { MiMalloc.alloc(layout) }, layout.size())
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as above. Passed on, because the system may know its pages to be zero already.
        Self::took(unsafe { MiMalloc.alloc_zeroed(layout) }, layout.size())
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, bytes: usize) -> *mut u8 {
        // SAFETY: as above. Passed on, because the system may move pages instead of copying them.
        let moved = unsafe { MiMalloc.realloc(block, layout, bytes) };
        if !moved.is_null() {
            Self::gave_back(layout.size());
        }
        Self::took(moved, bytes)
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        Self::gave_back(layout.size());
        // SAFETY: as above.
        unsafe { MiMalloc.dealloc(block, layout) }
    }
}

/// What the whole process had asked of its allocator at one moment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reading {
    taken: u64,
    given_back: u64,
    allocations: u64,
}

impl Reading {
    pub(crate) fn now() -> Self {
        Self {
            taken: TAKEN.load(Ordering::Relaxed),
            given_back: GIVEN_BACK.load(Ordering::Relaxed),
            allocations: ALLOCATIONS.load(Ordering::Relaxed),
        }
    }

    /// Bytes asked for since then and not given back.
    pub(crate) fn bytes_since(self) -> u64 {
        let now = Self::now();
        (now.taken - self.taken).saturating_sub(now.given_back - self.given_back)
    }

    /// Allocations since then, given back or not.
    pub(crate) fn allocations_since(self) -> u64 {
        Self::now().allocations - self.allocations
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::hint::black_box;

    /// Far above what other tests, which share the allocator, take and give back meanwhile; so this is one test,
    /// not three, and it looks for a gigabyte to within half of one.
    const MUCH: u64 = 1 << 30;

    fn is_about(bytes: u64, gigabytes: u64) -> bool {
        bytes.abs_diff(gigabytes * MUCH) < MUCH / 2
    }

    #[test]
    fn counts_what_is_kept() {
        let before = Reading::now();
        drop(black_box(Vec::<u8>::with_capacity(1 << 30)));
        assert!(is_about(before.bytes_since(), 0), "given back");
        let mut kept = black_box(Vec::<u8>::with_capacity(1 << 30));
        assert!(is_about(before.bytes_since(), 1), "kept");
        kept.reserve_exact(2 << 30);
        assert!(is_about(before.bytes_since(), 2), "grown, counted once");
        assert!(before.allocations_since() >= 3);
        drop(black_box(kept));
    }
}
