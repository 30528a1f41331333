use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// One of the connections that all threads may have together, until it is dropped.
#[derive(Debug)]
pub(crate) struct Room {
    connections: Arc<AtomicU64>,
    number: u64,
}

impl Room {
    pub(super) fn take(connections: &Arc<AtomicU64>) -> Self {
        let number = connections.fetch_add(1, Ordering::Relaxed) + 1;
        Self { connections: Arc::clone(connections), number }
    }

    /// How many there were with it when it was taken.
    pub(super) fn number(&self) -> u64 {
        self.number
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        self.connections.fetch_sub(1, Ordering::Relaxed);
    }
}
