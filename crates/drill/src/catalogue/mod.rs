//! Every drill there is.

mod clients;
mod disk;
mod gateways;
mod network;
mod redis;
mod reload;
mod upstream;

use crate::drill::{Drill, Ledger, Stage};

/// Three gateways on a Redis Cluster, with more than twice the load that may pass.
pub const FLEET: Stage = Stage { ledger: Ledger::Cluster, gateways: 3, load: 150, is_encrypted: false };

/// All of them.
pub fn all() -> Vec<Drill> {
    [
        redis::DRILLS,
        network::DRILLS,
        gateways::DRILLS,
        disk::DRILLS,
        reload::DRILLS,
        clients::DRILLS,
        upstream::DRILLS,
    ]
    .concat()
}

/// The one of that name.
pub fn named(name: &str) -> Option<Drill> {
    all().into_iter().find(|drill| drill.name == name)
}
