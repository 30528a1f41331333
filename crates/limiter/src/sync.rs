//! The synchronisation primitives: the standard library's, or those of the model checker.

#[cfg(tollgate_loom)]
pub(crate) use loom::hint::spin_loop;
#[cfg(tollgate_loom)]
pub(crate) use loom::sync::atomic::{AtomicU64, Ordering};
#[cfg(tollgate_loom)]
pub(crate) use loom::sync::{Mutex, MutexGuard};

#[cfg(not(tollgate_loom))]
pub(crate) use std::hint::spin_loop;
#[cfg(not(tollgate_loom))]
pub(crate) use std::sync::atomic::{AtomicU64, Ordering};
#[cfg(not(tollgate_loom))]
pub(crate) use std::sync::{Mutex, MutexGuard};

/// Locks, whatever became of the last holder: no guarded state here is ever left half changed.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}
