//! What a family of questions found, as text, Markdown, JSON and a picture.

use crate::machine::Machine;
use crate::table::{Style, Table};
use serde::Serialize;
use std::fs;
use std::io;
use std::path::Path;

/// A family of questions, answered.
#[derive(Debug)]
pub(crate) struct Report {
    /// The name of the subcommand and of the files.
    pub(crate) name: &'static str,
    pub(crate) title: String,
    pub(crate) machine: Machine,
    pub(crate) sections: Vec<Section>,
    /// How to read the tables: Markdown.
    pub(crate) reading: &'static str,
    /// What else was found, a sentence each.
    pub(crate) remarks: Vec<String>,
    /// What was not as promised, a sentence each: it is saved all the same, and the run fails.
    pub(crate) broken: Vec<String>,
    /// How it was measured: paragraphs of Markdown.
    pub(crate) method: Vec<String>,
    /// All numbers, as JSON.
    pub(crate) numbers: String,
    /// The plot, as SVG.
    pub(crate) picture: String,
}

/// A table under its heading.
#[derive(Clone, Debug)]
pub(crate) struct Section {
    heading: &'static str,
    plain: String,
    markdown: String,
}

impl Section {
    /// The section, unless its table has no rows.
    pub(crate) fn of<const COLUMNS: usize>(heading: &'static str, table: &Table<COLUMNS>) -> Option<Self> {
        let (plain, markdown) = (table.render(Style::Plain), table.render(Style::Markdown));
        (!plain.is_empty()).then_some(Self { heading, plain, markdown })
    }
}

impl Report {
    fn remarks(&self) -> Vec<String> {
        let broken = self.broken.iter().map(|what| format!("**Not as promised**: {what}."));
        self.remarks.iter().cloned().chain(broken).collect()
    }

    /// For the terminal.
    pub(crate) fn text(&self) -> String {
        let tables = self.sections.iter().map(|section| section.plain.clone());
        tables.chain([self.remarks().join("\n") + "\n"]).collect::<Vec<_>>().join("\n")
    }

    /// Writes the table, the numbers and the plot.
    pub(crate) fn save(&self, directory: &Path) -> io::Result<()> {
        fs::create_dir_all(directory)?;
        let path = |ending: &str| directory.join(format!("{}.{ending}", self.name));
        fs::write(path("md"), self.markdown())?;
        fs::write(path("json"), &self.numbers)?;
        fs::write(path("svg"), &self.picture)
    }

    pub(crate) fn markdown(&self) -> String {
        let Self { name, machine, .. } = self;
        let mut parts = vec![
            format!("# {}", self.title),
            format!("{}. Machine: {machine}.", machine.date()),
            format!("![The same as a picture]({name}.svg)"),
        ];
        for section in &self.sections {
            parts.extend([format!("## {}", section.heading), section.markdown.trim_end().into()]);
        }
        parts.extend(["## How to read it".into(), self.reading.into()]);
        parts.extend(self.remarks());
        parts.push("## How it was measured".into());
        parts.extend(self.method.iter().map(|paragraph| paragraph.trim().into()));
        let command = format!("cargo run --release -p tollgate-bench -- {name}");
        parts.extend(["## How to repeat it".into(), format!("```sh\n{command}\n```")]);
        parts.join("\n\n") + "\n"
    }
}

/// As JSON that people can read too.
pub(crate) fn pretty(numbers: &impl Serialize) -> io::Result<String> {
    Ok(serde_json::to_string_pretty(numbers)? + "\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(rows: usize) -> Report {
        let mut table = Table::new(["question", "ns"]);
        (0..rows).for_each(|_| table.push(["one".into(), "1.5".into()]));
        Report {
            broken: Vec::new(),
            name: "family",
            title: "Ours beside theirs".into(),
            machine: Machine::this(),
            sections: Section::of("Time", &table).into_iter().collect(),
            reading: "Less is better.",
            remarks: vec!["It rained.".into()],
            method: vec!["By hand.\n".into()],
            numbers: pretty(&[1, 2]).unwrap(),
            picture: "<svg/>".into(),
        }
    }

    #[test]
    fn a_section_is_a_heading_and_its_table() {
        let markdown = report(1).markdown();
        assert!(markdown.contains("## Time\n\n| question |  ns |\n"), "{markdown}");
        assert!(markdown.contains("Less is better.\n\nIt rained.\n\n## How it was measured\n\nBy hand."));
        assert!(report(1).text().ends_with("one       1.5\n\nIt rained.\n"), "{}", report(1).text());
    }

    #[test]
    fn a_table_without_rows_makes_no_section() {
        assert!(!report(0).markdown().contains("Time"));
    }

    #[test]
    fn everything_is_saved_under_the_name_of_the_family() {
        let directory = std::env::temp_dir().join(format!("tollgate-bench-{}", std::process::id()));
        report(1).save(&directory).unwrap();
        for ending in ["md", "json", "svg"] {
            assert!(directory.join(format!("family.{ending}")).is_file(), "{ending}");
        }
        fs::remove_dir_all(directory).unwrap();
    }
}
