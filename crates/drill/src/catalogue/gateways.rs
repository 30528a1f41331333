//! What happens to gateways.

use super::FLEET;
use crate::drill::ByGateway::{Continue, Kill, Replace, Start, Stop};
use crate::drill::Step::{Gateway, Rest};
use crate::drill::{Drill, Loss, Stage};
use crate::level::Level;

const NAMED: Stage = Stage { is_named: true, ..FLEET };

pub(super) const DRILLS: &[Drill] = &[
    Drill {
        name: "gateway-killed",
        about: "a gateway is killed and started again under its name",
        stage: NAMED,
        steps: &[Gateway(0, Kill), Rest(1_500), Gateway(0, Start)],
        loss: Loss::Nothing,
        outages: 0,
        vanished: 0,
        felt: Level::NoAnswer,
    },
    Drill {
        name: "gateway-lost",
        about: "a gateway is killed, and another of another name takes its place",
        stage: FLEET,
        steps: &[Gateway(0, Kill), Rest(1_500), Gateway(0, Start), Rest(1_500)],
        loss: Loss::Nothing,
        outages: 0,
        vanished: 1,
        felt: Level::NoAnswer,
    },
    Drill {
        name: "gateway-stopped",
        about: "a gateway stands still for longer than its leases last, and goes on",
        stage: FLEET,
        steps: &[Gateway(1, Stop), Rest(6_500), Gateway(1, Continue)],
        loss: Loss::Nothing,
        outages: 1,
        vanished: 0,
        felt: Level::NoAnswer,
    },
    Drill {
        name: "gateway-stopped-briefly",
        about: "a gateway stands still for a second",
        stage: FLEET,
        steps: &[Gateway(1, Stop), Rest(1_000), Gateway(1, Continue)],
        loss: Loss::Nothing,
        outages: 1,
        vanished: 0,
        felt: Level::Normal,
    },
    Drill {
        name: "all-gateways-killed",
        about: "all gateways are killed at once and started again under their names",
        stage: NAMED,
        steps: &[
            Gateway(0, Kill),
            Gateway(1, Kill),
            Gateway(2, Kill),
            Rest(1_000),
            Gateway(0, Start),
            Gateway(1, Start),
            Gateway(2, Start),
            Rest(2_000),
        ],
        loss: Loss::Nothing,
        outages: 0,
        vanished: 0,
        felt: Level::NoAnswer,
    },
    Drill {
        name: "rolling-restart",
        about: "gateways are replaced one after the other, and no request is lost",
        stage: FLEET,
        steps: &[Gateway(0, Replace), Rest(1_000), Gateway(1, Replace), Rest(1_000), Gateway(2, Replace)],
        loss: Loss::Nothing,
        outages: 0,
        vanished: 0,
        felt: Level::Normal,
    },
];
