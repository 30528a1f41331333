//! Half of the load for a long time, in which nothing may grow.

use crate::catalogue::FLEET;
use crate::drill::Stage;
use crate::play::Program;
use crate::promise::RATE;
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
}

/// Three gateways on a Redis Cluster at half of what the application was promised.
pub fn soak(
    program: &Program,
    length: Duration,
    mut tell: impl FnMut(f64, u64) -> anyhow::Result<()>,
) -> anyhow::Result<Soak> {
    let gateways = u32::try_from(FLEET.gateways).context("too many gateways")?;
    let stage = Stage { load: RATE / 2 / gateways, ..FLEET };
    let mut scene = Scene::start(&stage, program)?;
    let load = scene.load(stage.load)?;
    let (start, mut memory_kib) = (Instant::now(), Vec::new());
    while start.elapsed() < length {
        thread::sleep(PAUSE.min(length));
        let (at, memory) = (start.elapsed().as_secs_f64(), scene.memory_kib());
        memory_kib.push((at, memory));
        tell(at, memory)?;
    }
    let seconds = start.elapsed().as_secs_f64();
    let tally = load.finish();
    scene.gateways.iter_mut().try_for_each(crate::gateway::Gateway::stop)?;
    let wrong = tally.wrong.iter().map(|(what, count)| format!("{what}: {count}")).collect();
    let (passed, refused) = (tally.passed, tally.refused);
    Ok(Soak { seconds, passed, refused, wrong, memory_kib, gateways: stage.gateways })
}

impl Soak {
    /// The memory when it should have settled, and at the end, in KiB.
    pub fn ends(&self) -> Option<(u64, u64)> {
        let settled = self.memory_kib.iter().find(|(at, _)| *at >= self.seconds * SETTLED)?;
        Some((settled.1, self.memory_kib.last()?.1))
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
        broken
    }
}
