//! What happens to files that gateways read.

use super::FLEET;
use crate::drill::Step::{NewCertificate, Reload, Rest};
use crate::drill::{Drill, File, Ledger, Loss, Stage};
use crate::level::Level;

pub(super) const DRILLS: &[Drill] = &[
    Drill {
        name: "reload-storm",
        about: "configurations, every other one wrong, are written and signalled fifty times a second",
        stage: Stage { ledger: Ledger::Line, gateways: 2, load: 225, ..FLEET },
        steps: &[Reload(File::Both, 60), Rest(500), Reload(File::Bad, 20), Rest(500), Reload(File::Good, 20)],
        loss: Loss::Nothing,
        outages: 0,
        vanished: 0,
        felt: Level::Normal,
    },
    Drill {
        name: "certificate-renewed",
        about: "certificates are written over while clients come and go",
        stage: Stage { ledger: Ledger::Line, gateways: 2, load: 225, is_encrypted: true, is_named: false },
        steps: &[NewCertificate, Rest(2_500), NewCertificate, Rest(2_500)],
        loss: Loss::Nothing,
        outages: 0,
        vanished: 0,
        felt: Level::Normal,
    },
];
