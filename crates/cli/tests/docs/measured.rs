//! Which number of which page was measured by what.

use super::root;
use std::fs::read_to_string;
use std::ops::Range;

/// A number that a page says, and where it comes from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Said {
    /// The page.
    pub(crate) page: &'static str,
    /// Words of it, with `{}` for the number.
    pub(crate) sentence: &'static str,
    /// The page of results, in `bench/results`.
    pub(crate) results: &'static str,
    /// How the heading above the table begins.
    section: &'static str,
    /// How its rows begin, cells parted by ` | `; nothing for all of them.
    rows: &'static [&'static str],
    column: &'static str,
    of_rows: OfRows,
    /// What it is divided by.
    per: f64,
    /// To what it is rounded, if not to as many digits as the page shows.
    step: Option<f64>,
}

/// What becomes of the numbers of several rows.
#[derive(Clone, Copy, Debug)]
enum OfRows {
    Sum,
    Least,
    Most,
    /// The last to the first.
    Ratio,
    /// No number but a word, the same in all of them.
    Word,
}

const fn said(
    page: &'static str,
    sentence: &'static str,
    (results, section): (&'static str, &'static str),
    rows: &'static [&'static str],
    column: &'static str,
) -> Said {
    Said { page, sentence, results, section, rows, column, of_rows: OfRows::Sum, per: 1.0, step: None }
}

impl Said {
    const fn least(self) -> Self {
        Self { of_rows: OfRows::Least, ..self }
    }

    const fn most(self) -> Self {
        Self { of_rows: OfRows::Most, ..self }
    }

    const fn ratio(self) -> Self {
        Self { of_rows: OfRows::Ratio, ..self }
    }

    const fn word(self) -> Self {
        Self { of_rows: OfRows::Word, ..self }
    }

    const fn per(self, per: f64) -> Self {
        Self { per, ..self }
    }

    const fn to(self, step: f64) -> Self {
        Self { step: Some(step), ..self }
    }

    /// What was measured, written as the page writes it.
    pub(crate) fn measured(&self, shown: &str) -> String {
        let text = read_to_string(root().join("bench/results").join(self.results)).unwrap();
        let cells = cells(&text, self);
        assert!(cells.len() >= self.rows.len().max(1), "{self:?}: {cells:?}");
        let mut numbers = cells.iter().map(|cell| number(cell));
        let number = match self.of_rows {
            OfRows::Sum => numbers.sum::<f64>(),
            OfRows::Least => numbers.fold(f64::INFINITY, f64::min),
            OfRows::Most => numbers.fold(0.0, f64::max),
            OfRows::Ratio => numbers.next_back().unwrap_or(f64::NAN) / numbers.next().unwrap_or(f64::NAN),
            OfRows::Word => {
                assert!(cells.iter().all(|cell| *cell == cells[0]), "{self:?}: {cells:?}");
                return cells[0].clone();
            }
        } / self.per;
        let number = self.step.map_or(number, |step| (number / step).round() * step);
        let places = shown.split_once('.').map_or(0, |(_, places)| places.len());
        in_thousands(&format!("{number:.places$}"))
    }
}

/// The cells of the column, in rows that begin so, of tables under headings that begin so.
fn cells(text: &str, said: &Said) -> Vec<String> {
    let (mut found, mut is_there, mut column) = (Vec::new(), said.section.is_empty(), None);
    for line in text.lines() {
        if let Some(heading) = line.strip_prefix('#') {
            is_there = heading.trim_start_matches(['#', ' ']).starts_with(said.section);
        }
        let Some(row) = line.strip_prefix('|').and_then(|row| row.strip_suffix('|')) else {
            column = None;
            continue;
        };
        let row: Vec<&str> = row.split('|').map(str::trim).collect();
        match column {
            None => column = Some(row.iter().position(|name| *name == said.column)),
            Some(Some(column)) if is_there && !row[0].starts_with("--") => {
                let joined = format!("{} | ", row.join(" | "));
                let begins = |beginning: &&str| joined.starts_with(&format!("{beginning} | "));
                if said.rows.is_empty() || said.rows.iter().any(begins) {
                    found.push(row[column].to_owned());
                }
            }
            Some(_) => {}
        }
    }
    found
}

/// The number that a cell begins with.
fn number(cell: &str) -> f64 {
    let plain = cell.replace(',', "");
    let end = plain.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(plain.len());
    plain[..end].parse().unwrap_or_else(|_| panic!("no number in {cell:?}"))
}

/// `9349` is written as `9,349`.
fn in_thousands(number: &str) -> String {
    let (whole, rest) = number.find('.').map_or((number, ""), |dot| number.split_at(dot));
    let mut written = String::new();
    for (at, digit) in whole.chars().enumerate() {
        if at > 0 && (whole.len() - at) % 3 == 0 {
            written.push(',');
        }
        written.push(digit);
    }
    written + rest
}

