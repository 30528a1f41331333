//! What happens to the server behind the gateways.

use crate::drill::{ByUpstream, Drill, Ledger, Loss, Stage, Step};
use crate::level::Level;

pub(super) const DRILLS: &[Drill] = &[Drill {
    name: "upstream-dies",
    about: "the server behind the gateways dies and comes back",
    stage: Stage { ledger: Ledger::Line, gateways: 2, load: 225, is_encrypted: false, is_named: false },
    steps: &[Step::Upstream(ByUpstream::Die), Step::Rest(2_000), Step::Upstream(ByUpstream::Return)],
    loss: Loss::Nothing,
    outages: 0,
    vanished: 0,
    felt: Level::Normal,
}];
