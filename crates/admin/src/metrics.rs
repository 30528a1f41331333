//! `/metrics`, for Prometheus. Everything is read when it is asked for: the way of a request pays nothing for it.

mod named;

pub(crate) use named::Named;

use crate::drift::ClusterDrift;
use crate::live::Live;
use crate::plane::Plane;
use crate::state::{Admin, Shared};
use crate::upkeep::{Task, Upkeep};
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::{HeaderMap, header};
use named::Sums;
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, NoLabelSet};
use prometheus_client::metrics::MetricType;
use prometheus_client::registry::{Registry, Unit};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;
use tollgate_core::id::ClusterId;
use tollgate_core::reason::Reason;
use tollgate_core::units::Nanos;
use tollgate_node::{SPAN_BOUNDS, Spans};

/// Serves the numbers.
pub(crate) async fn serve(State(admin): State<Shared>, headers: HeaderMap) -> Response {
    let mut registry = Registry::with_prefix("tollgate");
    registry.register_collector(Box::new(Snapshot { admin: Arc::clone(&admin) }));
    let mut text = String::new();
    if prometheus_client::encoding::text::encode(&mut text, &registry).is_err() {
        return http::StatusCode::INTERNAL_SERVER_ERROR.into_response();
    }
    let accepted = headers.get(header::ACCEPT).and_then(|value| value.to_str().ok()).unwrap_or_default();
    if accepted.contains("application/openmetrics-text") {
        let kind = "application/openmetrics-text; version=1.0.0; charset=utf-8";
        return ([(header::CONTENT_TYPE, kind)], text).into_response();
    }
    ([(header::CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], classic(&text)).into_response()
}

/// The older format, for whoever does not ask for the newer: counters are described by the names they are written with,
/// and nothing is said of units and of the end.
fn classic(text: &str) -> String {
    let counters: BTreeSet<&str> =
        text.lines().filter_map(|line| line.strip_prefix("# TYPE ")?.strip_suffix(" counter")).collect();
    let mut classic = String::with_capacity(text.len());
    for line in text.lines().filter(|line| *line != "# EOF" && !line.starts_with("# UNIT ")) {
        let mut words = line.splitn(4, ' ');
        match (words.next(), words.next(), words.next(), words.next()) {
            (Some("#"), Some(what), Some(name), Some(rest)) if counters.contains(name) => {
                classic.extend(["# ", what, " ", name, "_total ", rest]);
            }
            _ => classic.push_str(line),
        }
        classic.push('\n');
    }
    classic
}

#[derive(Debug)]
struct Snapshot {
    admin: Shared,
}

impl Collector for Snapshot {
    fn encode(&self, encoder: DescriptorEncoder<'_>) -> Result<(), fmt::Error> {
        let live = self.admin.live();
        let mut page = Page { encoder };
        of_apps(&mut page, &self.admin, &live)?;
        of_clusters(&mut page, &live)?;
        of_drift(&mut page, &self.admin.drift.all())?;
        of_ledger(&mut page, &live)?;
        of_waits(&mut page, &self.admin.plane.waited())?;
        of_connections(&mut page, &*self.admin.plane, &live)?;
        of_upkeep(&mut page, &self.admin.upkeep)?;
        let node: &str = &self.admin.settings.node;
        page.gauge(
            "build_info",
            "the version of the program",
            &[([("version", env!("CARGO_PKG_VERSION")), ("node", node)], 1.0)],
        )
    }
}

struct Page<'a> {
    encoder: DescriptorEncoder<'a>,
}

