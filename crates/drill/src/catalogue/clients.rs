//! What clients do that mean no good.

use crate::drill::Crowd::{HalfBodies, OpenAndDrop, SlowHeads};
use crate::drill::{Drill, Ledger, Loss, Stage, Step};
use crate::level::Level;

const PAIR: Stage =
    Stage { ledger: Ledger::Line, gateways: 2, load: 225, is_encrypted: false, is_named: false };

pub(super) const DRILLS: &[Drill] = &[
    Drill {
        name: "slow-heads",
        about: "five hundred clients at each gateway send a byte of a header now and then",
        stage: PAIR,
        steps: &[Step::Crowd(SlowHeads(500))],
        loss: Loss::Nothing,
        outages: 0,
        vanished: 0,
        felt: Level::Normal,
    },
    Drill {
        name: "half-bodies",
        about: "five hundred clients at each gateway send half of a body and no more",
        stage: PAIR,
        steps: &[Step::Crowd(HalfBodies(500))],
        loss: Loss::Nothing,
        outages: 0,
        vanished: 0,
        felt: Level::Normal,
    },
    Drill {
        name: "opened-and-dropped",
        about: "ten thousand connections are opened and dropped, half of them in the middle of a header",
        stage: PAIR,
        steps: &[Step::Crowd(OpenAndDrop(5_000))],
        loss: Loss::Nothing,
        outages: 0,
        vanished: 0,
        felt: Level::Normal,
    },
];
