//! The tasks beside the calls: looks once a second, writes history, judges, tells.

use crate::alert::{self, Judge};
use crate::api::decisions::Decision;
use crate::api::{emergency, metrics, nodes};
use crate::clock;
use crate::event::EventKind;
use crate::live::{Live, Sampler};
use crate::observer::Observer;
use crate::secret;
use crate::state::{Admin, Shared};
use crate::store::EmergencyRow;
use crate::writes::{Writes, prefix};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use tollgate_core::emergency::{Cause, Emergency};
use tollgate_core::id::ClusterId;
use tollgate_node::DecisionId;

/// The most applications that one message tells of.
const MAX_TOLD: usize = 200;

/// How many of the latest decisions are looked through for refusals.
const LATEST: usize = 2_000;

/// How often other nodes are told how this one is doing, in seconds; a node that was not heard of for three times as long is
/// not shown any more.
const PIN_EVERY: u64 = 5;

/// How often it is looked for alerts of nodes that are gone, in seconds.
const ORPHANS_EVERY: u64 = 15;

/// How long resolved alerts and series that nobody adds to are kept, in milliseconds.
const KEPT_MS: i64 = 30 * DAY_MS;

/// Milliseconds of a day.
const DAY_MS: i64 = 86_400_000;

/// Looks once a second until it is told to stop; then writes everything down.
pub(crate) async fn run(admin: Shared, mut stop: watch::Receiver<bool>) {
    restore(&admin).await;
    let mut watcher = Watcher::default();
    watcher.remember(&admin).await;
    let mut clock = tokio::time::interval(Duration::from_secs(1));
    clock.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            _ = clock.tick() => watcher.look(&admin).await,
            () = stopped(&mut stop) => break,
        }
    }
    let all = admin.recorder().all();
    watcher.writes.save(&admin, all).await;
}

pub(crate) async fn stopped(stop: &mut watch::Receiver<bool>) {
    // An error means that nobody is left who could say so.
    let _ = stop.wait_for(|is_stopping| *is_stopping).await;
}

#[derive(Default)]
struct Watcher {
    sampler: Sampler,
    judge: Judge,
    observer: Observer,
    /// Emergencies that are on: who started them and until when they last.
    emergencies: BTreeMap<ClusterId, (Cause, i64)>,
    drift: BTreeMap<String, f64>,
    last_decision: Option<DecisionId>,
    has_first_version: bool,
    /// The versions of policies that the other nodes were told.
    versions: BTreeMap<ClusterId, u64>,
    writes: Writes,
    looks: u64,
}

impl Watcher {
    /// What was going on at this node before the process started.
    async fn remember(&mut self, admin: &Admin) {
        let Ok(open) = admin.store.open_alerts_of(&admin.settings.node).await else { return };
        for alert in open {
            self.judge.remember(alert.rule, alert.subject);
        }
    }

    async fn look(&mut self, admin: &Admin) {
        let now = clock::wall();
        let mut live = self.sampler.sample(&*admin.plane, &admin.recorder, now).await;
        live.failing = admin.upkeep.failing();
        let live = Arc::new(live);
        admin.set_live(Arc::clone(&live));
        if admin.hub.has_watchers() {
            admin.hub.tell(EventKind::Metrics, message(&live, false), now);
        }
        if admin.hub.has_tails() {
            self.tell_refusals(admin, now);
        } else {
            // What was refused before somebody asked is not what they asked for.
            self.last_decision = admin.plane.latest(1).first().map(|record| record.id);
        }
        self.follow_emergencies(admin, &live).await;
        self.observer.look(admin, &live).await;
        if !self.has_first_version && live.clusters.len() == live.standing.len() {
            self.has_first_version = admin.keep_first_version().await.is_ok();
        }
        if self.looks.is_multiple_of(admin.settings.reconcile_s.max(1)) {
            self.drift = admin.look_at_drift().await;
        }
        alert::run(&mut self.judge, admin, &live, &self.drift).await;
        if self.looks.is_multiple_of(ORPHANS_EVERY) {
            alert::close_orphans(admin, now).await;
        }
        self.tell_nodes(admin).await;
        if admin.is_shared {
            self.writes.report(admin, now).await;
        }
        let due = admin.recorder().due(u32::try_from(now / 1_000).unwrap_or(0));
        self.writes.save(admin, due).await;
        if self.looks.is_multiple_of(3_600) {
            let _ = admin.store.forget_alerts(now - KEPT_MS).await;
            let _ = admin.store.forget_series(now - KEPT_MS).await;
            let _ = admin.store.forget_audit(now - i64::from(admin.settings.audit_days) * DAY_MS).await;
            Self::forget_gone(admin, &live);
        }
        self.looks += 1;
    }

    /// The history of applications that have been gone for a while is of no use.
    fn forget_gone(admin: &Admin, live: &Live) {
        if live.clusters.len() < live.standing.len() {
            return;
        }
        let known: BTreeSet<&str> = live.apps.keys().map(|id| &**id).collect();
        let mut recorder = admin.recorder();
        let gone: Vec<String> =
            recorder.names().filter(|name| !known.contains(name.as_str())).cloned().collect();
        for name in &gone {
            recorder.forget(name);
        }
    }

    /// Tells the other nodes how this one is doing, now and then, and whenever it applies other policies.
    async fn tell_nodes(&mut self, admin: &Admin) {
        let versions: BTreeMap<ClusterId, u64> =
            admin.plane.standing().into_iter().map(|(id, standing)| (id, standing.version)).collect();
        if self.looks.is_multiple_of(PIN_EVERY) || self.versions != versions {
            nodes::pin(admin).await;
            self.versions = versions;
        }
    }

