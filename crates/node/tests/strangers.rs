//! Somebody who makes up names: they are refused, and nothing of them stays.
#![allow(clippy::unwrap_used, reason = "tests")]

mod support;

use support::{get, memory, start};

/// Names that nobody has a policy for.
const NAMES: u32 = 1_000_000;

/// What the process may grow by meanwhile, in pages of 4 KiB: the last refusals can be explained, so many and no more.
const MOST_PAGES: u64 = 4_096;

fn resident_pages() -> u64 {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap();
    statm.split(' ').nth(1).unwrap().parse().unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_million_made_up_names_leave_no_trace() {
    let node = start(memory());
    node.admit(&get("a")).await.unwrap().keep();
    let ask = async |number: u32| {
        let name = format!("made-up-{number}");
        let refused = node.admit(&get(&name)).await.unwrap_err();
        assert!(refused.verdict.reason().is_some());
        let _ = node.record(&name, &refused);
    };
    // What the first of them need is there for all.
    for number in 0..10_000 {
        ask(number).await;
    }
    let (apps, before) = (node.apps().len(), resident_pages());
    for number in 10_000..NAMES {
        ask(number).await;
    }
    let grown = resident_pages().saturating_sub(before);
    assert!(grown < MOST_PAGES, "{grown} pages for {NAMES} names");
    assert_eq!(node.apps().len(), apps);
}
