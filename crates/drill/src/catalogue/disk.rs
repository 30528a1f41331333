//! What happens to the disk under a gateway that has its ledger inside.

use crate::drill::Login::{Good, Refused};
use crate::drill::Room::{Fill, Free};
use crate::drill::Step::{Disk, Gateway, LogIn, Rest, Upkeep};
use crate::drill::Upkeep::{Fails, Works};
use crate::drill::{ByGateway, Drill, Ledger, Loss, Stage};
use crate::level::Level;

const ALONE: Stage =
    Stage { ledger: Ledger::Inside, gateways: 1, load: 400, is_encrypted: false, is_named: false };

pub(super) const DRILLS: &[Drill] = &[
    Drill {
        name: "disk-full",
        about: "no room for the snapshot of the ledger and the database of the control plane, then room again",
        stage: ALONE,
        // Longer than it takes until the next snapshot is due.
        steps: &[
            Disk(Fill),
            LogIn(Refused),
            Rest(10_500),
            Upkeep("snapshot", Fails),
            Disk(Free),
            LogIn(Good),
            Upkeep("snapshot", Works),
        ],
        loss: Loss::Nothing,
        outages: 0,
        vanished: 0,
        felt: Level::Normal,
    },
    Drill {
        name: "disk-full-and-killed",
        about: "killed while there was no room for a snapshot: it goes on from the one before",
        stage: ALONE,
        steps: &[
            Rest(8_500),
            Disk(Fill),
            Upkeep("snapshot", Fails),
            Gateway(0, ByGateway::Kill),
            Rest(1_000),
            Disk(Free),
            Gateway(0, ByGateway::Start),
        ],
        loss: Loss::SinceSaved,
        outages: 0,
        vanished: 0,
        felt: Level::NoAnswer,
    },
];
