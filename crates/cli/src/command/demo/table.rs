/// On which side of its column a cell stands.
#[derive(Clone, Copy, Debug)]
pub(super) enum Side {
    Left,
    Right,
}

/// Text in aligned columns.
pub(super) struct Table {
    sides: Vec<Side>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table with one column for each side.
    pub(super) fn new(sides: Vec<Side>) -> Self {
        Self { sides, rows: Vec::new() }
    }

    /// Adds a row, which may be one of headings.
    pub(super) fn row<S: Into<String>>(&mut self, cells: impl IntoIterator<Item = S>) {
        self.rows.push(cells.into_iter().map(Into::into).collect());
    }

    /// The rows as lines, indented.
    pub(super) fn to_text(&self) -> String {
        let widths: Vec<usize> = (0..self.sides.len()).map(|column| self.width(column)).collect();
        self.rows.iter().map(|row| self.line(row, &widths)).collect::<Vec<_>>().join("\n")
    }

    fn width(&self, column: usize) -> usize {
        self.rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max().unwrap_or(0)
    }

    fn line(&self, row: &[String], widths: &[usize]) -> String {
        let cells = row.iter().zip(&self.sides).zip(widths).map(|((cell, side), &width)| match side {
            Side::Left => format!("  {cell:<width$}"),
            Side::Right => format!("  {cell:>width$}"),
        });
        cells.collect::<String>().trim_end().to_owned()
    }
}

/// A number as people read it: `1,000,000`.
pub(super) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped_by_three() {
        assert_eq!(
            [0, 999, 1_000, 20_000, 1_000_000].map(grouped),
            ["0", "999", "1,000", "20,000", "1,000,000"]
        );
    }

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let mut table = Table::new(vec![Side::Left, Side::Right]);
        table.row(["name", "n"]);
        table.row(["a", "100"]);
        assert_eq!(table.to_text(), "  name    n\n  a     100");
    }
}
