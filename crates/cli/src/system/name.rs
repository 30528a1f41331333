//! A name for a node that was given none.

use std::hash::{BuildHasher, RandomState};
use tollgate_core::id::{IdError, NodeId};

/// The longest part of the host's name that is used.
const MAX_HOST: usize = 100;

/// The host's name and a random number: two processes of one host are two nodes, and so are an old process and the
/// one that takes over from it.
pub(super) fn make() -> Result<NodeId, IdError> {
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    let host: String = host.trim().chars().map(|c| if plain(c) { c } else { '-' }).take(MAX_HOST).collect();
    let host = if host.is_empty() { "node" } else { &host };
    // Without the keys, which are drawn at random, the hash of nothing is anything.
    let number = RandomState::new().hash_one(()) >> 32;
    NodeId::new(&format!("{host}-{number:08x}"))
}
