//! What a drill showed, and whether it is what was promised.

use crate::drill::{Drill, Loss};
use crate::level::Level;
use crate::load::{Series, Tally};
use crate::promise::{self, GROWTH_KIB, RATE, RECOVERY};
use serde::Serialize;
use std::collections::BTreeMap;
use std::time::Duration;

/// In less than so many seconds nothing can be said of what passes.
const LONG_ENOUGH: f64 = 1.0;

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
    /// By how much more passed than what was promised, in whatever time that was most.
    pub beyond: f64,
    /// The most that that may be.
    pub most_beyond: f64,
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
    /// What the ledger loses of what it was told.
    pub loss: Loss,
    /// What has to be served without the ledger knowing, and the most that may be: by killed gateways that had not reported it yet, or of
    /// what the ledger lost.
    pub forgotten: (f64, f64),
    /// How many passed in a second while something was broken, if that was long enough to tell.
    pub meanwhile: Option<f64>,
    /// How many had to.
    pub least: f64,
    /// Whether requests had to fail.
    pub must_hurt: bool,
    /// Whether the balance adds up.
    pub balances: bool,
    /// When something was done, and what.
    pub marks: Vec<Mark>,
    /// When something was done for the last time.
    pub last: f64,
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
    pub(crate) last: f64,
    pub(crate) broken_until: f64,
    pub(crate) balances: bool,
    pub(crate) marks: Vec<Mark>,
}

impl Outcome {
    pub(crate) fn of(drill: &Drill, ended: Ended) -> Self {
        let meanwhile = ended.marks.first().and_then(|mark| {
            let (passed, seconds) = ended.tally.series.between(mark.at, ended.broken_until);
            (seconds >= LONG_ENOUGH).then(|| passed / seconds)
        });
        let Tally { passed, refused, excused, wrong, slowest, series } = ended.tally;
        Self {
            drill: drill.name.into(),
            seconds: ended.seconds,
            passed,
            served: ended.served,
            most: promise::most(drill, ended.seconds),
            beyond: series.beyond(f64::from(RATE)),
            most_beyond: promise::most_beyond(drill),
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
            loss: drill.loss,
            forgotten: promise::forgotten(drill),
            meanwhile,
            least: promise::meanwhile(drill),
            must_hurt: drill.must_hurt(),
            balances: ended.balances,
            marks: ended.marks,
            last: ended.last,
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
        // What was let through in time may be answered a moment later, when others were as well.
        let (beyond, most) = (self.beyond, self.most_beyond + promise::late_answers(slowest));
        demand(
            beyond <= most,
            format!("in some time {beyond:.0} passed beyond the rate, at most {most:.0} may"),
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
        let (spent, (least, most)) = (self.spent, self.forgotten);
        demand(
            (least - promise::ROUNDING..=most + promise::ROUNDING).contains(&(served - spent)),
            format!(
                "{served} served, and the ledger says that {spent} were spent: {least:.0} to {most:.0} may be missing"
            ),
        );
        let (since, _) = self.series.between(self.last, self.seconds);
        demand(
            self.loss == Loss::Everything || spent >= since + f64::from(RATE),
            format!(
                "{since} passed after the last step, and the ledger knows of {spent} in all: it began anew"
            ),
        );
        let least = self.least;
        demand(
            self.meanwhile.is_none_or(|meanwhile| meanwhile >= least),
            format!(
                "{:.0} a second passed meanwhile, at least {least:.0} should",
                self.meanwhile.unwrap_or(0.0)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::named;

    /// Ten seconds at what was promised, of which the middle was broken.
    fn ended() -> Ended {
        let mut tally = Tally { passed: 2_000, ..Tally::default() };
        for request in 0..2_000 {
            tally.series.count(Duration::from_millis(request * 5));
        }
        Ended {
            seconds: 10.0,
            tally,
            late: Duration::ZERO,
            served: 2_000,
            worst: Level::FailOpen,
            recovery: Some(1.0),
            memory_kib: (30_000, 31_000),
            spent: 2_000.0,
            last: 3.0,
            broken_until: 6.0,
            balances: true,
            marks: vec![Mark { at: 3.0, what: "a fault".into() }],
        }
    }

    fn broken(drill: &str, change: impl FnOnce(&mut Ended)) -> Vec<String> {
        let mut ended = ended();
        change(&mut ended);
        Outcome::of(&named(drill).unwrap(), ended).broken()
    }

    #[test]
    fn what_is_not_as_promised_is_told() {
        let says = |word: &str, change: fn(&mut Ended)| {
            let broken = broken("primary-stopped-briefly", change);
            assert!(matches!(&broken[..], [one] if one.contains(word)), "{word}: {broken:?}");
        };
        assert_eq!(broken("primary-stopped-briefly", |_| {}), Vec::<String>::new());
        says("at most 2260 may be", |ended| (ended.served, ended.spent) = (2_261, 2_261.0));
        says("in some time 400 passed beyond", |ended| {
            // No more in all, but two seconds of it at once.
            ended.tally.series = Series::default();
            for request in 0..2_000 {
                let at = Duration::from_millis(request * 5);
                let is_held_up = (6..8).contains(&at.as_secs());
                ended.tally.series.count(if is_held_up { Duration::from_secs(8) } else { at });
            }
        });
        says("were spent", |ended| ended.spent = 1_999.0);
        says("a second passed meanwhile", |ended| ended.tally.series = Series::default());
        says("answers that should not be", |ended| {
            ended.tally.wrong.insert("status 500".into(), 1);
        });
        says("a request took", |ended| ended.tally.slowest = Duration::from_millis(301));
        says("not well", |ended| ended.recovery = None);
        says("memory went", |ended| ended.memory_kib.1 += 3 * GROWTH_KIB);
        says("nobody felt it", |ended| ended.worst = Level::Mild);
        says("balance", |ended| ended.balances = false);
    }

    #[test]
    fn what_has_to_be_lost_has_to_be_lost() {
        assert!(broken("flushed", |_| {})[0].contains("200 to inf may be missing"));
        assert_eq!(broken("flushed", |ended| ended.spent = 1_400.0), Vec::<String>::new());
        assert!(broken("primary-killed-ahead", |_| {})[0].contains("1 to 200 may be missing"));
        assert_eq!(broken("primary-killed-ahead", |ended| ended.spent = 1_950.0), Vec::<String>::new());
    }

    #[test]
    fn who_goes_on_from_what_was_saved_knows_more_than_what_came_since() {
        let killed = |ended: &mut Ended| {
            ended.tally.excused = 1;
            ended.worst = Level::NoAnswer;
        };
        assert_eq!(
            broken("disk-full-and-killed", |ended| {
                killed(ended);
                ended.spent = 1_700.0;
            }),
            Vec::<String>::new()
        );
        let anew = broken("disk-full-and-killed", |ended| {
            killed(ended);
            ended.spent = 1_400.0;
        });
        assert!(anew[0].contains("it began anew"), "{anew:?}");
    }

    #[test]
    fn where_the_ledger_is_spared_nearly_everything_passes_meanwhile() {
        let thinned = |ended: &mut Ended| {
            ended.worst = Level::Normal;
            ended.tally.series = Series::default();
            for request in 0..1_300 {
                ended.tally.series.count(Duration::from_micros(request * 7_692));
            }
        };
        assert!(broken("half-bodies", thinned)[0].contains("at least 140 should"));
        assert_eq!(broken("half-bodies", |ended| ended.worst = Level::Normal), Vec::<String>::new());
    }
}
