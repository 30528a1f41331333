//! Bytes per key.

use super::keyed::{Ours, Side, Theirs};
use super::walk::key;
use crate::answers::Footprint;
use crate::memory::Reading;
use crate::race::Outcome;
use anyhow::ensure;
use std::hint::black_box;

const QUESTIONS: [(&str, u32); 2] =
    [("memory, 1,000,000 keys", 1_000_000), ("memory, 900,000 keys", 900_000)];

/// Measures those whose name contains `filter`.
pub(super) fn measure(filter: &str) -> anyhow::Result<Vec<Footprint>> {
    QUESTIONS
        .into_iter()
        .filter(|(what, _)| what.contains(filter))
        .map(|(what, keys)| one(what, keys))
        .collect()
}

fn one(what: &str, keys: u32) -> anyhow::Result<Footprint> {
    let (ours, limiter) = bytes(keys, || Ours::new(keys, Outcome::Allowed))?;
    let (theirs, _) = bytes(keys, || Theirs::new(Outcome::Allowed))?;
    let own = limiter.limiter.stats().bytes;
    Ok(Footprint { what: what.into(), keys, ours, theirs, ours_by_its_own_account: own })
}

/// Bytes that a side keeps for so many keys, and the side.
fn bytes<S: Side>(keys: u32, build: impl FnOnce() -> anyhow::Result<S>) -> anyhow::Result<(u64, S)> {
    let before = Reading::now();
    let side = build()?;
    for number in 0..keys {
        black_box(side.decide(&key(number)));
    }
    let bytes = before.bytes_since();
    ensure_no_allocation(&side, keys)?;
    Ok((bytes, side))
}

/// A decision about a known key must not allocate, or the races would measure the counting allocator too.
fn ensure_no_allocation(side: &impl Side, keys: u32) -> anyhow::Result<()> {
    let known: Vec<String> = (0..keys).step_by(1_000).map(key).collect();
    let before = Reading::now();
    for key in &known {
        black_box(side.decide(key));
    }
    let allocations = before.allocations_since();
    ensure!(allocations == 0, "{} decisions about known keys allocated {allocations} times", known.len());
    Ok(())
}
