//! Numbers in the documents: they are what the program says, or what a benchmark saved.

use super::root;
use std::fs::read_to_string;
use std::path::Path;
use std::process::Command;

/// Rows of the table of stories: how to play each, and what the columns say.
fn stories(page: &str) -> Vec<(String, Vec<String>)> {
    let rows = page.lines().filter_map(|line| line.strip_prefix("| [")?.split_once("](../scenarios/"));
    let rows = rows.filter_map(|(_, rest)| rest.split_once(')'));
    rows.map(|(file, rest)| {
        let columns = rest.split('|').skip(1).map(|column| column.trim().replace(',', ""));
        (file.to_owned(), columns.filter(|column| !column.is_empty()).collect())
    })
    .collect()
}

/// The number before that word.
fn before<'a>(said: &'a str, word: &str) -> &'a str {
    let (head, _) = said.split_once(word).unwrap_or_else(|| panic!("no {word:?} in {said}"));
    head.trim_end().rsplit([' ', '(']).next().unwrap()
}

#[test]
fn the_stories_that_sizing_speaks_of_are_told_as_they_go() {
    let page = read_to_string(root().join("docs/operations.md")).unwrap();
    let stories = stories(&page);
    assert_eq!(stories.len(), 3, "{stories:?}");
    for (file, columns) in stories {
        let scenario = root().join("scenarios").join(&file);
        let output =
            Command::new(env!("CARGO_BIN_EXE_tollgate")).arg("simulate").arg(scenario).output().unwrap();
        let said = String::from_utf8(output.stdout).unwrap();
        let [nodes, applications, _, calls, per_thousand, busy] = columns.try_into().unwrap();
        assert_eq!(nodes, before(&said, " nodes,"), "{file}: nodes");
        assert_eq!(applications, before(&said, " applications,"), "{file}: applications");
        assert_eq!(calls, before(&said, " calls/s"), "{file}: calls/s");
        let said_per_thousand: f64 = before(&said, " per 1000 requests)").parse().unwrap();
        let digits = per_thousand.split_once('.').map_or(0, |(_, digits)| digits.len());
        assert_eq!(per_thousand, format!("{said_per_thousand:.digits$}"), "{file}: calls per 1,000");
        let (_, said_busy) = said.split_once("busiest shard ").unwrap();
        assert_eq!(busy.trim_end_matches(" %"), said_busy.split('%').next().unwrap(), "{file}: busy");
    }
}

/// What pages say of speed and memory, and the page of results that says so too.
#[test]
fn what_was_measured_is_what_was_saved() {
    let said = [("docs/operations.md", "ledger.md", &["9,349", "83,764"][..])];
    for (page, results, numbers) in said {
        let plain = |file: &Path| read_to_string(file).unwrap().replace(',', "");
        let (page, results) = (plain(&root().join(page)), plain(&root().join("bench/results").join(results)));
        for number in numbers.iter().map(|number| number.replace(',', "")) {
            assert!(page.contains(&number), "{number} is not said any more");
            assert!(results.contains(&number), "{number} was not measured");
        }
    }
}
