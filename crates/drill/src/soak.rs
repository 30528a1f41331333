//! Half of the load for a long time, in which nothing may grow.

use crate::catalogue::FLEET;
use crate::drill::Stage;
use crate::play::{Program, audit};
use crate::promise::{self, RATE};
use crate::scene::Scene;
use anyhow::Context;
use serde::Serialize;
use std::thread;
use std::time::{Duration, Instant};

/// Between two looks at the memory.
const PAUSE: Duration = Duration::from_secs(5);

/// The share of the time after which memory should have settled.
const SETTLED: f64 = 0.2;

/// What it may grow by after that, in KiB for each gateway: threads and histories that fill up.
const DRIFT_KIB: u64 = 8 * 1024;

/// A slope that is steeper than so many of its own errors is none of chance. Readings of memory follow each other, so that the
/// error of the line, which takes them for independent, is too small by some.
const SIGNIFICANT: f64 = 4.0;

/// What nobody would call growth, in KiB per hour for each gateway, however sure it is: histories fill up for a week.
const FLAT_KIB_PER_HOUR: f64 = 1024.0;

/// What was seen.
#[derive(Clone, Debug, Serialize)]
pub struct Soak {
    /// How long it took, in seconds.
    pub seconds: f64,
    /// Requests that passed.
    pub passed: u64,
    /// Requests that were refused, of which there should be none.
    pub refused: u64,
    /// What should not have been.
    pub wrong: Vec<String>,
    /// Seconds since the start, and the memory of all gateways together in KiB.
    pub memory_kib: Vec<(f64, u64)>,
    /// How many gateways there were.
    pub gateways: usize,
    /// Whether the balance of the tokens adds up at the end.
    pub balances: bool,
    /// What the ledger says was spent, in tokens.
    pub spent: f64,
}

/// A straight line through readings of memory, by least squares.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Slope {
    /// What memory grows by in an hour, in KiB.
    pub kib_per_hour: f64,
    /// The standard error of that.
    pub error: f64,
}

/// Three gateways on a Redis Cluster at half of what the application was promised.
pub fn soak(
    program: &Program,
    length: Duration,
    mut tell: impl FnMut(f64, u64) -> anyhow::Result<()>,
) -> anyhow::Result<Soak> {
    let gateways = u32::try_from(FLEET.gateways).context("too many gateways")?;
    let stage = Stage { load: RATE / 2 / gateways, ..FLEET };
    let mut scene = Scene::start(&stage, promise::LEDGER_TIMEOUT, program)?;
    let load = scene.load(stage.load)?;
    let (start, mut memory_kib) = (Instant::now(), Vec::new());
    while start.elapsed() < length {
        thread::sleep(PAUSE.min(length));
        let (at, memory) = (start.elapsed().as_secs_f64(), scene.memory_kib()?);
        memory_kib.push((at, memory));
        tell(at, memory)?;
    }
    let seconds = start.elapsed().as_secs_f64();
    let tally = load.finish();
    scene.gateways.iter_mut().try_for_each(crate::gateway::Gateway::stop)?;
    let audit = audit(scene.gateways.first().context("no gateway")?)?;
    let (spent, balances) = (promise::spent(&audit)?, audit["balances"] == true);
    let wrong = tally.wrong.iter().map(|(what, count)| format!("{what}: {count}")).collect();
    let (passed, refused) = (tally.passed, tally.refused);
    Ok(Soak { seconds, passed, refused, wrong, memory_kib, gateways: stage.gateways, balances, spent })
}

impl Soak {
    /// The memory when it should have settled, and at the end, in KiB.
    pub fn ends(&self) -> Option<(u64, u64)> {
        let settled = self.memory_kib.iter().find(|(at, _)| *at >= self.seconds * SETTLED)?;
        Some((settled.1, self.memory_kib.last()?.1))
    }

    /// How memory grows after it should have settled; none where there were too few looks for a line to have an error.
    pub fn slope(&self) -> Option<Slope> {
        let settled = |(at, _): &&(f64, u64)| *at >= self.seconds * SETTLED;
        let points: Vec<(f64, f64)> = self
            .memory_kib
            .iter()
            .filter(settled)
            .map(|(at, memory)| (at / 3_600.0, u32::try_from(*memory).map_or(f64::INFINITY, f64::from)))
            .collect();
        Slope::through(&points)
    }