impl Page<'_> {
    fn counter<const N: usize>(
        &mut self,
        name: &str,
        help: &str,
        rows: &[([(&str, &str); N], u64)],
    ) -> Result<(), fmt::Error> {
        let mut family = self.encoder.encode_descriptor(name, help, None, MetricType::Counter)?;
        for (labels, value) in rows {
            family.encode_family(labels)?.encode_counter::<NoLabelSet, u64, u64>(value, None)?;
        }
        Ok(())
    }

    fn gauge<const N: usize>(
        &mut self,
        name: &str,
        help: &str,
        rows: &[([(&str, &str); N], f64)],
    ) -> Result<(), fmt::Error> {
        self.gauge_in(name, help, None, rows)
    }

    /// How long something took, in seconds.
    fn histogram<const N: usize>(
        &mut self,
        name: &str,
        help: &str,
        rows: &[([(&str, &str); N], Spans)],
    ) -> Result<(), fmt::Error> {
        let kind = MetricType::Histogram;
        let mut family = self.encoder.encode_descriptor(name, help, Some(&Unit::Seconds), kind)?;
        for (labels, spans) in rows {
            let bounds = SPAN_BOUNDS.iter().map(|bound| seconds(*bound)).chain([f64::INFINITY]);
            let buckets: Vec<(f64, u64)> = bounds.zip(spans.counts).collect();
            let (sum, count) = (seconds(spans.total), spans.count());
            family.encode_family(labels)?.encode_histogram::<NoLabelSet>(sum, count, &buckets, None)?;
        }
        Ok(())
    }

    fn gauge_in<const N: usize>(
        &mut self,
        name: &str,
        help: &str,
        unit: Option<&Unit>,
        rows: &[([(&str, &str); N], f64)],
    ) -> Result<(), fmt::Error> {
        let mut family = self.encoder.encode_descriptor(name, help, unit, MetricType::Gauge)?;
        for (labels, value) in rows {
            family.encode_family(labels)?.encode_gauge(value)?;
        }
        Ok(())
    }
}

fn of_apps(page: &mut Page<'_>, admin: &Admin, live: &Live) -> Result<(), fmt::Error> {
    let apps = admin.plane.apps();
    let told = admin.named().sort(apps.iter().map(|app| (app.id().clone(), Sums::from(&app.counts()))));
    let named = told.named.iter().map(|(id, sums)| (&**id, sums));
    let rows: Vec<(&str, &Sums)> = named.chain(told.others.iter().map(|sums| ("other", sums))).collect();
    let mut decisions = by_decision(&rows);
    let unknown = [("app", "unknown"), ("result", "refused"), ("reason", Reason::UnknownApp.code())];
    decisions.push((unknown, admin.plane.strangers_refused()));
    page.counter("decisions", "requests decided by this node", &decisions)?;
    let column = |value: &dyn Fn(&Sums) -> u64| {
        rows.iter().map(|(app, sums)| ([("app", *app)], value(sums))).collect::<Vec<_>>()
    };
    page.counter("cost_tokens", "tokens that requests paid", &column(&|sums| sums.cost))?;
    page.counter("refused_cost_tokens", "tokens asked for in vain", &column(&|sums| sums.refused_cost))?;
    page.counter(
        "shadowed",
        "requests let through although they would have been refused",
        &column(&|sums| sums.shadowed.iter().sum()),
    )?;
    page.counter("ledger_misses", "requests that had to ask the ledger", &column(&|sums| sums.misses))?;
    page.counter("rollbacks", "requests whose cost was given back", &column(&|sums| sums.rolled_back))?;
    let own: BTreeSet<&str> = told.named.iter().map(|(id, _)| &**id).collect();
    let held = apps.iter().filter(|app| own.contains(&**app.id()));
    let held: Vec<_> = held.map(|app| ([("app", &**app.id())], app.held().floor() as f64)).collect();
    page.gauge("node_tokens", "tokens that this node holds (L3)", &held)?;
    of_buckets(page, live, own.into_iter())
}

type Decided<'a> = ([(&'static str, &'a str); 3], u64);

/// Requests by application, result and reason; reasons only as far as there were any.
fn by_decision<'a>(rows: &[(&'a str, &Sums)]) -> Vec<Decided<'a>> {
    let mut decisions = Vec::new();
    for (app, sums) in rows {
        decisions.push(([("app", *app), ("result", "allowed"), ("reason", "none")], sums.allowed));
        for (result, counts) in [("refused", &sums.refused), ("shadowed", &sums.shadowed)] {
            let by_reason = Reason::ALL.iter().zip(counts).filter(|(_, count)| **count > 0);
            decisions.extend(by_reason.map(|(reason, count)| {
                ([("app", *app), ("result", result), ("reason", reason.code())], *count)
            }));
        }
    }
    decisions
}

