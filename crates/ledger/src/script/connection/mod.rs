//! Slots, statistics and events of connections, kept by scripts of their own: they share nothing with the book.

mod wire;

use super::engine::Engine;
use super::ledger::ScriptLedger;
use super::text::Script;
use crate::connection::{ConnectionEvent, Hold, HoldReply, NodeStats, Report, Slots, check_size};
use crate::ledger::Answer;
use tollgate_core::id::{AppId, ClusterId};

macro_rules! script {
    ($name:literal) => {
        Script {
            name: $name,
            text: concat!(
                include_str!("../lua/clock.lua"),
                include_str!(concat!("../lua/connection/", $name, ".lua")),
            ),
        }
    };
}

pub(super) static HOLD: Script = script!("hold");
pub(super) static REPORT: Script = script!("report_connections");
pub(super) static STATS: Script = script!("connection_stats");
pub(super) static EVENTS: Script = script!("connection_events");

impl<E: Engine> Slots for ScriptLedger<E> {
    async fn hold(&self, cluster: &ClusterId, hold: &Hold) -> Answer<HoldReply> {
        check_size("entries", hold.entries.len())?;
        wire::hold_reply(&mut self.run(&HOLD, cluster, wire::hold(hold)).await?)
    }

    async fn report_connections(&self, cluster: &ClusterId, report: &Report) -> Answer<()> {
        check_size("applications", report.apps.len())?;
        check_size("events", report.events.len())?;
        self.run(&REPORT, cluster, wire::report(report)).await.map(drop)
    }

    async fn connection_stats(&self, cluster: &ClusterId) -> Answer<Vec<NodeStats>> {
        wire::stats(&mut self.run(&STATS, cluster, wire::nothing()).await?)
    }

    async fn connection_events(
        &self,
        cluster: &ClusterId,
        app: &AppId,
        limit: usize,
    ) -> Answer<Vec<ConnectionEvent>> {
        wire::events(&mut self.run(&EVENTS, cluster, wire::last(app, limit)).await?)
    }
}
