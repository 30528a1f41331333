//! Every drill there is.

mod redis;

use crate::drill::{Drill, Ledger, Stage};

/// Three gateways on a Redis Cluster, with more than twice the load that may pass.
pub const FLEET: Stage = Stage { ledger: Ledger::Cluster, gateways: 3, load: 150, is_encrypted: false };

/// All of them.
pub fn all() -> Vec<Drill> {
    [redis::DRILLS].concat()
}

/// The one of that name.
pub fn named(name: &str) -> Option<Drill> {
    all().into_iter().find(|drill| drill.name == name)
}