fn of_buckets<'a>(
    page: &mut Page<'_>,
    live: &Live,
    named: impl Iterator<Item = &'a str>,
) -> Result<(), fmt::Error> {
    let views: Vec<_> = named.filter_map(|id| Some((id, live.apps.get(id)?.view.as_deref()?))).collect();
    let rows = |value: &dyn Fn(&tollgate_ledger::protocol::AppView) -> f64| {
        views.iter().map(|(id, view)| ([("app", *id)], value(view))).collect::<Vec<_>>()
    };
    page.gauge(
        "app_tokens",
        "tokens in an application's bucket (L2)",
        &rows(&|view| view.account.rights.floor() as f64),
    )?;
    page.gauge(
        "app_burst_tokens",
        "the most that the bucket holds",
        &rows(&|view| view.policy.policy.quota.burst.floor() as f64),
    )?;
    page.gauge(
        "app_guaranteed_tokens_per_second",
        "what an application was promised",
        &rows(&|view| view.policy.policy.quota.guaranteed.floor() as f64),
    )?;
    page.gauge(
        "app_leased_tokens",
        "tokens out on lease to nodes",
        &rows(&|view| view.account.outstanding.floor() as f64),
    )?;
    page.gauge(
        "app_borrowed_tokens",
        "tokens borrowed",
        &rows(&|view| view.account.loan.borrowed.ceil() as f64),
    )?;
    page.gauge("app_debt_tokens", "tokens owed", &rows(&|view| view.account.loan.debt.ceil() as f64))
}

fn of_clusters(page: &mut Page<'_>, live: &Live) -> Result<(), fmt::Error> {
    let rows = |value: &dyn Fn(&tollgate_ledger::protocol::ClusterView) -> f64| {
        live.clusters.iter().map(|(id, view)| ([("cluster", &**id)], value(view))).collect::<Vec<_>>()
    };
    page.gauge(
        "cluster_available_tokens",
        "headroom for anybody (L1)",
        &rows(&|view| view.slack.floor() as f64),
    )?;
    page.gauge(
        "cluster_capacity_tokens_per_second",
        "what the cluster can stand",
        &rows(&|view| view.capacity.rate.floor() as f64),
    )?;
    page.gauge(
        "cluster_promised_tokens_per_second",
        "what the guarantees add up to",
        &rows(&|view| view.promised.floor() as f64),
    )?;
    page.gauge(
        "cluster_usage_ratio",
        "the share of the capacity granted over the last second",
        &rows(&|view| view.usage.as_f64()),
    )?;
    page.gauge(
        "cluster_overload_cut_ratio",
        "how much overload cuts above the guarantees",
        &rows(&|view| view.cut.as_f64()),
    )?;
    page.gauge(
        "cluster_emergency",
        "whether the cluster is in emergency mode",
        &rows(&|view| f64::from(u8::from(view.emergency.is_on()))),
    )?;
    page.gauge("cluster_nodes", "nodes that are heard of", &rows(&|view| view.nodes as f64))?;
    page.gauge(
        "cluster_policy_version",
        "the version of the policies in the ledger",
        &rows(&|view| view.version as f64),
    )
}

fn of_drift(page: &mut Page<'_>, drift: &BTreeMap<ClusterId, ClusterDrift>) -> Result<(), fmt::Error> {
    let ratios: Vec<_> = drift.iter().map(|(id, drift)| ([("cluster", &**id)], drift.ratio)).collect();
    let help = "by which share what is out differed from what the leases add up to, at most, when it was last looked at";
    page.gauge("drift_ratio", help, &ratios)?;
    let corrected: Vec<_> = drift.iter().map(|(id, drift)| ([("cluster", &**id)], drift.corrected)).collect();
    page.counter("reconciliations", "applications whose drift this node had corrected", &corrected)
}

