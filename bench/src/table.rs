//! A table of text: aligned for the terminal, or in Markdown.

use std::fmt::Write;

/// Headings and rows. The first column is words and stands left, the others are numbers and stand right.
#[derive(Clone, Debug)]
pub(crate) struct Table<const COLUMNS: usize> {
    headings: [String; COLUMNS],
    rows: Vec<[String; COLUMNS]>,
}

/// Who is going to read it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Style {
    /// Somebody at a terminal.
    Plain,
    Markdown,
}

impl<const COLUMNS: usize> Table<COLUMNS> {
    pub(crate) fn new(headings: [&str; COLUMNS]) -> Self {
        Self { headings: headings.map(String::from), rows: Vec::new() }
    }

    pub(crate) fn push(&mut self, row: [String; COLUMNS]) {
        self.rows.push(row);
    }

    /// As text; nothing at all if there are no rows.
    pub(crate) fn render(&self, style: Style) -> String {
        match style {
            _ if self.rows.is_empty() => String::new(),
            Style::Plain => self.plain(),
            Style::Markdown => self.markdown(),
        }
    }

    /// For the terminal: two spaces between columns, a line under the headings.
    fn plain(&self) -> String {
        let widths = self.widths();
        let rule = widths.map(|width| "-".repeat(width));
        [&self.headings, &rule].into_iter().chain(&self.rows).fold(String::new(), |mut text, row| {
            let _ = writeln!(text, "{}", pad(row, &widths).join("  "));
            text
        })
    }

    /// For Markdown, aligned in the source too.
    fn markdown(&self) -> String {
        let widths = self.widths();
        let rule: [String; COLUMNS] = std::array::from_fn(|column| match column {
            0 => "-".repeat(widths[0]),
            _ => "-".repeat(widths[column].saturating_sub(1)) + ":",
        });
        [&self.headings, &rule].into_iter().chain(&self.rows).fold(String::new(), |mut text, row| {
            let _ = writeln!(text, "| {} |", pad(row, &widths).join(" | "));
            text
        })
    }

    fn widths(&self) -> [usize; COLUMNS] {
        std::array::from_fn(|column| {
            let rows = std::iter::once(&self.headings).chain(&self.rows);
            rows.map(|row| row[column].chars().count()).max().unwrap_or(0)
        })
    }
}

fn pad<const COLUMNS: usize>(row: &[String; COLUMNS], widths: &[usize; COLUMNS]) -> [String; COLUMNS] {
    std::array::from_fn(|column| match (column, widths[column]) {
        (0, width) => format!("{:<width$}", row[column]),
        (_, width) => format!("{:>width$}", row[column]),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table<2> {
        let mut table = Table::new(["question", "ns"]);
        table.push(["a".into(), "12.5".into()]);
        table.push(["a longer one".into(), "3.0".into()]);
        table
    }

    #[test]
    fn numbers_stand_under_each_other() {
        let lines = ["question        ns", "------------  ----", "a             12.5", "a longer one   3.0"];
        assert_eq!(table().render(Style::Plain), lines.join("\n") + "\n");
    }

    #[test]
    fn markdown_says_how_columns_align() {
        let lines = [
            "| question     |   ns |",
            "| ------------ | ---: |",
            "| a            | 12.5 |",
            "| a longer one |  3.0 |",
        ];
        assert_eq!(table().render(Style::Markdown), lines.join("\n") + "\n");
    }

    #[test]
    fn a_table_without_rows_is_nothing() {
        assert_eq!(Table::new(["question"]).render(Style::Markdown), "");
    }
}
