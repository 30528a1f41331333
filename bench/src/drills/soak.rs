//! Half of the load for a long time, and the memory it takes.

use super::{Plan, binary};
use crate::machine::Machine;
use crate::plot::{Frame, Growth, LinePlot};
use crate::report::{Report, Section, pretty};
use crate::table::Table;
use std::io::{Write, stderr};
use std::time::Duration;
use tollgate_drill::{Soak, soak};

/// Progress is told so often, in seconds.
const TELL: f64 = 30.0;

pub(crate) fn ask(plan: &Plan, length: Duration) -> anyhow::Result<Report> {
    let mut told = 0.0;
    let seen = soak(&binary(plan)?, length, |at, memory| {
        if at - told >= TELL {
            told = at;
            writeln!(stderr(), "{at:.0} s of {}, {} MiB", length.as_secs(), memory / 1024)?;
        }
        Ok(())
    })?;
    let broken = seen.broken();
    let machine = Machine::this();
    Ok(Report {
        name: "soak",
        title: "Half of the load for a long time".into(),
        numbers: pretty(&(&machine, &seen))?,
        machine,
        sections: table(&seen).into_iter().collect(),
        reading: "Memory is what three gateways together have taken for themselves and is resident (RssAnon), looked at every five seconds; without huge pages, which the kernel makes of small ones when it comes to it. *Slope*: of the straight line through all looks after the first fifth of the \
                  time, by least squares, with its standard error; what is steeper than 1 MiB an hour for each gateway, and than four errors, is growth and \
                  fails. Besides, memory may grow by 8 MiB for each of them from the first fifth to the end: histories fill up. *Balance*: what `tollgate audit` says of the books \
                  after everything has stopped.",
        remarks: Vec::new(),
        broken,
        method: vec![include_str!("method.md").into(), "Here the load is half of what may pass.".into()],
        picture: picture(&seen),
    })
}

fn table(seen: &Soak) -> Option<Section> {
    let (settled, end) = seen.ends()?;
    let slope = seen.slope()?;
    let mut table = Table::new(["what", "how much"]);
    let rows = [
        ("minutes", format!("{:.1}", seen.seconds / 60.0)),
        ("passed", format!("{}", seen.passed)),
        ("refused", format!("{}", seen.refused)),
        ("memory after a fifth of the time (KiB)", format!("{settled}")),
        ("memory at the end (KiB)", format!("{end}")),
        (
            "slope of memory after that fifth (KiB/h)",
            format!("{:.0} ± {:.0}", slope.kib_per_hour, slope.error),
        ),
        ("tokens spent, by the ledger", format!("{:.0}", seen.spent)),
        ("balance", if seen.balances { "adds up".into() } else { "does not add up".into() }),
    ];
    for (what, much) in rows {
        table.push([what.into(), much]);
    }
    Section::of("What was seen", &table)
}

fn picture(seen: &Soak) -> String {
    #[allow(clippy::cast_precision_loss, reason = "memory in MiB is a small number")]
    let points: Vec<(f64, f64)> =
        seen.memory_kib.iter().map(|(at, memory)| (*at, *memory as f64 / 1024.0)).collect();
    let frame = Frame {
        name: "MiB, three gateways together".into(),
        growth: Growth::Seconds,
        promise: None,
        lines: vec![points],
        marks: Vec::new(),
    };
    let plot = LinePlot {
        title: "Memory at half of the load".into(),
        subtitle: format!("{} requests passed", seen.passed),
        lines: vec!["resident memory".into()],
        promise: None,
        mark: None,
        columns: 1,
        frames: vec![frame],
    };
    plot.svg()
}
