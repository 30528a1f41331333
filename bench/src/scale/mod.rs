//! How the cost of a cluster grows with its nodes and its applications, in simulation: the shipped code in virtual time, so
//! every number but the time it took is the same on every machine.

mod curves;

use crate::machine::Machine;
use crate::progress::Progress;
use crate::report::{Report, Section, pretty};
use crate::table::Table;
use anyhow::{Context, ensure};
use curves::{Curves, Line, Panel};
use serde::Serialize;
use std::fmt;
use tollgate_sim::scenario::Measure;
use tollgate_sim::{LedgerKind, Scenario};

/// Requests per second of each node: enough that every node has something to say, few enough that thousands can be played.
const PER_NODE: usize = 20;

/// What a request costs on average.
const COST: usize = 3;

/// How many clusters the applications are divided among.
const CLUSTERS: [usize; 3] = [1, 4, 16];

/// The number of nodes from which on several clusters are looked at.
const DIVIDED_FROM: usize = 100;

/// The share of the time beyond which a slot is not to work.
const FULL: f64 = 1.0;

/// How large a system is.
#[derive(Clone, Copy, Debug, Serialize)]
struct Size {
    nodes: usize,
    apps: usize,
    clusters: usize,
    kind: Kind,
}

/// One system and what was measured of it.
#[derive(Clone, Debug, Serialize)]
struct Point {
    #[serde(flatten)]
    size: Size,
    /// Calls of all nodes to the ledger, in a second.
    calls: f64,
    /// What they and their answers weigh, in bytes, in a second.
    bytes: f64,
    /// The share of the time that the busiest slot worked.
    busy: f64,
    /// How long it took until as much passed as should, after the load had moved: of a hundred applications, all but the
    /// slowest.
    convergence: Option<f64>,
    /// What passed of what one bucket in one place would have let pass, of all applications together.
    utilisation: f64,
    /// The worst of any application, in seconds of its rate.
    over_admission: f64,
    /// The rule that was broken, which ended the run: what is measured is what came before.
    broken: Option<String>,
}

/// How much is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
enum Kind {
    /// Less than what was promised, and it moves from one half of the nodes to the other.
    Plenty,
    /// Twice what was promised.
    Scarce,
}

/// How much is played.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    /// The largest number of nodes.
    pub(crate) nodes: usize,
    /// The largest number of applications.
    pub(crate) apps: usize,
}

pub(crate) fn ask(plan: Plan) -> anyhow::Result<Report> {
    let steps = |most: usize| [1, 10, 100, 1_000, 5_000].into_iter().filter(move |step| *step <= most);
    let mut series = Vec::new();
    for kind in [Kind::Plenty, Kind::Scarce] {
        for clusters in CLUSTERS {
            let nodes = steps(plan.nodes).filter(|nodes| clusters == 1 || *nodes >= DIVIDED_FROM);
            series.push(nodes.map(|nodes| Size { nodes, apps: plan.apps, clusters, kind }).collect());
        }
        let apps = steps(plan.apps).filter(|apps| *apps < plan.apps);
        series.push(
            apps.map(|apps| Size { nodes: plan.nodes.min(100), apps, clusters: 1, kind }).collect::<Vec<_>>(),
        );
    }
    let mut progress = Progress::new(series.iter().map(Vec::len).sum());
    let (mut points, mut left_out) = (Vec::<Point>::new(), Vec::new());
    for sizes in series {
        let mut last: Option<&Point> = None;
        for size in sizes {
            progress.step(&size.to_string())?;
            let reach = last.map_or(0.0, |last| last.busy * size.growth(&last.size));
            if reach > FULL {
                left_out.push(format!(
                    "{size}: not played, a slot would have to work for {:.0} % of the time.",
                    reach * 100.0
                ));
                continue;
            }
            points.push(play(size)?);
            last = points.last();
        }
    }
    progress.finish()?;
    report(&plan, &points, left_out)
}

impl Size {
    /// How many times as many nodes and applications it has, as `other`.
    #[allow(clippy::cast_precision_loss, reason = "for people")]
    fn growth(&self, other: &Self) -> f64 {
        (self.nodes as f64 / other.nodes as f64) * (self.apps as f64 / other.apps as f64)
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { nodes, apps, clusters, kind } = self;
        let kind = format!("{kind:?}").to_lowercase();
        write!(f, "{nodes} nodes, {apps} applications, {clusters} clusters, {kind}")
    }
}

/// The story of one system.
fn story(size: &Size) -> String {
    let Size { nodes, apps, clusters, kind } = *size;
    let demand = nodes * PER_NODE * COST;
    let (each, skew, moving) = match kind {
        // The most popular application is nearly a seventh of all.
        Kind::Plenty => (demand.max(2 * COST), "zipf 1.1", "moving every 5s"),
        Kind::Scarce => ((demand / apps / 2).max(1), "zipf 0", ""),
    };
    let capacity = each * apps / clusters * 2;
    let (in_each, rate) = ((apps / clusters).max(1), nodes * PER_NODE / clusters);
    let mut lines = vec![format!("nodes {nodes}\nrun 20s\nmeasure from 5s")];
    lines.extend((0..clusters).map(|cluster| format!("cluster c{cluster} capacity {capacity}")));
    lines.extend((0..clusters).map(|cluster| {
        format!(
            "apps {in_each} t{cluster}- guaranteed {each} burst {burst} borrows nothing on c{cluster}\n\
             load t{cluster}-* {skew} poisson {rate}/s cost 1 to 5 {moving}",
            burst = each * 5,
        )
    }));
    lines.join("\n")
}