    /// Everything that is not as promised, a sentence each.
    pub fn broken(&self) -> Vec<String> {
        let mut broken = self.wrong.clone();
        if self.passed == 0 {
            broken.push("nothing passed".into());
        }
        if self.refused > 0 {
            broken.push(format!("{} refused, at half of what was promised", self.refused));
        }
        let most = u64::try_from(self.gateways).unwrap_or(u64::MAX) * DRIFT_KIB;
        match self.ends() {
            Some((settled, end)) if end <= settled + most => {}
            ends => broken.push(format!("memory is not flat: {ends:?} KiB")),
        }
        let flat = FLAT_KIB_PER_HOUR * u32::try_from(self.gateways).map_or(f64::INFINITY, f64::from);
        match self.slope() {
            Some(slope) if slope.kib_per_hour > flat.max(SIGNIFICANT * slope.error) => {
                broken.push(format!("memory grows: {slope:?}"));
            }
            Some(_) => {}
            None => broken.push("too short to tell whether memory grows".into()),
        }
        if !self.balances {
            broken.push("the balance does not add up".into());
        }
        if (self.spent - promise::tokens(self.passed)).abs() > promise::ROUNDING {
            broken
                .push(format!("{} passed, and the ledger says that {} were spent", self.passed, self.spent));
        }
        broken
    }
}

impl Slope {
    /// The line through points of hours and KiB.
    fn through(points: &[(f64, f64)]) -> Option<Self> {
        let count = u32::try_from(points.len()).ok().filter(|count| *count > 2).map(f64::from)?;
        let mean = |pick: fn(&(f64, f64)) -> f64| points.iter().map(pick).sum::<f64>() / count;
        let (middle, level) = (mean(|point| point.0), mean(|point| point.1));
        let width: f64 = points.iter().map(|(at, _)| (at - middle).powi(2)).sum();
        let rise: f64 = points.iter().map(|(at, memory)| (at - middle) * (memory - level)).sum();
        let kib_per_hour = rise / width;
        let rest = |(at, memory): &(f64, f64)| (memory - level - kib_per_hour * (at - middle)).powi(2);
        let error = (points.iter().map(rest).sum::<f64>() / (count - 2.0) / width).sqrt();
        (width > 0.0).then_some(Self { kib_per_hour, error })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(memory: impl Fn(u32) -> u64) -> Soak {
        let memory_kib: Vec<(f64, u64)> =
            (1..=360).map(|look| (f64::from(look) * 5.0, memory(look))).collect();
        Soak {
            seconds: 1_800.0,
            passed: 1,
            refused: 0,
            wrong: Vec::new(),
            memory_kib,
            gateways: 3,
            balances: true,
            spent: 1.0,
        }
    }

    #[test]
    fn a_line_is_found_with_its_error() {
        let line = Slope::through(&[(0.0, 1.0), (1.0, 3.0), (2.0, 5.0)]).unwrap();
        assert!((line.kib_per_hour - 2.0).abs() < 1e-9 && line.error < 1e-9, "{line:?}");
        // By hand: the rests are 1/6, -1/3, 1/6, their squares 1/6, over one degree of freedom and a width of 2.
        let bent = Slope::through(&[(0.0, 1.0), (1.0, 1.5), (2.0, 3.0)]).unwrap();
        assert!((bent.kib_per_hour - 1.0).abs() < 1e-9, "{bent:?}");
        assert!((bent.error - (1.0_f64 / 12.0).sqrt()).abs() < 1e-9, "{bent:?}");
        assert_eq!(Slope::through(&[(0.0, 1.0), (1.0, 3.0)]), None, "two points have no error");
        assert_eq!(Slope::through(&[(1.0, 1.0), (1.0, 2.0), (1.0, 3.0)]), None, "nor has a moment");
    }

    #[test]
    fn memory_that_goes_up_and_down_is_flat_and_memory_that_creeps_is_not() {
        let wave = |look: u32| 130_000 + u64::from(look % 7) * 300;
        assert_eq!(seen(wave).broken(), Vec::<String>::new());
        let creeps = seen(|look| wave(look) + u64::from(look) * 20);
        assert!(creeps.broken().iter().any(|what| what.starts_with("memory grows")), "{:?}", creeps.broken());
        assert!(
            creeps.ends().is_some_and(|(settled, end)| end < settled + 3 * DRIFT_KIB),
            "less than a step"
        );
    }

    #[test]
    fn a_balance_that_does_not_add_up_is_told() {
        let bad = Soak { balances: false, ..seen(|_| 130_000) };
        assert_eq!(bad.broken(), ["the balance does not add up"]);
        let free = Soak { passed: 2, ..seen(|_| 130_000) };
        assert_eq!(free.broken(), ["2 passed, and the ledger says that 1 were spent"]);
    }
}
