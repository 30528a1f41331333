//! What a drill showed, and whether it is what was promised.

use crate::drill::Drill;
use crate::level::Level;
use crate::load::{Series, Tally};
use crate::promise::{self, GROWTH_KIB, RECOVERY};
use serde::Serialize;
use std::collections::BTreeMap;
use std::time::Duration;

/// The numbers of one run.
#[derive(Clone, Debug, Serialize)]
pub struct Outcome {
    /// The name of the drill.
    pub drill: String,
    /// How long there was load, in seconds.
    pub seconds: f64,
    /// Answers that let a request pass.
    pub passed: u64,
    /// Requests that reached the server behind the gateways.
    pub served: u64,
    /// The most that may have.
    pub most: f64,
    /// Answers that refused a request.
    pub refused: u64,
    /// Requests that failed while their gateway or their server was broken on purpose.
    pub excused: u64,
    /// What should not have been, by what it was.
    pub wrong: BTreeMap<String, u64>,
    /// The slowest request of a gateway that was not broken on purpose, in milliseconds.
    pub slowest_ms: u64,
    /// How late the machine was at worst to run what was due, in milliseconds.
    pub late_ms: u64,
    /// The worst that a gateway said of its ledger.
    pub level: Level,
    /// The least that it must have been for the fault to have been felt at all.
    pub felt: Level,
    /// From the last step until every gateway said that it is well and as much passed as was promised, in seconds.
    pub recovery: Option<f64>,
    /// The memory of all gateways before the first step and after the last, in KiB.
    pub memory_kib: (u64, u64),
    /// How many gateways there were.
    pub gateways: usize,
    /// What the ledger says was spent, in tokens.
    pub spent: f64,
    /// The most that may have been served without the ledger knowing: by killed gateways that had not reported it yet, or since what the
    /// ledger lost.
    pub unknown: f64,
    /// Whether requests had to fail.
    pub must_hurt: bool,
    /// Whether the balance adds up.
    pub balances: bool,
    /// When something was done, and what.
    pub marks: Vec<Mark>,
    /// What passed over time.
    pub series: Series,
}

/// A step, when it was taken.
#[derive(Clone, Debug, Serialize)]
pub struct Mark {
    /// Seconds since the load began.
    pub at: f64,
    /// What was done.
    pub what: String,
}

/// What is known when everything has ended.
pub(crate) struct Ended {
    pub(crate) seconds: f64,
    pub(crate) tally: Tally,
    pub(crate) late: Duration,
    pub(crate) served: u64,
    pub(crate) worst: Level,
    pub(crate) recovery: Option<f64>,
    pub(crate) memory_kib: (u64, u64),
    pub(crate) spent: f64,
    pub(crate) balances: bool,
    pub(crate) marks: Vec<Mark>,
}

impl Outcome {
    pub(crate) fn of(drill: &Drill, ended: Ended) -> Self {
        let Tally { passed, refused, excused, wrong, slowest, series } = ended.tally;
        Self {
            drill: drill.name.into(),
            seconds: ended.seconds,
            passed,
            served: ended.served,
            most: promise::most(drill, ended.seconds),
            refused,
            excused,
            wrong,
            slowest_ms: millis(slowest),
            late_ms: millis(ended.late),
            level: ended.worst,
            felt: drill.felt,
            recovery: ended.recovery,
            memory_kib: ended.memory_kib,
            gateways: drill.stage.gateways,
            spent: ended.spent,
            unknown: promise::unknown(drill),
            must_hurt: drill.must_hurt(),
            balances: ended.balances,
            marks: ended.marks,
            series,
        }
    }

    /// Everything that is not as promised, a sentence each.
    pub fn broken(&self) -> Vec<String> {
        let mut broken = Vec::new();
        let mut demand = |holds: bool, sentence: String| {
            if !holds {
                broken.push(sentence);
            }
        };
        demand(self.passed > 0, "nothing passed".into());
        demand(self.wrong.is_empty(), format!("answers that should not be: {:?}", self.wrong));
        demand(self.passed <= self.served, format!("{} passed, {} served", self.passed, self.served));
        let served = promise::tokens(self.served);
        let (slowest, late) = (self.slowest_ms, self.late_ms);
        let most = self.most;
        demand(
            served <= most,
            format!("{served} served, at most {most:.0} may be, on a machine that is {late} ms late"),
        );
        let ceiling = millis(promise::ceiling(Duration::from_millis(late)));
        demand(
            slowest <= ceiling,
            format!(
                "a request took {slowest} ms, at most {ceiling} are promised on a machine that is {late} ms late"
            ),
        );
        let is_well = self.recovery.is_some_and(|recovery| recovery <= RECOVERY.as_secs_f64());
        demand(is_well, format!("not well within {RECOVERY:?} after the last step"));
        let (spent, unknown) = (self.spent, self.unknown);
        demand(
            (-promise::ROUNDING..=unknown + promise::ROUNDING).contains(&(served - spent)),
            format!(
                "{served} served, and the ledger says that {spent} were spent: {unknown:.0} may be missing"
            ),
        );
        demand(
            self.excused > 0 || !self.must_hurt,
            "no request failed, so what was broken was not in use".into(),
        );
        let (before, after) = self.memory_kib;
        let gateways = u64::try_from(self.gateways).unwrap_or(u64::MAX);
        demand(
            after <= before + gateways * GROWTH_KIB,
            format!("memory went from {before} to {after} KiB and stayed there"),
        );
        demand(self.level >= self.felt, format!("nobody felt it: {} at worst", self.level));
        demand(self.balances, "the balance does not add up".into());
        broken
    }
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