#[allow(clippy::cast_precision_loss, reason = "for people")]
fn play(size: Size) -> anyhow::Result<Point> {
    let story = story(&size);
    let scenario =
        Scenario::parse("scale", &story).with_context(|| format!("the story is wrong:\n{story}"))?;
    let outcome = scenario.run(1, LedgerKind::Memory)?;
    let summary = outcome.summary;
    ensure!(summary.seconds > 0.0, "nothing was measured");
    let broken = outcome.failure.map(|failure| {
        let violation = failure.violation;
        format!("{size}: {}: {}", violation.rule, violation.what)
    });
    let sum = |of: fn(&tollgate_sim::AppSummary) -> u64| summary.apps.iter().map(of).sum::<u64>();
    Ok(Point {
        size,
        calls: summary.calls as f64 / summary.seconds,
        bytes: summary.bytes as f64 / summary.seconds,
        busy: summary.busy,
        convergence: summary.measure(Measure::Convergence, None),
        utilisation: sum(|app| app.passed) as f64 / sum(|app| app.ideal).max(1) as f64,
        over_admission: summary.measure(Measure::OverAdmission, None).unwrap_or_default(),
        broken,
    })
}

fn report(plan: &Plan, points: &[Point], left_out: Vec<String>) -> anyhow::Result<Report> {
    let table = |kind: Kind| {
        let mut table = Table::new([
            "nodes x applications",
            "clusters",
            "calls/s",
            "kB/s",
            "busiest slot",
            "convergence",
            "utilisation",
            "over-admission",
        ]);
        for point in points.iter().filter(|point| point.size.kind == kind) {
            table.push([
                format!("{} x {}", point.size.nodes, point.size.apps),
                point.size.clusters.to_string(),
                format!("{:.0}", point.calls),
                format!("{:.0}", point.bytes / 1e3),
                format!("{:.1} %", point.busy * 100.0),
                point.convergence.map_or("-".into(), |seconds| format!("{seconds:.1} s")),
                format!("{:.1} %", point.utilisation * 100.0),
                format!("{:.3} s", point.over_admission),
            ]);
        }
        table
    };
    Ok(Report {
        name: "scale",
        title: "How the cost of a cluster grows, in simulation".into(),
        machine: Machine::this(),
        sections: [
            Section::of("Plenty: the load moves between the nodes", &table(Kind::Plenty)),
            Section::of("Scarce: everybody wants twice its guarantee", &table(Kind::Scarce)),
        ]
        .into_iter()
        .flatten()
        .collect(),
        reading: include_str!("reading.md"),
        remarks: points.iter().filter_map(|point| point.broken.clone()).chain(left_out).collect(),
        method: vec![include_str!("method.md").into()],
        numbers: pretty(&points)?,
        picture: picture(plan, points).svg(),
    })
}

fn picture(plan: &Plan, points: &[Point]) -> Curves {
    let line = |clusters: usize, value: fn(&Point) -> f64| {
        let of = points.iter().filter(|point| {
            let size = &point.size;
            (size.apps, size.clusters, size.kind) == (plan.apps, clusters, Kind::Plenty)
        });
        #[allow(clippy::cast_precision_loss, reason = "for people")]
        let points = of.map(|point| (point.size.nodes as f64, value(point))).collect();
        Line {
            name: if clusters == 1 { "one cluster".into() } else { format!("{clusters} clusters") },
            points,
        }
    };
    let panel = |axis: &str, value: fn(&Point) -> f64| Panel {
        axis: axis.into(),
        lines: [1, 16].map(|clusters| line(clusters, value)).into(),
    };
    Curves {
        title: format!("{} applications with plenty, on ever more nodes", plan.apps),
        subtitle: format!("{PER_NODE} requests/s at each node; both scales are logarithmic"),
        across: "nodes".into(),
        panels: vec![
            panel("calls to the ledger per second", |point| point.calls),
            panel("kB per second", |point| point.bytes / 1e3),
            panel("work of one slot, in %", |point| point.busy * 100.0),
        ],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_study_breaks_no_rule_and_grows() {
        let report = ask(Plan { nodes: 10, apps: 10 }).unwrap();
        let points: Vec<serde_json::Value> = serde_json::from_str(&report.numbers).unwrap();
        let calls = |nodes: u64| {
            let point = points.iter().find(|point| point["nodes"] == nodes && point["kind"] == "Plenty");
            point.unwrap()["calls"].as_f64().unwrap()
        };
        assert!(points.iter().all(|point| point["broken"].is_null()), "{points:?}");
        assert!(calls(10) > calls(1), "{points:?}");
        assert!(report.picture.contains("</svg>"));
    }
}
