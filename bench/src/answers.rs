//! The answers of a race of two, as tables, numbers and a picture.

use crate::finding::Finding;
use crate::machine::Machine;
use crate::plot::{Bar, Panel, Plot, Sense};
use crate::race::Plan;
use crate::report::{Report, Section, pretty};
use crate::table::Table;
use serde::Serialize;
use std::io;

/// Who is compared, and what was found.
#[derive(Debug)]
pub(crate) struct Answers {
    /// What its files are called.
    pub(crate) name: &'static str,
    pub(crate) title: String,
    pub(crate) peer: &'static str,
    /// How it was measured, beyond what all races share: paragraphs of Markdown.
    pub(crate) method: &'static str,
    pub(crate) plan: Plan,
    pub(crate) findings: Vec<Finding>,
    pub(crate) footprints: Vec<Footprint>,
    /// What else was measured, as tables.
    pub(crate) more: Vec<Section>,
    /// What else was measured, a sentence each.
    pub(crate) remarks: Vec<String>,
}

/// What a side keeps in memory.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Footprint {
    pub(crate) what: String,
    pub(crate) keys: u32,
    pub(crate) ours: u64,
    pub(crate) theirs: u64,
    /// What our side says of itself.
    pub(crate) ours_by_its_own_account: u64,
}

/// The part of a core for each thread below which the machine was too busy to say much.
const ENOUGH: f64 = 0.9;

const READING: &str = "\
Times are nanoseconds of wall clock per decision, of all threads together; [..] are the quartiles over all \
turns. *ratio* is ours to theirs within a turn, so below 1 is faster. *over runs* is the median of the runs' \
medians and, in brackets, the lowest and the highest of them: if 1 lies within the brackets, neither side is \
faster.";

#[derive(Serialize)]
struct Json<'a> {
    machine: &'a Machine,
    plan: JsonPlan,
    unit: &'static str,
    questions: &'a [Finding],
    memory_bytes: &'a [Footprint],
    remarks: Vec<String>,
}

#[derive(Serialize)]
struct JsonPlan {
    runs: u32,
    turns: u32,
    lap_ms: u128,
}

/// What each side took, and the ratio.
pub(crate) fn times(findings: &[Finding], [ours, theirs]: [&str; 2]) -> Table<5> {
    let mut table = Table::new(["question", ours, theirs, "ratio", "over runs"]);
    for finding in findings {
        table.push([
            finding.question.into(),
            format!("{:.1}", finding.ours),
            format!("{:.1}", finding.theirs),
            format!("{:.2}", finding.ratio),
            format!("{:.2}", finding.between_runs),
        ]);
    }
    table
}

impl Answers {
    pub(crate) fn report(&self) -> io::Result<Report> {
        let machine = Machine::this();
        Ok(Report {
            broken: Vec::new(),
            name: self.name,
            title: self.title.clone(),
            sections: self.sections(),
            reading: READING,
            remarks: self.remarks(),
            method: vec![self.course(), self.method.into()],
            numbers: self.numbers(&machine)?,
            picture: self.picture(&machine),
            machine,
        })
    }

    /// The tables that have rows, with their headings.
    fn sections(&self) -> Vec<Section> {
        let sections = [
            Section::of("Time", &times(&self.findings, ["ours ns", &format!("{} ns", self.peer)])),
            Section::of("Throughput of two threads", &self.throughput()),
            Section::of("Memory", &self.memory()),
        ];
        sections.into_iter().flatten().chain(self.more.iter().cloned()).collect()
    }

    /// The course of the race.
    fn course(&self) -> String {
        let Plan { runs, turns, lap } = self.plan;
        format!(
            "{runs} runs, each with both sides set up afresh; in each, {turns} turns, in which each side ran one \
             lap of about {} ms, taking turns at going first. Runs of one question are spread over the whole \
             time. Every lap was checked to have decided as the question says.",
            lap.as_millis()
        )
    }

    fn remarks(&self) -> Vec<String> {
        let cramped = |finding: &&Finding| finding.cores < f64::from(finding.threads) * ENOUGH;
        let names: Vec<&str> = self.findings.iter().filter(cramped).map(|finding| finding.question).collect();
        let warning = format!(
            "**The machine was busy**: these questions did not have a core for each thread, so two threads \
             took turns instead of meeting, and times are too long: {}.",
            names.join("; ")
        );
        self.remarks.iter().cloned().chain((!names.is_empty()).then_some(warning)).collect()
    }

    fn numbers(&self, machine: &Machine) -> io::Result<String> {
        let Plan { runs, turns, lap } = self.plan;
        pretty(&Json {
            machine,
            plan: JsonPlan { runs, turns, lap_ms: lap.as_millis() },
            unit: "nanoseconds per decision",
            questions: &self.findings,
            memory_bytes: &self.footprints,
            remarks: self.remarks(),
        })
    }

