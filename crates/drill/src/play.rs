//! Carries a drill out.

use crate::drill::{Drill, Form, Ledger, Step};
use crate::gateway::Gateway;
use crate::level::Level;
use crate::load::Load;
use crate::outcome::{Ended, Mark, Outcome};
use crate::promise::{self, GROWTH_KIB, RECOVERY, SETTLING, least};
use crate::pulse::Pulse;
use crate::scene::Scene;
use crate::watch::{Look, Watch};
use anyhow::Context;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

/// How long there is load before the first step: what was saved is spent by then.
const WARM_UP: Duration = Duration::from_millis(2_500);

/// How long there is load after everything is well again.
const COOL_DOWN: Duration = Duration::from_secs(1);

/// The binary that is drilled.
#[derive(Clone, Debug)]
pub struct Program(PathBuf);

/// How a drill went.
#[derive(Debug)]
pub enum Played {
    /// To its end.
    Done(Box<Outcome>),
    /// Not at all: what it needs is not to be had here.
    Skipped(String),
}

impl Program {
    /// The binary at that path.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self(path.into())
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.0
    }

    pub(crate) fn command(&self) -> Command {
        Command::new(&self.0)
    }
}

/// Carries a drill out. An error is something that could not be done; what was done and did not go as promised is in the
/// [`Outcome`].
pub fn play(drill: &Drill, program: &Program, form: Form) -> anyhow::Result<Played> {
    if let Some(why) = missing(drill) {
        return Ok(Played::Skipped(why));
    }
    let mut scene = Scene::start(&drill.stage, promise::patience(drill), program)?;
    let outcome = under_load(drill, &mut scene, form);
    outcome.map(|outcome| Played::Done(Box::new(outcome))).with_context(|| {
        let logs: Vec<String> = scene.gateways.iter().map(Gateway::log).collect();
        format!("{}; the gateways said:\n{}", drill.name, logs.join("\n"))
    })
}

/// What the drill needs and cannot have here. Whoever has the rights and cannot have it all the same is told so by the drill itself.
fn missing(drill: &Drill) -> Option<String> {
    let why = match drill.stage.ledger {
        Ledger::Apart => "only an administrator can make a network",
        Ledger::Inside => "only an administrator can make a disk",
        Ledger::Cluster | Ledger::Line => return None,
    };
    (!is_administrator()).then(|| why.into())
}

/// Whether this process may do what an administrator of the system may (`CAP_SYS_ADMIN`).
fn is_administrator() -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let rights = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
    rights
        .and_then(|rights| u64::from_str_radix(rights.trim(), 16).ok())
        .is_some_and(|all| all >> 21 & 1 == 1)
}

fn under_load(drill: &Drill, scene: &mut Scene, form: Form) -> anyhow::Result<Outcome> {
    let load = scene.load(drill.stage.load)?;
    let (watch, pulse) = (Watch::start(&scene.gateways), Pulse::start());
    thread::sleep(WARM_UP);
    let before = scene.memory_kib()?;
    let (mut marks, mut last) = (Vec::new(), 0.0);
    for step in drill.steps {
        if let Step::Rest(millis) = *step {
            thread::sleep(form.rest(millis));
            continue;
        }
        if !step.is_a_look() {
            last = load.elapsed().as_secs_f64();
        }
        marks.push(Mark { at: load.elapsed().as_secs_f64(), what: format!("{step:?}") });
        scene.act(step).with_context(|| format!("{step:?} failed"))?;
    }
    let broken_until = load.elapsed().as_secs_f64();
    if drill.stage.ledger != Ledger::Inside {
        // Gateways that have not noticed a fault yet say that they are well: they are believed once the books are open again. What
        // is in them is looked at in the end.
        let _ = audit(scene.gateways.first().context("no gateway")?);
    }
    let is_well = wait_until_well(&load, &watch, least(drill));
    thread::sleep(COOL_DOWN);
    let after = settled(scene, before)?;
    let looks = watch.finish();
    let seconds = load.elapsed().as_secs_f64();
    let tally = load.finish();
    let late = pulse.finish();
    let short_until = tally.series.short_until(least(drill), last);
    let recovery = is_well.then(|| recovered(&looks, short_until, last).max(0.0));
    for gateway in &mut scene.gateways {
        gateway.stop()?;
    }
    let audit = audit(scene.gateways.first().context("no gateway")?)?;
    let ended = Ended {
        seconds,
        served: scene.upstream.served(),
        worst: looks.iter().map(|look| look.worst).max().unwrap_or(Level::Normal),
        recovery,
        memory_kib: (before, after),
        spent: promise::spent(&audit)?,
        last,
        broken_until,
        balances: audit["balances"] == true,
        marks,
        tally,
        late,
    };
    Ok(Outcome::of(drill, ended))
}

/// Load goes on until every gateway says that it is well and as much passes as should, or for as long as it may take; whether
/// it came to that.
fn wait_until_well(load: &Load, watch: &Watch, enough: f64) -> bool {
    let (start, from) = (Instant::now(), watch.elapsed());
    loop {
        let passes = load.tally().series.reaches(enough, load.elapsed().as_secs_f64());
        if passes && watch.is_well_since(from) {
            return true;
        }
        if start.elapsed() > RECOVERY {
            return false;
        }
        thread::sleep(Duration::from_millis(50));
    }
}

/// The memory once it is nearly what it was, or after as long as that may take. Near is half of what is forgiven: whoever
/// stopped at the bound itself would see everything end there.
fn settled(scene: &Scene, before: u64) -> anyhow::Result<u64> {
    let near = before + GROWTH_KIB / 2 * u64::try_from(scene.gateways.len()).unwrap_or(0);
    let start = Instant::now();
    loop {
        let memory = scene.memory_kib()?;
        if memory <= near || start.elapsed() > SETTLING {
            return Ok(memory);
        }
        thread::sleep(Duration::from_millis(100));
    }
}

/// How long after the last step all were well, and as much passed as should.
fn recovered(looks: &[Look], short_until: f64, last: f64) -> f64 {
    let ill = looks.iter().rfind(|look| look.worst != Level::Normal);
    ill.map_or(0.0, |look| look.at.as_secs_f64()).max(short_until) - last
}

/// What the program says of the ledger's books, which must be reachable again by now. Books that can be read are not read again until
/// they add up.
pub(crate) fn audit(gateway: &Gateway) -> anyhow::Result<Value> {
    let start = Instant::now();
    loop {
        match gateway.audit() {
            Err(error) if start.elapsed() > RECOVERY => return Err(error),
            Ok(audit) => return Ok(audit),
            Err(_) => thread::sleep(Duration::from_millis(200)),
        }
    }
}
