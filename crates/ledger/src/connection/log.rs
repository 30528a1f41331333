use super::{
    ConnectionEvent, EVENTS_TTL, MAX_EVENTS, MAX_NODES, NewEvent, NodeStats, Report, STATS_TTL, check_size,
};
use crate::ledger::Answer;
use std::collections::{BTreeMap, VecDeque};
use tollgate_core::id::{AppId, NodeId};
use tollgate_core::units::Millis;

/// When to free events that are not shown any more. Well after that, so that a clock that is set back shows the same.
const FORGOTTEN: Millis = Millis::new(2 * EVENTS_TTL.get());

/// What the nodes of one cluster told about their connections.
#[derive(Clone, Debug, Default)]
pub(crate) struct Log {
    stats: BTreeMap<NodeId, NodeStats>,
    /// The newest first; never an empty list.
    events: BTreeMap<AppId, VecDeque<ConnectionEvent>>,
}

impl Log {
    pub(crate) fn report(&mut self, report: &Report, now: Millis) -> Answer<()> {
        check_size("applications", report.apps.len())?;
        check_size("events", report.events.len())?;
        self.stats.retain(|_, stats| is_fresh(stats, now));
        self.events.retain(|_, events| events.iter().any(|event| now.since(event.at) < FORGOTTEN));
        let mut apps = report.apps.clone();
        apps.sort_unstable_by(|a, b| a.0.cmp(&b.0));
        let stats = NodeStats { node: report.node.clone(), at: now, totals: report.totals, apps };
        self.stats.insert(report.node.clone(), stats);
        for event in &report.events {
            let events = self.events.entry(event.app.clone()).or_default();
            events.push_front(event.happened(&report.node, now));
            events.truncate(MAX_EVENTS);
        }
        Ok(())
    }

    pub(crate) fn stats(&self, now: Millis) -> Vec<NodeStats> {
        self.stats.values().filter(|stats| is_fresh(stats, now)).take(MAX_NODES).cloned().collect()
    }

    pub(crate) fn events(&self, app: &AppId, limit: usize, now: Millis) -> Vec<ConnectionEvent> {
        let Some(events) = self.events.get(app) else { return Vec::new() };
        events.iter().take(limit).filter(|event| is_kept(event, now)).cloned().collect()
    }
}

impl NewEvent {
    fn happened(&self, node: &NodeId, now: Millis) -> ConnectionEvent {
        let Self { kind, count, client, .. } = *self;
        ConnectionEvent { at: now.since(self.age), node: node.clone(), kind, count, client }
    }
}

fn is_fresh(stats: &NodeStats, now: Millis) -> bool {
    now.since(stats.at) < STATS_TTL
}

fn is_kept(event: &ConnectionEvent, now: Millis) -> bool {
    now.since(event.at) < EVENTS_TTL
}
