//! Drills: real gateways under load while something is broken, and whether what was promised held.

mod scale_out;
mod soak;
mod summary;

pub(crate) use scale_out::ask as ask_scale_out;
pub(crate) use soak::ask as ask_soak;

use crate::machine::Machine;
use crate::plot::{Frame, Growth, LinePlot};
use crate::progress::Progress;
use crate::report::{Report, Section, pretty};
use crate::table::Table;
use anyhow::ensure;
use serde::Serialize;
use std::io::{Write, stderr};
use std::path::PathBuf;
use summary::Summary;
use tollgate_drill::{Drill, Form, Outcome, Played, Program, RATE, catalogue, play};

/// What is drilled.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    /// The binary.
    pub(crate) program: PathBuf,
    /// How often each drill is played.
    pub(crate) times: u32,
    pub(crate) form: Form,
    /// Only drills whose name contains this.
    pub(crate) filter: String,
}

/// Everything that was seen of one drill.
#[derive(Clone, Debug, Serialize)]
struct Runs {
    drill: &'static str,
    about: &'static str,
    outcomes: Vec<Outcome>,
    /// What could not be done, or was not as promised.
    broken: Vec<String>,
    skipped: Option<String>,
}

pub(crate) fn ask(plan: &Plan) -> anyhow::Result<Report> {
    let drills = catalogue::all();
    let drills: Vec<&Drill> = drills.iter().filter(|drill| drill.name.contains(&plan.filter)).collect();
    ensure!(!drills.is_empty(), "no drill has {:?} in its name", plan.filter);
    let program = binary(plan)?;
    let mut progress = Progress::new(drills.len() * usize::try_from(plan.times)?);
    let mut all = Vec::new();
    for drill in drills {
        let mut runs = Runs::new(drill);
        for time in 1..=plan.times {
            progress.step(&format!("{}, {time} of {}", drill.name, plan.times))?;
            runs.add(play(drill, &program, plan.form));
        }
        all.push(runs);
    }
    progress.finish()?;
    report(&all, plan)
}

fn binary(plan: &Plan) -> anyhow::Result<Program> {
    ensure!(plan.program.is_file(), "there is no {}: build it first", plan.program.display());
    Ok(Program::new(&plan.program))
}

impl Runs {
    fn new(drill: &Drill) -> Self {
        let (outcomes, broken) = (Vec::new(), Vec::new());
        Self { drill: drill.name, about: drill.about, outcomes, broken, skipped: None }
    }

    fn add(&mut self, played: anyhow::Result<Played>) {
        match played {
            Ok(Played::Done(outcome)) => {
                self.broken.extend(outcome.broken());
                self.outcomes.push(*outcome);
            }
            Ok(Played::Skipped(why)) => self.skipped = Some(why),
            Err(error) => self.broken.push(format!("{error:#}")),
        }
        if let Some(broken) = self.broken.last() {
            let _ = writeln!(stderr(), "{}: {broken}", self.drill);
        }
    }

    fn told(&self) -> impl Iterator<Item = String> + '_ {
        self.broken.iter().map(|what| format!("{}: {what}", self.drill))
    }

    fn frame(&self) -> Option<Frame> {
        let last = self.outcomes.last()?;
        Some(Frame {
            name: self.drill.into(),
            growth: Growth::Seconds,
            promise: Some(f64::from(RATE)),
            lines: vec![last.series.per_second()],
            marks: last.marks.iter().map(|mark| (mark.at, String::new())).collect(),
        })
    }
}

fn report(all: &[Runs], plan: &Plan) -> anyhow::Result<Report> {
    let mut table = Table::new(Summary::HEADINGS);
    for runs in all {
        if let Some(summary) = Summary::of(runs, plan.times) {
            table.push(summary.row());
        }
    }
    let picture = LinePlot {
        title: "What passes while something is broken".into(),
        subtitle: format!(
            "requests per second over time, at a promise of {RATE} and more than twice as many asked for"
        ),
        lines: vec!["passed in the second before".into()],
        promise: Some("what was promised"),
        mark: Some("something is done"),
        columns: 3,
        frames: all.iter().filter_map(Runs::frame).collect(),
    };
    let machine = Machine::this();
    let skipped =
        all.iter().filter_map(|runs| Some(format!("Skipped: {}, {}.", runs.drill, runs.skipped.as_ref()?)));
    let abouts: Vec<String> = all.iter().map(|runs| format!("- `{}`: {}", runs.drill, runs.about)).collect();
    let form = if plan.form == Form::Short { "short" } else { "long" };
    let played = format!("Each drill was played {} times, in its {form} form.", plan.times);
    Ok(Report {
        name: "drills",
        title: "Drills: what passes while something is broken".into(),
        numbers: pretty(&(&machine, all))?,
        machine,
        sections: Section::of("What was seen", &table).into_iter().collect(),
        reading: include_str!("reading.md"),
        remarks: skipped.collect(),
        broken: all.iter().flat_map(Runs::told).collect(),
        method: vec![include_str!("method.md").into(), abouts.join("\n"), played],
        picture: picture.svg(),
    })
}
