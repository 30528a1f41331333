//! Numbers in the documents: they are what the program says, or what a benchmark saved.

use super::measured::{SAID, Said, place};
use super::root;
use std::fs::{read_to_string, write};
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

/// What `tollgate simulate` says that a story allowed beyond what was promised, in seconds of rate.
#[test]
fn the_stories_that_the_faq_speaks_of_are_told_as_they_go() {
    let page = read_to_string(root().join("docs/faq.md")).unwrap();
    for (story, sentence) in [
        ("healthy.sim", "`scenarios/healthy.sim` it is {}"),
        ("wipe.sim", "where Redis loses its memory, {} s of rate"),
    ] {
        let scenario = root().join("scenarios").join(story);
        let output =
            Command::new(env!("CARGO_BIN_EXE_tollgate")).arg("simulate").arg(scenario).output().unwrap();
        let said = String::from_utf8(output.stdout).unwrap();
        let (_, verdict) = said.split_once("over-admission at most ").unwrap();
        let seconds: f64 = before(verdict.split_once(": ").unwrap().1, "s").parse().unwrap();
        let seconds = if seconds == 0.0 { "zero".to_owned() } else { format!("{seconds:.1}") };
        let place =
            place(&page, sentence).unwrap_or_else(|| panic!("the FAQ does not say {sentence:?} any more"));
        assert_eq!(page[place], seconds, "{story}");
    }
}

/// Every number that was measured is what was saved last. After new measurements `SAY_NUMBERS=1 cargo test -p tollgate --test docs
/// measured` writes them into the pages; what is said in words beside them is left to whoever reads the difference.
#[test]
fn what_was_measured_is_what_was_saved() {
    let is_to_be_said = std::env::var_os("SAY_NUMBERS").is_some();
    let mut wrong = Vec::new();
    for said in SAID {
        let file = root().join(said.page);
        let mut page = read_to_string(&file).unwrap();
        let Some(place) = place(&page, said.sentence) else {
            wrong.push(format!("{}: {:?} is not there any more", said.page, said.sentence));
            continue;
        };
        let shown = page[place.clone()].to_owned();
        let measured = said.measured(&shown);
        if shown != measured && is_to_be_said {
            page.replace_range(place, &measured);
            write(&file, page).unwrap();
        } else if shown != measured {
            let Said { page, sentence, results, .. } = said;
            wrong.push(format!("{page}: {sentence:?} says {shown}, {results} has {measured}"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}\nSAY_NUMBERS=1 writes what was saved");
}