/// Where the number of that sentence is. A space is any space, also the end of a line.
pub(crate) fn place(page: &str, sentence: &str) -> Option<Range<usize>> {
    let (before, after) = sentence.split_once("{}")?;
    page.char_indices().find_map(|(at, _)| {
        let start = at + matched(&page[at..], before)?;
        let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | ',' | '_');
        let rest = &page[start..];
        let token = &rest[..rest.find(|c| !is_part(c)).unwrap_or(rest.len())];
        let token = token.trim_end_matches(['.', ',']);
        matched(&rest[token.len()..], after)?;
        (!token.is_empty()).then_some(start..start + token.len())
    })
}

/// How much of the beginning of the text these words are.
fn matched(text: &str, words: &str) -> Option<usize> {
    let mut rest = text;
    for c in words.chars() {
        rest = if c == ' ' {
            Some(rest.trim_start()).filter(|left| left.len() < rest.len())?
        } else {
            rest.strip_prefix(c)?
        };
    }
    Some(text.len() - rest.len())
}

const DRILLS: (&str, &str) = ("drills.md", "What was seen");
const PLENTY: (&str, &str) = ("scale.md", "Plenty");
const SCARCE: (&str, &str) = ("scale.md", "Scarce");
const PLAYBOOK: &str = "docs/operations/failure-playbook.md";

