//! What happens between gateways and Redis.

use crate::drill::ByLine::{Carry, Cut, Delay, Forget, Silence};
use crate::drill::Step::{Line, Network, Rest};
use crate::drill::{ByNetwork, Drill, Ledger, Loss, Stage};
use crate::level::Level;

const BEHIND_A_LINE: Stage =
    Stage { ledger: Ledger::Line, gateways: 2, load: 225, is_encrypted: false, is_named: false };

/// Redis is so many milliseconds further away for a while.
macro_rules! delayed {
    ($name:literal, $millis:literal, $outages:literal, $felt:ident) => {
        Drill {
            name: $name,
            about: concat!("everything that is said to Redis takes ", $millis, " ms longer"),
            stage: BEHIND_A_LINE,
            steps: &[Line(Delay($millis)), Rest(3_000), Line(Delay(0))],
            loss: Loss::Nothing,
            outages: $outages,
            vanished: 0,
            felt: Level::$felt,
        }
    };
}

pub(super) const DRILLS: &[Drill] = &[
    delayed!("delayed-10-ms", 10, 0, Mild),
    delayed!("delayed-50-ms", 50, 1, Mild),
    delayed!("delayed-200-ms", 200, 1, Significant),
    delayed!("delayed-2000-ms", 2_000, 1, FailOpen),
    Drill {
        name: "half-open",
        about: "connections to Redis stay open, and everything on them is swallowed",
        stage: BEHIND_A_LINE,
        steps: &[Line(Silence), Rest(3_000), Line(Carry)],
        loss: Loss::Nothing,
        outages: 1,
        vanished: 0,
        felt: Level::FailOpen,
    },
    Drill {
        name: "connections-dead",
        about: "connections to Redis that are open are dead without anybody being told, and new ones can be made",
        stage: BEHIND_A_LINE,
        steps: &[Line(Forget), Rest(3_000)],
        loss: Loss::Nothing,
        outages: 1,
        vanished: 0,
        felt: Level::Mild,
    },
    Drill {
        name: "connections-cut",
        about: "connections to Redis are cut again and again",
        stage: BEHIND_A_LINE,
        steps: &[Line(Cut), Rest(300), Line(Cut), Rest(300), Line(Cut), Rest(300), Line(Cut), Rest(1_000)],
        loss: Loss::Nothing,
        outages: 4,
        vanished: 0,
        felt: Level::Normal,
    },
    Drill {
        name: "network-cut",
        about: "the cable between gateways and Redis is pulled and put back",
        stage: Stage { ledger: Ledger::Apart, ..BEHIND_A_LINE },
        steps: &[Network(ByNetwork::Cut), Rest(3_000), Network(ByNetwork::Mend)],
        loss: Loss::Nothing,
        outages: 1,
        vanished: 0,
        felt: Level::FailOpen,
    },
];