    fn picture(&self, machine: &Machine) -> String {
        let bar = |finding: &Finding| Bar {
            name: finding.question.into(),
            ratio: finding.between_runs,
            goal: None,
        };
        let plot = Plot {
            title: self.title.clone(),
            subtitle: format!(
                "bars: median of {} runs; whiskers: lowest and highest run; {}",
                self.plan.runs,
                machine.date()
            ),
            spread: "in every run".into(),
            panels: vec![Panel {
                one: self.peer.into(),
                axis: format!("time per decision relative to {}", self.peer),
                sense: Sense::ShorterIsFaster,
                bars: self.findings.iter().map(bar).collect(),
            }],
        };
        plot.svg()
    }

    /// The same times as a rate, which is how one thinks of threads that get in each other's way.
    fn throughput(&self) -> Table<4> {
        let theirs = format!("{}, million/s", self.peer);
        let mut table = Table::new(["question", "ours, million/s", &theirs, "cores they had"]);
        for finding in self.findings.iter().filter(|finding| finding.threads > 1) {
            let rate = |nanos: f64| format!("{:.1}", 1e3 / nanos);
            let (ours, theirs) = (rate(finding.ours.median), rate(finding.theirs.median));
            table.push([finding.question.into(), ours, theirs, format!("{:.1}", finding.cores)]);
        }
        table
    }

    fn memory(&self) -> Table<5> {
        let theirs = format!("{} B/key", self.peer);
        let mut table = Table::new(["memory", "ours B/key", "by its own account", &theirs, "ratio"]);
        for footprint in &self.footprints {
            let Footprint { what, ours, theirs, ours_by_its_own_account, .. } = footprint;
            let each = |bytes: u64| format!("{:.1}", float(bytes) / f64::from(footprint.keys));
            table.push([
                what.clone(),
                each(*ours),
                each(*ours_by_its_own_account),
                each(*theirs),
                format!("{:.2}", float(*ours) / float(*theirs)),
            ]);
        }
        table
    }
}

#[expect(clippy::cast_precision_loss, reason = "shown to one place")]
const fn float(bytes: u64) -> f64 {
    bytes as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::Medians;
    use crate::spread::{Quartiles, Range};
    use std::time::Duration;

    fn finding(question: &'static str, threads: u32, cores: f64) -> Finding {
        Finding {
            question,
            threads,
            cores,
            ours: Quartiles::of([20.0]),
            theirs: Quartiles::of([40.0]),
            ratio: Quartiles::of([0.5]),
            between_runs: Range::of([0.4, 0.5, 0.6]),
            runs: vec![Medians { ours: 20.0, theirs: 40.0, ratio: 0.5 }],
        }
    }

    fn answers(findings: Vec<Finding>) -> Answers {
        Answers {
            name: "limiter",
            title: "Ours beside theirs".into(),
            peer: "peer",
            method: "By hand.",
            plan: Plan { runs: 3, turns: 1, lap: Duration::from_millis(15) },
            findings,
            footprints: vec![Footprint {
                what: "memory".into(),
                keys: 10,
                ours: 480,
                theirs: 960,
                ours_by_its_own_account: 470,
            }],
            more: Vec::new(),
            remarks: Vec::new(),
        }
    }

    #[test]
    fn the_table_has_times_ratios_and_bytes() {
        let markdown = answers(vec![finding("one", 1, 1.0)]).report().unwrap().markdown();
        let one = "| one      | 20.0 [20.0 20.0] | 40.0 [40.0 40.0] | 0.50 [0.50 0.50] | 0.50 (0.40..0.60) |";
        assert!(markdown.contains(one), "{markdown}");
        assert!(markdown.contains("48.0 |               47.0 |       96.0 |  0.50 |"), "{markdown}");
        assert!(!markdown.contains("Throughput"), "{markdown}");
    }

    #[test]
    fn threads_that_took_turns_are_told_of() {
        let told = |cores| answers(vec![finding("two", 2, cores)]).report().unwrap().text();
        assert!(told(1.1).contains("machine was busy") && !told(1.98).contains("machine was busy"));
        assert!(told(1.98).contains("50.0"), "{}", told(1.98));
    }

    #[test]
    fn the_numbers_keep_every_run() {
        let json = answers(vec![finding("one", 1, 1.0)]).report().unwrap().numbers;
        let json: serde_json::Value = serde_json::from_str(&json).unwrap();
        assert_eq!(json["questions"][0]["runs"][0]["ratio"], 0.5);
        assert_eq!(json["memory_bytes"][0]["theirs"], 960);
    }
}
