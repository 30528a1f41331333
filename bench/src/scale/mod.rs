//! How the cost of a cluster grows with its nodes and its applications, in simulation: the shipped code in virtual time, so
//! every number but the time it took is the same on every machine.

mod size;

use crate::machine::Machine;
use crate::plot::{Frame, Growth, LinePlot};
use crate::progress::Progress;
use crate::report::{Report, Section, pretty};
use crate::table::Table;
use anyhow::{Context, ensure};
use serde::Serialize;
use size::{Kind, PER_NODE, Size};
use tollgate_sim::scenario::Measure;
use tollgate_sim::{LedgerKind, Scenario};

/// How many clusters the applications are divided among.
const CLUSTERS: [usize; 3] = [1, 4, 16];

/// The share of the time that a slot is to work at most: beyond it, calls wait for each other for longer than requests do.
const FULL: f64 = 0.85;

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

/// How much is played.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    /// The largest number of nodes.
    pub(crate) nodes: usize,
    /// The largest number of applications.
    pub(crate) apps: usize,
}

pub(crate) fn ask(plan: Plan) -> anyhow::Result<Report> {
    let series = series(plan);
    let mut progress = Progress::new(series.iter().map(Vec::len).sum());
    let (mut points, mut left_out) = (Vec::<Point>::new(), Vec::new());
    for sizes in series {
        let mut last: Option<usize> = None;
        for size in sizes {
            progress.step(&size.to_string())?;
            let reach = last.map_or(0.0, |last| points[last].busy * size.growth(&points[last].size));
            if reach > FULL {
                let percent = reach * 100.0;
                left_out.push(format!(
                    "{size}: not played, a slot would have to work for {percent:.0} % of the time."
                ));
                continue;
            }
            points.push(play(size)?);
            last = Some(points.len() - 1);
        }
    }
    progress.finish()?;
    report(&plan, &points, left_out)
}

/// What is played, each series in the order of its growth.
fn series(plan: Plan) -> Vec<Vec<Size>> {
    let upto = |steps: &[usize], most: usize| -> Vec<usize> {
        steps.iter().copied().filter(|step| *step <= most).collect()
    };
    let mut series = Vec::new();
    for kind in [Kind::Plenty, Kind::Scarce] {
        for clusters in CLUSTERS {
            let steps: &[usize] =
                if clusters == 1 { &[1, 10, 100, 400, 1_000, 5_000] } else { &[100, 1_000, 5_000] };
            let of = |nodes: &usize| Size { nodes: *nodes, apps: plan.apps, clusters, kind };
            series.push(upto(steps, plan.nodes).iter().map(of).collect());
        }
        let of = |apps: &usize| Size { nodes: plan.nodes.min(100), apps: *apps, clusters: 1, kind };
        series.push(upto(&[1, 10, 100], plan.apps / 10).iter().map(of).collect());
    }
    let of = |nodes: &usize| Size { nodes: *nodes, apps: plan.apps, clusters: 1, kind: Kind::Tiny };
    series.push(upto(&[10, 100], plan.nodes).iter().map(of).collect());
    series
}

#[allow(clippy::cast_precision_loss, reason = "for people")]
fn play(size: Size) -> anyhow::Result<Point> {
    let story = size.story();
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
    Ok(Report {
        broken: Vec::new(),
        name: "scale",
        title: "How the cost of a cluster grows, in simulation".into(),
        machine: Machine::this(),
        sections: Kind::ALL
            .into_iter()
            .filter_map(|kind| Section::of(kind.about(), &table(points, kind)))
            .collect(),
        reading: include_str!("reading.md"),
        remarks: points.iter().filter_map(|point| point.broken.clone()).chain(left_out).collect(),
        method: vec![include_str!("method.md").into()],
        numbers: pretty(&points)?,
        picture: picture(plan, points).svg(),
    })
}

fn table(points: &[Point], kind: Kind) -> Table<8> {
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
}

fn picture(plan: &Plan, points: &[Point]) -> LinePlot {
    let line = |kind: Kind, clusters: usize, value: fn(&Point) -> f64| {
        let of = points.iter().filter(|point| {
            let size = &point.size;
            (size.apps, size.clusters, size.kind) == (plan.apps, clusters, kind)
        });
        #[allow(clippy::cast_precision_loss, reason = "for people")]
        of.map(|point| (point.size.nodes as f64, value(point))).collect::<Vec<_>>()
    };
    let frame = |kind: Kind, what: &str, promise: Option<f64>, value: fn(&Point) -> f64| Frame {
        name: format!("{}: {what}", kind.name()),
        growth: Growth::Tenfold("nodes"),
        promise,
        lines: CLUSTERS.map(|clusters| line(kind, clusters, value)).into(),
        marks: Vec::new(),
    };
    let frames = [Kind::Plenty, Kind::Scarce].into_iter().flat_map(|kind| {
        [
            frame(kind, "calls per second", None, |point| point.calls),
            frame(kind, "kB per second", None, |point| point.bytes / 1e3),
            frame(kind, "busiest slot, %", Some(100.0), |point| point.busy * 100.0),
        ]
    });
    let name = |clusters| if clusters == 1 { "one cluster".into() } else { format!("{clusters} clusters") };
    LinePlot {
        title: format!("{} applications on ever more nodes", plan.apps),
        subtitle: format!("{PER_NODE} requests per second at each node; all scales are logarithmic"),
        lines: CLUSTERS.map(name).into(),
        promise: Some("all of the time"),
        mark: None,
        columns: 3,
        frames: frames.collect(),
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
