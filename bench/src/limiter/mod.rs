//! The standalone limiter beside governor: the same clock, the same keys in the same order, the same quota.

mod clock;
pub(crate) mod direct;
mod footprint;
pub(crate) mod keyed;
mod quota;
pub(crate) mod walk;

use crate::answers::Answers;
use crate::machine::locked_version;
use crate::race::{Outcome, Plan, Question, Threads, race};
use crate::report::Report;
use anyhow::ensure;

const METHOD: &str = "
Both sides read the same clock, the processor's time stamp counter scaled to nanoseconds, except in the
questions *as shipped*, where each has its own default, and *free clock*, where time is a number that grows
with each reading. Both run the generic cell rate algorithm at 500 million tokens a second (one an hour
where the question says *refused*), are asked for one token, and are asked nothing but yes or no. Both are
reached through a pointer the optimiser cannot see through, as if the caller had other things to do in
between.

Keyed questions use governor's default store, a `DashMap` of `String`s, and our table at its default size
or, if there are more keys than that, made for as many as there are. All keys are there before the race.
They are then asked for at random, the same for both sides; the caller's copy of each key is laid out in the
order of asking, since a real caller has just read it from a request. Both sides hash it with the standard
library's seeded SipHash.

The time of two threads is from the first start to the last finish, divided by the decisions of both.
Buckets that are not shared lie at least 128 bytes apart on both sides.

Memory is what was asked of the allocator and not given back, from before the limiter was built until after
the last key was inserted: governor's copies of the keys count, the caller's do not. governor's maps double
when they are full: at 1,000,000 keys they just have, at 900,000 they are about to, so these are close to
its worst and its best. Ours is set aside for that many keys when it is built, and never grows.
";

/// Asks all questions whose name contains `filter`.
pub(crate) fn ask(plan: Plan, filter: &str) -> anyhow::Result<Report> {
    let mut questions = questions();
    questions.retain(|question| question.name.contains(filter));
    let footprints = footprint::measure(filter)?;
    ensure!(!questions.is_empty() || !footprints.is_empty(), "no question contains {filter:?}");
    let findings = race(&questions, plan)?;
    let answers = Answers {
        name: "limiter",
        title: format!("The standalone limiter beside governor {}", locked_version("governor")),
        peer: "governor",
        method: METHOD,
        plan,
        findings,
        footprints,
        more: Vec::new(),
        remarks: vec![format!(
            "Of the times on one thread, reading the clock is about {:.1} ns, on both sides alike.",
            clock::nanos_to_read()
        )],
    };
    Ok(answers.report()?)
}

fn questions() -> Vec<Question> {
    use Outcome::{Allowed, Refused};
    use Threads::{One, Two};
    vec![
        direct::shared("one bucket, allowed", One, Allowed),
        direct::without_clock("one bucket, allowed, free clock"),
        direct::as_shipped("one bucket, allowed, as shipped"),
        direct::shared("one bucket, refused", One, Refused),
        keyed::keyed("keyed, 1 key, allowed", 1, One, Allowed),
        keyed::keyed("keyed, 1,000 keys, allowed", 1_000, One, Allowed),
        keyed::keyed("keyed, 1,000,000 keys, allowed", 1_000_000, One, Allowed),
        keyed::keyed("keyed, 1,000,000 keys, refused", 1_000_000, One, Refused),
        direct::shared("two threads, one bucket", Two, Allowed),
        direct::one_each("two threads, a bucket each"),
        keyed::keyed("two threads, keyed, 1 key", 1, Two, Allowed),
        keyed::keyed("two threads, keyed, 1,000 keys", 1_000, Two, Allowed),
        keyed::keyed("two threads, keyed, 1,000,000 keys", 1_000_000, Two, Allowed),
    ]
}
