//! `load APP SHAPE RATE ...`

use super::super::{Load, Place, Scenario, Shape};
use super::words::{ScenarioError, Words};
use super::{MAX_DURATION, app};

impl Load {
    pub(super) fn read(words: &mut Words<'_>, scenario: &Scenario) -> Result<Self, ScenarioError> {
        let apps = app::alike(words, scenario)?;
        let skew = if words.takes("zipf") { words.decimal(0.0, 5.0)? } else { 0.0 };
        let name = words.next("steady, poisson, bursts, diurnal or flash")?;
        let rate = words.rate()?;
        let shape = shape(name, words)?;
        let mut load = Self {
            apps,
            skew,
            shape,
            rate,
            place: Place::Everywhere,
            cost: (1, 1),
            cancelled: 0.0,
            from: tollgate_core::units::Nanos::ZERO,
            until: scenario.duration,
        };
        while let Some(word) = words.peek() {
            words.expect(word)?;
            match word {
                "cost" => load.cost = cost(words)?,
                "at" => load.place = range(words)?,
                "moving" => load.place = moving(words)?,
                "cancelled" => load.cancelled = words.share(1.0)?,
                "from" => load.from = words.time(MAX_DURATION)?,
                "until" => load.until = words.time(MAX_DURATION)?.min(scenario.duration),
                other => return Err(words.wrong(other, "cost, at, moving, cancelled, from or until")),
            }
        }
        Ok(load)
    }
}

fn shape(name: &str, words: &mut Words<'_>) -> Result<Shape, ScenarioError> {
    Ok(match name {
        "steady" => Shape::Steady,
        "poisson" => Shape::Poisson,
        "bursts" => {
            words.expect("on")?;
            let on = words.time(MAX_DURATION)?;
            words.expect("off")?;
            Shape::Bursts { on, off: words.time(MAX_DURATION)? }
        }
        "diurnal" => {
            words.expect("period")?;
            Shape::Diurnal { period: words.time(MAX_DURATION)? }
        }
        "flash" => {
            words.expect("halving")?;
            words.expect("every")?;
            Shape::Flash { half: words.time(MAX_DURATION)? }
        }
        other => return Err(words.wrong(other, "steady, poisson, bursts, diurnal or flash")),
    })
}

/// `cost 5`, or anything from one to the other: `cost 1 to 8`.
fn cost(words: &mut Words<'_>) -> Result<(u64, u64), ScenarioError> {
    let least = words.number(1, 1_000_000)?;
    let most = if words.takes("to") { words.number(least, 1_000_000)? } else { least };
    Ok((least, most))
}

/// `at nodes 1 to 10`
fn range(words: &mut Words<'_>) -> Result<Place, ScenarioError> {
    words.expect("nodes")?;
    let first = words.count(1, super::MAX_NODES)?;
    words.expect("to")?;
    Ok(Place::Range(first - 1, words.count(first as u64, super::MAX_NODES)?))
}

/// `moving every 10s`, over half of the nodes each time, or `moving every 10s over 20%`
fn moving(words: &mut Words<'_>) -> Result<Place, ScenarioError> {
    words.expect("every")?;
    let every = words.time(MAX_DURATION)?;
    let share = if words.takes("over") { words.share(1.0)? } else { 0.5 };
    Ok(Place::Moving { share, every })
}
