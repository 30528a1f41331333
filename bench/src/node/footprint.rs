//! Bytes per application.

use super::hot::Ours;
use crate::memory::Reading;
use crate::report::Section;
use crate::table::Table;

const QUESTIONS: [(&str, u32); 3] = [
    ("memory, 1,000 applications", 1_000),
    ("memory, 10,000 applications", 10_000),
    ("memory, 100,000 applications", 100_000),
];

/// Measures those whose name contains `filter`.
pub(super) fn measure(filter: &str) -> anyhow::Result<Option<Section>> {
    let mut table = Table::new(["question", "known, bytes each", "all in use, bytes each"]);
    for (name, apps) in QUESTIONS.into_iter().filter(|(name, _)| name.contains(filter)) {
        let before = Reading::now();
        let node = Ours::start(apps)?;
        let known = before.bytes_since();
        node.warm_up(apps)?;
        let used = before.bytes_since();
        let each = |bytes: u64| (bytes / u64::from(apps)).to_string();
        table.push([name.into(), each(known), each(used)]);
    }
    Ok(Section::of("Memory", &table))
}
