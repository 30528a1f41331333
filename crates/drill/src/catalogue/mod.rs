//! Every drill there is.

mod clients;
mod disk;
mod gateways;
mod network;
mod redis;
mod reload;
mod upstream;

use crate::drill::{ByRedis, Drill, Ledger, Loss, Server, Stage, Step};
use crate::level::Level;
use crate::promise::RATE;

/// Three gateways on a Redis Cluster, with more than twice the load that may pass.
pub const FLEET: Stage =
    Stage { ledger: Ledger::Cluster, gateways: 3, load: 150, is_encrypted: false, is_named: false };

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

/// Three gateways share one promise: five times as much is asked for as may pass, and the primary with the books dies.
pub const SCALE_OUT: Drill = Drill {
    name: "scale-out",
    about: "five times the promise at three gateways, while the primary with the books is killed",
    stage: Stage { load: 5 * RATE / 3, ..FLEET },
    steps: &[Step::Rest(2_500), Step::Redis(Server::Primary, ByRedis::Kill), Step::Rest(8_000)],
    loss: Loss::Perhaps,
    outages: 1,
    vanished: 0,
    felt: Level::FailOpen,
};