/// All of them.
#[rustfmt::skip]
pub(crate) const SAID: &[Said] = &[
    said("README.md", "on one bucket; {} of it with a million keys", ("limiter.md", "Time"), &["keyed, 1,000,000 keys, allowed"], "over runs"),
    said("README.zh-CN.md", "一百万个键时为其 {} |", ("limiter.md", "Time"), &["keyed, 1,000,000 keys, allowed"], "over runs"),
    said("README.md", "| {} times as many as throttlecrab", ("doors.md", "Calls of gRPC"), &["throttlecrab-server (gRPC)"], "ours beside it"),
    said("README.zh-CN.md", "| throttlecrab 的 {} 倍", ("doors.md", "Calls of gRPC"), &["throttlecrab-server (gRPC)"], "ours beside it"),

    said("docs/operations.md", "One server took {} calls/s", ("ledger.md", "Calls and leases"), &["sync, 1 in a call"], "calls/s"),
    said("docs/operations.md", "leases for {} applications/s", ("ledger.md", "Calls and leases"), &["sync, 128 in a call"], "leases/s"),
    said("docs/operations.md", "some {} bytes for an application", ("ledger.md", "Memory"),
        &["an application", "the text of its policy", "an application in the indices"], "bytes").to(10.0),
    said("docs/operations.md", "bytes for an application, {} for a node", ("ledger.md", "Memory"), &["a node without leases"], "bytes").to(10.0),
    said("docs/operations.md", "about {} for each application that a node holds", ("ledger.md", "Memory"),
        &["a lease of a node with 128", "its part of the last reply, 128 in a call"], "bytes").to(10.0),
    said("docs/operations.md", "about {} bytes for each application it knows", ("node.md", "Memory"), &["memory, 10,000 applications"], "known, bytes each").to(100.0),
    said("docs/operations.md", "knows, {} for each in use", ("node.md", "Memory"), &["memory, 10,000 applications"], "all in use, bytes each").to(100.0),
    // In thousandths of a slot, for one of a hundred nodes.
    said("docs/operations.md", "takes {} ‰ of a slot", PLENTY, &["100 x 1000 | 1"], "busiest slot").per(10.0),
    said("docs/operations.md", "and {} ‰ where everybody is short", SCARCE, &["100 x 1000 | 1"], "busiest slot").per(10.0),
    said("docs/operations.md", "sets {} bytes aside", ("limiter.md", "Memory"), &["memory, 1,000,000 keys"], "ours B/key"),
    said("docs/security.md", "a table of fixed size, {} bytes for each", ("limiter.md", "Memory"), &["memory, 1,000,000 keys"], "ours B/key"),

    said("ARCHITECTURE.md", "that every node sees cost {} calls/s", PLENTY, &["100 x 1000 | 1"], "calls/s").per(100.0),
    said("ARCHITECTURE.md", "calls/s and {} kB/s for each node while", PLENTY, &["100 x 1000 | 1"], "kB/s").per(100.0),
    said("ARCHITECTURE.md", "while there is plenty, and {} calls/s", SCARCE, &["100 x 1000 | 1"], "calls/s").per(100.0),
    said("ARCHITECTURE.md", "calls/s and {} kB/s where everybody is short", SCARCE, &["100 x 1000 | 1"], "kB/s").per(100.0),
    said("ARCHITECTURE.md", "one application costs {} and", PLENTY, &["100 x 1 | 1"], "calls/s").per(100.0),
    said("ARCHITECTURE.md", "and {} calls/s for each node.", SCARCE, &["100 x 1 | 1"], "calls/s").per(100.0),
    said("ARCHITECTURE.md", "as should within {} s", PLENTY, &[], "convergence").most(),
    said("ARCHITECTURE.md", "{} % and more of what one bucket", SCARCE, &["1 x 1000", "10 x 1000", "100 x 1000"], "utilisation").least(),
    said("ARCHITECTURE.md", "bursts of 15 tokens; {} to", SCARCE, &["1000 x 1000"], "utilisation").least(),
    said("ARCHITECTURE.md", "to {} % in the four seconds", SCARCE, &["1000 x 1000"], "utilisation").most(),
    said("ARCHITECTURE.md", "keep each slot busy for {} %", PLENTY, &["5000 x 1000 | 16"], "busiest slot"),
    said("ARCHITECTURE.md", "a hundred nodes make {} times as many", PLENTY, &["100 x 1000 | 1", "100 x 1000 | 16"], "calls/s").ratio(),

    said(PLAYBOOK, "slowest request of all drills took {} ms", DRILLS, &[], "slowest (ms)").most(),
    said(PLAYBOOK, "nodes were well again {} to", DRILLS, &["primary-killed", "primary-killed-and-back", "primary-killed-ahead", "primary-restarted-empty"], "well after (s)").least(),
    said(PLAYBOOK, "to {} s after the last step, depending", DRILLS, &["primary-killed", "primary-killed-and-back", "primary-killed-ahead", "primary-restarted-empty"], "well after (s)").most(),
    said(PLAYBOOK, "and all were well {} s later", DRILLS, &["primary-stopped"], "well after (s)"),
    said(PLAYBOOK, "before it took over, {} % of the most", DRILLS, &["primary-killed-ahead"], "of the most"),
    said(PLAYBOOK, "the level stayed `{}`.", DRILLS, &["replica-killed", "replica-stopped"], "ledger at worst").word(),
    said(PLAYBOOK, "saw of a takeover was `{}`", DRILLS, &["takeover"], "ledger at worst").word(),
    said(PLAYBOOK, "and of a failover by hand `{}`", DRILLS, &["failover"], "ledger at worst").word(),
    said(PLAYBOOK, "The level stays `{}` after a FLUSHALL", DRILLS, &["flushed"], "ledger at worst").word(),
    said(PLAYBOOK, "came back empty is `{}` until", DRILLS, &["primary-restarted-empty"], "ledger at worst").word(),
    said(PLAYBOOK, "and all were well {} s after that", DRILLS, &["primary-restarted-empty"], "well after (s)"),
    said(PLAYBOOK, "were well {} s after it was mended", DRILLS, &["out-of-memory", "no-replicas-to-write", "rights-taken", "password-set"], "well after (s)").most(),
    said(PLAYBOOK, "| 10 ms | `{}` |", DRILLS, &["delayed-10-ms"], "ledger at worst").word(),
    said(PLAYBOOK, "which is the timeout | `{}`", DRILLS, &["delayed-50-ms"], "ledger at worst").word(),
    said(PLAYBOOK, "for moments | {} % of the most", DRILLS, &["delayed-50-ms"], "of the most"),
    said(PLAYBOOK, "| 200 ms | `{}` |", DRILLS, &["delayed-200-ms"], "ledger at worst").word(),
    said(PLAYBOOK, "late answers allow: {} a second", DRILLS, &["delayed-200-ms"], "meanwhile (1/s)"),
    said(PLAYBOOK, "without the ledger: {} a second at two", DRILLS, &["delayed-2000-ms", "half-open", "network-cut"], "meanwhile (1/s)").least(),
    said(PLAYBOOK, "a cable that is pulled | `{}` |", DRILLS, &["delayed-2000-ms", "half-open", "network-cut"], "ledger at worst").word(),
    said(PLAYBOOK, "has forgotten them) | `{}`", DRILLS, &["connections-dead"], "ledger at worst").word(),
    said(PLAYBOOK, "new ones can be made | `{}` |", DRILLS, &["connections-cut"], "ledger at worst").word(),
    said(PLAYBOOK, "well within {} s if nothing had arrived", DRILLS, &["half-open", "network-cut"], "well after (s)").most(),
    said(PLAYBOOK, "and within {} s if answers came late", DRILLS, &["delayed-200-ms", "delayed-2000-ms"], "well after (s)").most(),
];

#[test]
fn a_number_is_found_in_its_sentence_across_lines() {
    let page = "It took\n  9,349 calls/s, or 83,764.";
    assert_eq!(place(page, "took {} calls/s").map(|place| &page[place]), Some("9,349"));
    assert_eq!(place(page, "calls/s, or {}.").map(|place| &page[place]), Some("83,764"));
    assert_eq!(place(page, "took {} requests"), None);
}

#[test]
fn numbers_are_written_with_thousands_apart() {
    let written = ["7", "123", "9349", "1234567", "1234.5"].map(in_thousands);
    assert_eq!(written, ["7", "123", "9,349", "1,234,567", "1,234.5"]);
}
