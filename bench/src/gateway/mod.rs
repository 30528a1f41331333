//! The gateway beside other proxies that limit: the same server behind, one worker each, in turns.

mod contender;
mod crowd;
pub(crate) mod kernel;
mod load;
mod report;

use crate::progress::Progress;
use crate::report::Report;
use contender::{Contender, Kind, Upstream};
use load::Lap;
use report::{Answers, Path};
use std::path::PathBuf;
use std::time::Duration;

/// How many connections send all the time, to see what more of them cost: no more than an application may have.
const COUNTS: [u32; 4] = [1, 32, 256, 900];

/// How long to measure.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    /// In each, every contender runs one lap.
    pub(crate) rounds: u32,
    pub(crate) lap: Duration,
    /// Connections that stand idle, to see what each costs.
    pub(crate) idle: usize,
    /// The program to be measured.
    pub(crate) program: PathBuf,
}

/// Asks all questions.
pub(crate) fn ask(plan: &Plan) -> anyhow::Result<Report> {
    anyhow::ensure!(plan.program.is_file(), "{} is not there: build it first", plan.program.display());
    let weighed: Vec<Kind> = Kind::ALL.into_iter().filter(|kind| kind.takes(Path::Allowed)).collect();
    let mut progress = Progress::new(2 * plan.rounds as usize + weighed.len() + COUNTS.len());
    let upstream = Upstream::start()?;
    let mut answers = Answers::new(plan);
    for path in [Path::Allowed, Path::Refused] {
        let contenders = Kind::ALL.iter().filter(|kind| kind.takes(path));
        let contenders: Vec<Contender> = contenders
            .map(|&kind| Contender::start(kind, path, upstream.port(), &plan.program))
            .collect::<anyhow::Result<_>>()?;
        for contender in &contenders {
            // Connections to the server, leases and branch predictors: none of them count.
            load::run(contender, load::CONNECTIONS, Duration::from_millis(500))?
                .check(path, contender.kind)?;
        }
        for round in 0..plan.rounds {
            progress.step(&format!("{} requests, round {}", path.name(), round + 1))?;
            // Nobody is always first.
            let shift = round as usize % contenders.len();
            let order = contenders[shift..].iter().chain(&contenders[..shift]);
            let mut laps: Vec<(Kind, Lap)> = Vec::new();
            for contender in order {
                let lap = load::run(contender, load::CONNECTIONS, plan.lap)?;
                lap.check(path, contender.kind)?;
                laps.push((contender.kind, lap));
            }
            answers.add(path, &laps);
        }
    }
    let grown: Vec<Contender> = [Kind::Nginx, Kind::Lua, Kind::Tollgate]
        .into_iter()
        .map(|kind| Contender::start(kind, Path::Allowed, upstream.port(), &plan.program))
        .collect::<anyhow::Result<_>>()?;
    for connections in COUNTS {
        progress.step(&format!("{connections} connections"))?;
        for round in 0..plan.rounds {
            for contender in &grown {
                let lap = load::run(contender, connections, plan.lap)?;
                lap.check(Path::Allowed, contender.kind)?;
                // The first opens connections to the server.
                if round > 0 {
                    answers.grow(connections, contender.kind, lap);
                }
            }
        }
    }
    drop(grown);
    for kind in weighed {
        progress.step(&format!("{} idle connections to {}", plan.idle, kind.name()))?;
        let contender = Contender::start(kind, Path::Allowed, upstream.port(), &plan.program)?;
        answers.weigh(kind, crowd::weigh(&contender, plan.idle)?);
    }
    progress.finish()?;
    Ok(answers.report()?)
}
