//! What was found, as text, Markdown, JSON and a picture.

use crate::finding::Finding;
use crate::machine::Machine;
use crate::plot::{Bar, Labels, svg};
use crate::race::Plan;
use crate::table::{Style, Table};
use serde::Serialize;
use std::fs;
use std::io;
use std::path::Path;

/// A family of questions, answered.
#[derive(Debug)]
pub(crate) struct Report {
    pub(crate) family: Family,
    pub(crate) machine: Machine,
    pub(crate) plan: Plan,
    pub(crate) findings: Vec<Finding>,
    pub(crate) footprints: Vec<Footprint>,
    /// What else was measured, a sentence each.
    pub(crate) remarks: Vec<String>,
}

/// Who is compared, and how.
#[derive(Clone, Debug)]
pub(crate) struct Family {
    /// The name of the subcommand and of the files.
    pub(crate) name: &'static str,
    pub(crate) title: String,
    pub(crate) peer: &'static str,
    /// How it was measured, beyond what all races share: paragraphs of Markdown.
    pub(crate) method: &'static str,
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

impl Report {
    /// For the terminal.
    pub(crate) fn text(&self) -> String {
        let tables = self.tables(Style::Plain).into_iter().map(|(_, table)| table);
        tables.chain([self.remarks().join("\n") + "\n"]).collect::<Vec<_>>().join("\n")
    }

    /// Writes the table, the numbers and the plot.
    pub(crate) fn save(&self, directory: &Path) -> io::Result<()> {
        fs::create_dir_all(directory)?;
        let path = |ending: &str| directory.join(format!("{}.{ending}", self.family.name));
        fs::write(path("md"), self.markdown())?;
        fs::write(path("json"), self.json()?)?;
        fs::write(path("svg"), self.plot())
    }

    fn markdown(&self) -> String {
        let Self { family, machine, .. } = self;
        let mut sections = vec![
            format!("# {}", family.title),
            format!("{}. Machine: {machine}.", machine.date()),
            format!("![The ratios as a bar chart]({}.svg)", family.name),
        ];
        for (heading, table) in self.tables(Style::Markdown) {
            sections.extend([format!("## {heading}"), table.trim_end().into()]);
        }
        sections.extend(["## How to read it".into(), READING.into()]);
        sections.extend(self.remarks());
        sections.extend(["## How it was measured".into(), self.course(), family.method.trim().into()]);
        let command = format!("cargo run --release -p tollgate-bench -- {}", family.name);
        sections.extend(["## How to repeat it".into(), format!("```sh\n{command}\n```")]);
        sections.join("\n\n") + "\n"
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

    /// The tables that have rows, with their headings.
    fn tables(&self, style: Style) -> Vec<(&'static str, String)> {
        let tables = [
            ("Time", self.times().render(style)),
            ("Throughput of two threads", self.throughput().render(style)),
            ("Memory", self.memory().render(style)),
        ];
        tables.into_iter().filter(|(_, table)| !table.is_empty()).collect()
    }

    fn json(&self) -> io::Result<String> {
        let Plan { runs, turns, lap } = self.plan;
        let json = Json {
            machine: &self.machine,
            plan: JsonPlan { runs, turns, lap_ms: lap.as_millis() },
            unit: "nanoseconds per decision",
            questions: &self.findings,
            memory_bytes: &self.footprints,
            remarks: self.remarks(),
        };
        Ok(serde_json::to_string_pretty(&json)? + "\n")
    }

    fn plot(&self) -> String {
        let subtitle = format!(
            "bars: median of {} runs; whiskers: lowest and highest run; {}",
            self.plan.runs,
            self.machine.date()
        );
        let labels = Labels { title: &self.family.title, subtitle: &subtitle, peer: self.family.peer };
        let bar = |finding: &Finding| Bar { name: finding.question, ratio: finding.between_runs };
        svg(labels, &self.findings.iter().map(bar).collect::<Vec<_>>())
    }

    fn times(&self) -> Table<5> {
        let theirs = format!("{} ns", self.family.peer);
        let mut table = Table::new(["question", "ours ns", &theirs, "ratio", "over runs"]);
        for finding in &self.findings {
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

    /// The same times as a rate, which is how one thinks of threads that get in each other's way.
    fn throughput(&self) -> Table<4> {
        let theirs = format!("{}, million/s", self.family.peer);
        let mut table = Table::new(["question", "ours, million/s", &theirs, "cores they had"]);
        for finding in self.findings.iter().filter(|finding| finding.threads > 1) {
            let rate = |nanos: f64| format!("{:.1}", 1e3 / nanos);
            let (ours, theirs) = (rate(finding.ours.median), rate(finding.theirs.median));
            table.push([finding.question.into(), ours, theirs, format!("{:.1}", finding.cores)]);
        }
        table
    }

    fn memory(&self) -> Table<5> {
        let theirs = format!("{} B/key", self.family.peer);
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

    fn report(findings: Vec<Finding>) -> Report {
        let title = "Ours beside theirs".into();
        Report {
            family: Family { name: "family", title, peer: "peer", method: "By hand." },
            machine: Machine::this(),
            plan: Plan { runs: 3, turns: 1, lap: Duration::from_millis(15) },
            findings,
            footprints: vec![Footprint {
                what: "memory".into(),
                keys: 10,
                ours: 480,
                theirs: 960,
                ours_by_its_own_account: 470,
            }],
            remarks: Vec::new(),
        }
    }

    #[test]
    fn the_table_has_times_ratios_and_bytes() {
        let markdown = report(vec![finding("one", 1, 1.0)]).markdown();
        let one = "| one      | 20.0 [20.0 20.0] | 40.0 [40.0 40.0] | 0.50 [0.50 0.50] | 0.50 (0.40..0.60) |";
        assert!(markdown.contains(one), "{markdown}");
        assert!(markdown.contains("48.0 |               47.0 |       96.0 |  0.50 |"), "{markdown}");
        assert!(!markdown.contains("Throughput"), "{markdown}");
    }

    #[test]
    fn threads_that_took_turns_are_told_of() {
        let told = |cores| report(vec![finding("two", 2, cores)]).text();
        assert!(told(1.1).contains("machine was busy") && !told(1.98).contains("machine was busy"));
        assert!(told(1.98).contains("50.0"), "{}", told(1.98));
    }

    #[test]
    fn the_numbers_keep_every_run() {
        let json = report(vec![finding("one", 1, 1.0)]).json().unwrap();
        let json: serde_json::Value = serde_json::from_str(&json).unwrap();
        assert_eq!(json["questions"][0]["runs"][0]["ratio"], 0.5);
        assert_eq!(json["memory_bytes"][0]["theirs"], 960);
    }
}