fn of_ledger(page: &mut Page<'_>, live: &Live) -> Result<(), fmt::Error> {
    let rows = |value: &dyn Fn(&tollgate_node::desk::Standing) -> f64| {
        live.standing.iter().map(|(id, standing)| ([("cluster", &**id)], value(standing))).collect::<Vec<_>>()
    };
    page.gauge(
        "degradation_level",
        "how badly the ledger can be reached: 0 normal, 1 mild, 2 significant, 3 not at all",
        &rows(&|s| f64::from(s.level as u8)),
    )?;
    page.gauge(
        "node_policy_version",
        "the version of the policies that this node applies",
        &rows(&|s| s.version as f64),
    )?;
    page.gauge("node_leases", "applications that this node holds tokens for", &rows(&|s| s.leases as f64))?;
    let latency = rows(&|s| seconds(s.calls.latency));
    page.gauge_in(
        "ledger_latency",
        "how long the ledger's last answer took",
        Some(&Unit::Seconds),
        &latency,
    )?;
    let took: Vec<_> = live.standing.iter().map(|(id, s)| ([("cluster", &**id)], s.calls.took)).collect();
    page.histogram("ledger_call", "how long calls to the ledger took, those too that failed", &took)?;
    let calls: Vec<_> = live.standing.iter().map(|(id, s)| ([("cluster", &**id)], s.calls.made)).collect();
    page.counter("ledger_calls", "calls to the ledger", &calls)?;
    let failed: Vec<_> = live.standing.iter().map(|(id, s)| ([("cluster", &**id)], s.calls.failed)).collect();
    page.counter("ledger_failed_calls", "calls that failed or were not answered in time", &failed)
}

fn of_waits(page: &mut Page<'_>, waited: &Spans) -> Result<(), fmt::Error> {
    let help = "how long requests waited that had to ask the ledger; those decided in memory, nearly all, waited for nothing \
                and are not in it";
    page.histogram::<0>("ledger_wait", help, &[([], *waited)])
}

fn seconds(span: Nanos) -> f64 {
    span.get() as f64 / 1e9
}

fn of_connections(page: &mut Page<'_>, plane: &dyn Plane, live: &Live) -> Result<(), fmt::Error> {
    let counts: Vec<_> = live
        .standing
        .keys()
        .filter_map(|id| plane.connections(id).map(|connections| (&**id, connections.totals())))
        .collect();
    let rows = |value: &dyn Fn(&tollgate_ledger::connection::Counts) -> u64| {
        counts.iter().map(|(id, counts)| ([("cluster", *id)], value(counts))).collect::<Vec<_>>()
    };
    let open: Vec<_> =
        rows(&|counts| counts.open).into_iter().map(|(labels, value)| (labels, value as f64)).collect();
    page.gauge("connections_open", "connections that are open on this node", &open)?;
    page.counter("connections_opened", "connections opened so far", &rows(&|counts| counts.opened))?;
    page.counter("connections_rejected", "connections refused so far", &rows(&|counts| counts.rejected))?;
    page.counter(
        "connections_leaked",
        "connections never released by their holder",
        &rows(&|counts| counts.leaked),
    )
}

fn of_upkeep(page: &mut Page<'_>, upkeep: &Upkeep) -> Result<(), fmt::Error> {
    let help = "whether what is done beside requests failed when it was last tried";
    let rows = Task::ALL.map(|task| ([("task", task.name())], f64::from(u8::from(upkeep.is_failing(task)))));
    page.gauge("upkeep_failing", help, &rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_older_format_describes_counters_by_their_whole_names() {
        let text = "# HELP a things\n# TYPE a counter\na_total{x=\"y\"} 1\n# HELP b_seconds time\n# TYPE b_seconds gauge\n\
                    # UNIT b_seconds seconds\nb_seconds 2.0\n# EOF\n";
        let expected = "# HELP a_total things\n# TYPE a_total counter\na_total{x=\"y\"} 1\n\
                        # HELP b_seconds time\n# TYPE b_seconds gauge\nb_seconds 2.0\n";
        assert_eq!(classic(text), expected);
    }
}
