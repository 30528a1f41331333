//! `at TIME ...`

use super::super::{Direction, Fault, Many, Planned, Scenario};
use super::words::{ScenarioError, Words};
use super::{MAX_DURATION, app, millis};
use tollgate_core::units::{Nanos, Rate, Tokens};

const VERBS: &str = "crash, restart, partition, wipe, fail, stop, slow, lose, duplicate, reorder, set, declare, end, \
                     promise or switch";

impl Planned {
    pub(super) fn read(words: &mut Words<'_>, scenario: &Scenario) -> Result<Self, ScenarioError> {
        let at = words.time(MAX_DURATION)?;
        let fault = match words.next(VERBS)? {
            "crash" => Fault::Crash(many(words)?, lasts(words)?),
            "restart" => Fault::Restart(many(words)?, lasts(words)?),
            "partition" => Fault::Partition(many(words)?, direction(words)?, lasts(words)?),
            "wipe" => the(words, "store").map(|()| Fault::Wipe)?,
            "fail" => failover(words)?,
            "stop" => the(words, "store").and_then(|()| lasts(words)).map(Fault::Outage)?,
            "slow" => {
                the(words, "store")?;
                words.expect("by")?;
                Fault::Slow(words.time(60.0)?, lasts(words)?)
            }
            "lose" => Fault::Loss(messages(words)?, lasts(words)?),
            "duplicate" => Fault::Duplicates(messages(words)?, lasts(words)?),
            "reorder" => Fault::Reorder(messages(words)?, lasts(words)?),
            "set" => clock(words)?,
            "declare" => {
                words.expect("an")?;
                words.expect("emergency")?;
                Fault::Emergency(lasts(words)?)
            }
            "end" => the(words, "emergency").map(|()| Fault::EndEmergency)?,
            "promise" => promise(words, scenario)?,
            "switch" => switch(words, scenario)?,
            other => return Err(words.wrong(other, VERBS)),
        };
        Ok(Self { at, fault })
    }
}

fn the(words: &mut Words<'_>, noun: &str) -> Result<(), ScenarioError> {
    words.expect("the")?;
    words.expect(noun)
}

fn lasts(words: &mut Words<'_>) -> Result<Nanos, ScenarioError> {
    words.expect("for")?;
    words.time(MAX_DURATION)
}

/// `5 nodes`, `half the nodes`, `20% of the nodes`
fn many(words: &mut Words<'_>) -> Result<Many, ScenarioError> {
    let is_share = words.peek().is_some_and(|word| word.ends_with('%') || word == "half" || word == "all");
    if is_share {
        let share = words.share(1.0)?;
        words.takes("of");
        the(words, "nodes")?;
        return Ok(Many::Share(share));
    }
    let count = words.count(1, super::MAX_NODES)?;
    words.expect(if count == 1 { "node" } else { "nodes" })?;
    Ok(Many::Some(count))
}

fn direction(words: &mut Words<'_>) -> Result<Direction, ScenarioError> {
    if !words.takes("one") {
        return Ok(Direction::Both);
    }
    words.expect("way")?;
    match words.next("in or out")? {
        "in" => Ok(Direction::In),
        "out" => Ok(Direction::Out),
        other => Err(words.wrong(other, "in or out")),
    }
}

fn failover(words: &mut Words<'_>) -> Result<Fault, ScenarioError> {
    words.expect("over")?;
    the(words, "store")?;
    words.expect("losing")?;
    let loses = words.time(60.0)?;
    let mut down = Nanos::from_secs(1);
    if words.takes("down") {
        down = lasts(words)?;
    }
    Ok(Fault::Failover { loses, down })
}

fn messages(words: &mut Words<'_>) -> Result<f64, ScenarioError> {
    let share = words.share(1.0)?;
    words.expect("of")?;
    words.expect("messages")?;
    Ok(share)
}

fn clock(words: &mut Words<'_>) -> Result<Fault, ScenarioError> {
    the(words, "clock")?;
    let way = words.next("ahead or back")?;
    let by = i64::try_from(millis(words.time(MAX_DURATION)?).get()).unwrap_or(i64::MAX);
    match way {
        "ahead" => Ok(Fault::Clock(by)),
        "back" => Ok(Fault::Clock(-by)),
        other => Err(words.wrong(other, "ahead or back")),
    }
}

/// `promise video 30000 with a burst of 90000`
fn promise(words: &mut Words<'_>, scenario: &Scenario) -> Result<Fault, ScenarioError> {
    let app = app::named(words, scenario)?;
    let rate = words.number(1, 1_000_000_000)?;
    for word in ["with", "a", "burst", "of"] {
        words.expect(word)?;
    }
    Ok(Fault::Promise(app, Rate::per_second(rate), Tokens::whole(words.number(rate, 4_000_000_000)?)))
}

fn switch(words: &mut Words<'_>, scenario: &Scenario) -> Result<Fault, ScenarioError> {
    let app = app::named(words, scenario)?;
    match words.next("on or off")? {
        "on" => Ok(Fault::Switch(app, true)),
        "off" => Ok(Fault::Switch(app, false)),
        other => Err(words.wrong(other, "on or off")),
    }
}