    /// What was refused since the last look; each watcher hears a bounded number of those it asked for.
    fn tell_refusals(&mut self, admin: &Admin, now: i64) {
        let latest = admin.plane.latest(LATEST);
        let newest = latest.first().map(|record| record.id);
        let new = latest.iter().take_while(|record| Some(record.id) != self.last_decision);
        let refused: Vec<Decision> =
            new.filter(|record| record.decision.verdict.reason().is_some()).map(Decision::from).collect();
        if !refused.is_empty() {
            admin.hub.tell(EventKind::Refusals, json!(refused), now);
        }
        self.last_decision = newest.or(self.last_decision);
    }

    /// Writes down and tells of emergencies that start and end by themselves, or at other nodes.
    async fn follow_emergencies(&mut self, admin: &Admin, live: &Live) {
        for (cluster, view) in &live.clusters {
            match (view.emergency, self.emergencies.get(cluster).copied()) {
                (Emergency::On { cause, since, until }, known) => {
                    let started = emergency::millis(since);
                    let is_new = known.is_none();
                    self.emergencies.insert(cluster.clone(), (cause, emergency::millis(until)));
                    if is_new {
                        let until = emergency::millis(until);
                        let _ = note(admin, cluster, cause, &view.emergency_reason, started, until).await;
                    }
                    if is_new && !admin.hub.was_told(&emergency::key(cluster, true), live.at) {
                        let reason = if cause == Cause::Usage { "usage" } else { &view.emergency_reason };
                        emergency::tell(admin, cluster, true, reason, "");
                    }
                }
                (Emergency::Off { .. }, Some((cause, until))) => {
                    self.emergencies.remove(cluster);
                    let by = match cause {
                        _ if live.at >= until => "expired",
                        Cause::Usage => "recovered",
                        Cause::Operator => "operator",
                    };
                    let _ = admin.store.end_emergencies(cluster, by, live.at).await;
                    if !admin.hub.was_told(&emergency::key(cluster, false), live.at) {
                        emergency::tell(admin, cluster, false, by, "");
                    }
                }
                (Emergency::Off { .. }, None) => {
                    if self.looks == 0 {
                        // It ended while nobody looked.
                        let _ = admin.store.end_emergencies(cluster, "expired", live.at).await;
                    }
                }
            }
        }
    }
}

async fn note(
    admin: &Admin,
    cluster: &ClusterId,
    cause: Cause,
    reason: &str,
    started_at: i64,
    until_at: i64,
) -> crate::store::Stored<()> {
    let row = EmergencyRow {
        id: secret::ordered_id()?,
        cluster: cluster.to_string(),
        cause: if cause == Cause::Operator { "operator" } else { "usage" }.into(),
        reason: reason.to_owned(),
        actor: String::new(),
        started_at,
        until_at,
        ended_at: None,
        ended_by: None,
    };
    admin.store.note_emergency(&row).await
}

async fn restore(admin: &Admin) {
    let prefix = prefix(admin);
    match admin.store.series(&prefix, 10_000).await {
        Ok(kept) => {
            let mut recorder = admin.recorder();
            for (name, data) in kept {
                recorder.restore(own_name(&prefix, &name), &data);
            }
        }
        Err(error) => tracing::warn!(%error, "the history could not be read"),
    }
}

/// The name of a series without that of its node, which may be the beginning of both.
fn own_name<'a>(prefix: &str, name: &'a str) -> &'a str {
    name.strip_prefix(prefix).unwrap_or(name)
}

/// How things stand, as it is told every second: of applications, those that did something; all of them at first.
pub(crate) fn message(live: &Live, is_first: bool) -> Value {
    let mut apps: Vec<_> = live
        .apps
        .iter()
        .filter(|(_, app)| is_first || app.flow.requests + app.flow.refused + app.flow.shadowed > 0)
        .collect();
    apps.sort_by_key(|(_, app)| std::cmp::Reverse(app.flow.cost + app.flow.refused_cost));
    let apps: Vec<Value> = apps
        .into_iter()
        .take(MAX_TOLD)
        .map(|(id, app)| {
            json!({
                "app_id": &**id,
                "requests": app.flow.requests,
                "cost": app.flow.cost,
                "refused": app.flow.refused,
                "shadowed": app.flow.shadowed,
                "held": app.held,
                "tokens": app.view.as_ref().map_or(0, |view| view.account.rights.floor()),
                "connections": app.connections.open,
            })
        })
        .collect();
    let clusters: BTreeMap<&str, Value> = live
        .clusters
        .iter()
        .map(|(id, view)| {
            let cluster = json!({
                "available": view.slack.floor(),
                "capacity": view.capacity.rate.floor(),
                "usage": view.usage.as_f64(),
                "overload_cut": view.cut.as_f64(),
                "emergency": view.emergency.is_on(),
                "version": view.version,
            });
            (&**id, cluster)
        })
        .collect();
    let levels: BTreeMap<&str, &str> =
        live.standing.iter().map(|(id, standing)| (&**id, standing.level.name())).collect();
    json!({
        "requests": live.flow.requests,
        "cost": live.flow.cost,
        "refused": live.flow.refused,
        "shadowed": live.flow.shadowed,
        "misses": live.flow.misses,
        "held": live.apps.values().map(|app| app.held).sum::<u64>(),
        "tokens": live.apps.values().filter_map(|app| app.view.as_ref()).map(|view| view.account.rights.floor()).sum::<u64>(),
        "connections": live.connections.open,
        "emergency_mode": metrics::is_emergency(live),
        "redis_health": metrics::redis_health(live),
        "clusters": clusters,
        "levels": levels,
        "apps": apps,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_may_be_called_like_a_series() {
        assert_eq!(own_name("demand/", "demand/demand/app-a"), "demand/app-a");
        assert_eq!(own_name("node/", "node/app-a"), "app-a");
    }
}
