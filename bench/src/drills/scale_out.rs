//! One promise at three gateways, while a Redis primary is killed: one story, one picture.

use super::{Plan, binary};
use crate::machine::Machine;
use crate::plot::{Frame, Growth, LinePlot};
use crate::report::{Report, Section, pretty};
use crate::table::Table;
use anyhow::bail;
use tollgate_drill::catalogue::SCALE_OUT;
use tollgate_drill::{Outcome, Played, RATE, play};

pub(crate) fn ask(plan: &Plan) -> anyhow::Result<Report> {
    let outcome = match play(&SCALE_OUT, &binary(plan)?, plan.form)? {
        Played::Done(outcome) => *outcome,
        Played::Skipped(why) => bail!("{why}"),
    };
    let broken = outcome.broken();
    let machine = Machine::this();
    Ok(Report {
        name: "scale-out",
        title: "Three gateways, one promise, and a primary that dies".into(),
        numbers: pretty(&(&machine, &outcome))?,
        machine,
        sections: table(&outcome).into_iter().collect(),
        reading: "The line is what passed in the second before, through all three gateways together; the dashes are what the application was promised. What \
                  was saved passes in the first second. Without a primary each gateway lets 50 per second through by itself, which is what it says \
                  in `fail_open_tokens`; what passed meanwhile is charged when the replica has taken over.",
        remarks: Vec::new(),
        broken,
        method: vec![include_str!("method.md").into()],
        picture: picture(&outcome),
    })
}

fn table(outcome: &Outcome) -> Option<Section> {
    let mut table = Table::new(["what", "how much"]);
    let rows = [
        ("asked for, per second", format!("{}", SCALE_OUT.stage.load * 3)),
        ("promised, per second", format!("{RATE}")),
        ("seconds", format!("{:.1}", outcome.seconds)),
        ("reached the server", format!("{}", outcome.served)),
        ("at most, by the rate, the burst and the faults", format!("{:.0}", outcome.most)),
        ("what the ledger says was spent", format!("{:.0}", outcome.spent)),
        ("refused", format!("{}", outcome.refused)),
        ("failed", format!("{}", outcome.wrong.values().sum::<u64>())),
        ("slowest request (ms)", format!("{}", outcome.slowest_ms)),
        ("well after the kill (s)", format!("{:.1}", outcome.recovery.unwrap_or(f64::NAN))),
    ];
    for (what, much) in rows {
        table.push([what.into(), much]);
    }
    Section::of("What was seen", &table)
}

fn picture(outcome: &Outcome) -> String {
    let frame = Frame {
        name: "requests per second that passed, three gateways together".into(),
        growth: Growth::Seconds,
        promise: Some(f64::from(RATE)),
        lines: vec![outcome.series.per_second()],
        marks: outcome.marks.iter().map(|mark| (mark.at, "the primary is killed".into())).collect(),
    };
    let plot = LinePlot {
        title: "Three gateways, one promise, and a primary that dies".into(),
        subtitle: format!("{} requests per second asked for, {RATE} promised", SCALE_OUT.stage.load * 3),
        lines: vec!["passed in the second before".into()],
        promise: Some("what was promised"),
        mark: Some("something is done"),
        columns: 1,
        frames: vec![frame],
    };
    plot.svg()
}
