//! The node: its hot path beside governor, and its dealings with a real Redis under load.

mod footprint;
mod hot;
mod load;

use crate::answers::{Answers, times};
use crate::machine::locked_version;
use crate::race::{Plan, Question, race};
use crate::report::{Report, Section};
use anyhow::ensure;

const METHOD: &str = "
Our side is a whole node on the embedded ledger, with its task that reports and leases at work on a thread of its
own; a decision that finds too little in the purse asks the ledger and waits, within the lap. governor's side is
its direct limiter or its keyed one with its default store, on the processor's time stamp counter; a hit of ours
reads no clock. *resolved* is an application that the caller looked up once. *by name* looks it up each time, at
random among all of them; the names are laid out as for the standalone limiter. Each decision of ours comes with a permit, by
which the caller could undo it, and keeps it; governor's cannot be undone. Both sides are on mimalloc, as the shipped program is.

*Metrics read* is a decision of a node all of whose counters are read ten times a second by another thread, ten times
as often as the control plane reads them; beside it the same node, whose counters nobody reads.

Memory is what was asked of the allocator and not given back, of the node and of the embedded ledger behind it together: when
the node has been told of all applications, and when it holds tokens of each.

Nodes under load are as many as the table says, in one process, on one redis-server of their own over loopback.
Requests cost one token and come in equal steps of a millisecond. *hits* were decided in memory. *calls* are all
calls to Redis.
";

/// Asks all questions whose name contains `filter`.
pub(crate) fn ask(plan: Plan, filter: &str, is_quick: bool) -> anyhow::Result<Report> {
    let asked = |mut questions: Vec<Question>| {
        questions.retain(|question| question.name.contains(filter));
        questions
    };
    let (questions, read) = (asked(hot::questions()), asked(hot::read_questions()));
    let mut more = load::measure(filter, is_quick)?;
    more.extend(footprint::measure(filter)?);
    ensure!(!questions.is_empty() || !read.is_empty() || !more.is_empty(), "no question contains {filter:?}");
    let findings = race(&questions, plan)?;
    if !read.is_empty() {
        more.extend(Section::of(
            "Metrics read, beside not read",
            &times(&race(&read, plan)?, ["read ns", "not read ns"]),
        ));
    }
    let answers = Answers {
        name: "node",
        title: format!("The node beside governor {}, and under load on Redis", locked_version("governor")),
        peer: "governor",
        method: METHOD,
        plan,
        findings,
        footprints: Vec::new(),
        more,
        remarks: Vec::new(),
    };
    Ok(answers.report()?)
}
