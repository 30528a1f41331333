//! What is to happen: who asks for how much, second by second.

use super::cluster::APPS;

/// What is to happen.
pub(super) struct Script {
    pub(super) name: &'static str,
    pub(super) heading: &'static str,
    pub(super) note: &'static str,
    /// What the cluster can stand, in tokens per second.
    pub(super) capacity: u64,
    pub(super) seconds: &'static [Plan],
}

/// One second of a script: what `video-service`, `app-a` and `app-c` ask for, and in what mode.
pub(super) struct Plan {
    pub(super) asks: [u64; APPS],
    pub(super) emergency: bool,
}

const CALM: Plan = Plan { asks: [20_000, 6_000, 5_000], emergency: false };
const BURST: Plan = Plan { asks: [20_000, 60_000, 5_000], emergency: false };
const BUSY: Plan = Plan { asks: [30_000, 15_000, 7_500], emergency: false };
const EMERGENCY: Plan = Plan { asks: BUSY.asks, emergency: true };

const NEIGHBOUR: &[Plan] = &[CALM, CALM, CALM, BURST, BURST, BURST, CALM, CALM, CALM, CALM];

/// The stories there are.
pub(super) static SCRIPTS: [Script; 3] = [
    Script {
        name: "burst",
        heading: "A neighbour bursts on cluster-01, which has room (1,000,000 tokens/s)",
        note: "\
From second 4 to 6 app-a asks for six times its guarantee. It spends its savings, its burst allowance and a loan, and
then gets what it was promised, less what it pays back. The others ask for all of their guarantees, and get them.",
        capacity: 1_000_000,
        seconds: NEIGHBOUR,
    },
    Script {
        name: "contention",
        heading: "The same on a cluster that is nearly sold out (40,000 tokens/s)",
        note: "\
This cluster is much smaller than cluster-01, so that there is something to fight over: 35,000 tokens/s are promised.
The burst takes what nobody was promised, down to the reserve, and not one token of the neighbours' guarantees.
Overload cuts and automatic emergencies are left out here, so that the numbers can be followed by hand.",
        capacity: 40_000,
        seconds: NEIGHBOUR,
    },
    Script {
        name: "emergency",
        heading: "An operator declares an emergency on cluster-01 (1,000,000 tokens/s)",
        note: "\
Everybody asks for one and a half times its guarantee. From second 4 to 6 only a share of each guarantee is in force,
and nothing beyond it: 100 % for P0 (video-service), 50 % for P1 (app-a), 10 % for P2 (app-c).",
        capacity: 1_000_000,
        seconds: &[BUSY, BUSY, BUSY, EMERGENCY, EMERGENCY, EMERGENCY, BUSY, BUSY],
    },
];
