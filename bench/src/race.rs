//! A race of two: both sides run in turns, many times, and what counts is the ratio within each turn.
//!
//! The machines this runs on are shared. Their speed drifts by the minute, so the time of one side alone says
//! little; but two sides measured a moment apart share the weather, and the median of their ratios is stable.

use crate::finding::Finding;
use crate::progress::Progress;
use anyhow::{Context, anyhow, ensure};
use std::fs;
use std::sync::Barrier;
use std::thread::{self, ScopedJoinHandle};
use std::time::{Duration, Instant};

/// How long to race.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    /// Fresh setups of both sides.
    pub(crate) runs: u32,
    /// Turns in each run.
    pub(crate) turns: u32,
    /// About how long one side runs within a turn.
    pub(crate) lap: Duration,
}

/// How many threads run at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Threads {
    One,
    Two,
}

impl Threads {
    pub(crate) const fn count(self) -> u32 {
        match self {
            Self::One => 1,
            Self::Two => 2,
        }
    }
}

/// What every decision of a question must come out as: a side that decides otherwise measures something else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Allowed,
    Refused,
}

/// One thread's share of a lap.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lap {
    /// Which thread this is, from zero.
    pub(crate) thread: usize,
    /// The number of the first decision: laps go on where the last one stopped, on both sides alike, so that
    /// short laps still walk over all keys.
    pub(crate) first: usize,
    /// How many decisions.
    pub(crate) decisions: u32,
}

impl Lap {
    /// Decides as often as the lap says and returns how often the answer was yes. The one loop of all sides.
    #[inline]
    pub(crate) fn count(self, mut decide: impl FnMut() -> bool) -> u64 {
        (0..self.decisions).map(|_| u64::from(decide())).sum()
    }
}

type Work = Box<dyn Fn(Lap) -> u64 + Send + Sync>;

/// One side of a race: drives a lap and says how many decisions were allowed.
pub(crate) struct Contender(Work);

impl Contender {
    pub(crate) fn new(work: impl Fn(Lap) -> u64 + Send + Sync + 'static) -> Self {
        Self(Box::new(work))
    }

    /// Runs a lap on all threads at once, and says how many decisions were allowed.
    fn lap(&self, threads: Threads, first: usize, decisions: u32) -> anyhow::Result<(Timed, u64)> {
        let start = Barrier::new(threads.count() as usize);
        let timed = |thread: usize| {
            let rested = processor_time();
            start.wait();
            let from = Instant::now();
            let allowed = (self.0)(Lap { thread, first, decisions });
            let to = Instant::now();
            Share { from, to, busy: processor_time().saturating_sub(rested), allowed }
        };
        let laps = thread::scope(|scope| {
            let timed = &timed;
            let handles: Vec<_> =
                (0..threads.count() as usize).map(|thread| scope.spawn(move || timed(thread))).collect();
            handles.into_iter().map(ScopedJoinHandle::join).collect::<Result<Vec<_>, _>>()
        });
        let laps = laps.map_err(|_| anyhow!("a thread panicked"))?;
        let from = laps.iter().map(|lap| lap.from).min().context("no thread ran")?;
        let to = laps.iter().map(|lap| lap.to).max().context("no thread ran")?;
        let (took, busy) = (to.duration_since(from), laps.iter().map(|lap| lap.busy).sum::<Duration>());
        let nanos = took.as_secs_f64() * 1e9 / f64::from(decisions) / f64::from(threads.count());
        let timed = Timed { nanos, cores: busy.as_secs_f64() / took.as_secs_f64() };
        Ok((timed, laps.iter().map(|lap| lap.allowed).sum()))
    }
}

/// What one thread did in a lap.
struct Share {
    from: Instant,
    to: Instant,
    busy: Duration,
    allowed: u64,
}

/// Both sides, set up and ready.
pub(crate) struct Pair {
    pub(crate) ours: Contender,
    pub(crate) theirs: Contender,
}

/// A lap, measured.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Timed {
    /// From the first start to the last finish, per decision of all threads together.
    pub(crate) nanos: f64,
    /// How many cores the threads had on average. Two threads on less than two cores took turns, which is not
    /// what they are there to show.
    pub(crate) cores: f64,
}

/// One lap of each side.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Turn {
    pub(crate) ours: Timed,
    pub(crate) theirs: Timed,
}

/// The turns between one setup and the next.
pub(crate) type Run = Vec<Turn>;

type Setup = Box<dyn Fn() -> anyhow::Result<Pair>>;

/// What is to be found out.
pub(crate) struct Question {
    pub(crate) name: &'static str,
    pub(crate) threads: Threads,
    outcome: Outcome,
    setup: Setup,
}

/// Decisions per thread before the clock counts: they warm up, and tell how many make a lap.
const PROBE: u32 = 50_000;

impl Question {
    pub(crate) fn new(
        name: &'static str,
        threads: Threads,
        outcome: Outcome,
        setup: impl Fn() -> anyhow::Result<Pair> + 'static,
    ) -> Self {
        Self { name, threads, outcome, setup: Box::new(setup) }
    }

    /// Sets both sides up and lets them run so many turns, each side first in half of them.
    pub(crate) fn run(&self, plan: Plan) -> anyhow::Result<Run> {
        let pair = (self.setup)()?;
        let warm = self.turn(&pair, 0, 0, PROBE)?;
        let decisions = self.decisions(plan.lap, warm);
        let first = |turn: u32| PROBE as usize + turn as usize * decisions as usize;
        (0..plan.turns).map(|turn| self.turn(&pair, turn, first(turn), decisions)).collect()
    }

    /// How many decisions per thread make a lap of about that long.
    fn decisions(&self, lap: Duration, warm: Turn) -> u32 {
        let each = f64::midpoint(warm.ours.nanos, warm.theirs.nanos) * f64::from(self.threads.count());
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped first")]
        let decisions = (lap.as_secs_f64() * 1e9 / each).clamp(1_000.0, 1e8) as u32;
        decisions
    }

    fn turn(&self, pair: &Pair, number: u32, first: usize, decisions: u32) -> anyhow::Result<Turn> {
        let ours = || self.lap("our", &pair.ours, first, decisions);
        let theirs = || self.lap("their", &pair.theirs, first, decisions);
        if number.is_multiple_of(2) {
            let ours = ours()?;
            Ok(Turn { ours, theirs: theirs()? })
        } else {
            let theirs = theirs()?;
            Ok(Turn { ours: ours()?, theirs })
        }
    }

    fn lap(&self, whose: &str, side: &Contender, first: usize, decisions: u32) -> anyhow::Result<Timed> {
        let (timed, allowed) = side.lap(self.threads, first, decisions)?;
        let expected = match self.outcome {
            Outcome::Allowed => u64::from(decisions) * u64::from(self.threads.count()),
            Outcome::Refused => 0,
        };
        ensure!(allowed == expected, "{}: {whose} side allowed {allowed}, not {expected}", self.name);
        Ok(timed)
    }
}

/// How long this thread has been on a processor, or nothing if the kernel does not say.
fn processor_time() -> Duration {
    // The kernel brings the count up to date when the thread lets go of its processor.
    thread::yield_now();
    let statistics = fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanos = statistics.split(' ').next().and_then(|nanos| nanos.parse().ok());
    nanos.map_or(Duration::ZERO, Duration::from_nanos)
}

/// Races all questions once, then all again: the runs of one question are spread over the whole time, so that
/// what differs between them shows.
pub(crate) fn race(questions: &[Question], plan: Plan) -> anyhow::Result<Vec<Finding>> {
    let mut progress = Progress::new(questions.len() * plan.runs as usize);
    let mut runs: Vec<Vec<Run>> = questions.iter().map(|_| Vec::new()).collect();
    for run in 1..=plan.runs {
        for (question, runs) in questions.iter().zip(&mut runs) {
            progress.step(&format!("run {run} of {}: {}", plan.runs, question.name))?;
            runs.push(question.run(plan)?);
        }
    }
    progress.finish()?;
    Ok(questions.iter().zip(&runs).map(|(question, runs)| Finding::of(question, runs)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::{Arc, Mutex};

    const PLAN: Plan = Plan { runs: 2, turns: 4, lap: Duration::from_micros(1) };

    fn yes() -> Contender {
        Contender::new(|lap| lap.count(|| true))
    }

    #[test]
    fn a_side_that_decides_otherwise_is_an_error() {
        let no = || Contender::new(|lap| lap.count(|| false));
        let question = Question::new("odd", Threads::One, Outcome::Allowed, move || {
            Ok(Pair { ours: yes(), theirs: no() })
        });
        let error = question.run(PLAN).unwrap_err().to_string();
        assert_eq!(error, "odd: their side allowed 0, not 50000");
    }

    #[test]
    fn both_sides_walk_the_same_laps_and_take_turns_at_going_first() {
        let log: Arc<Mutex<Vec<(&str, usize)>>> = Arc::default();
        let seen = Arc::clone(&log);
        let question = Question::new("walk", Threads::One, Outcome::Allowed, move || {
            let side = |name: &'static str| {
                let log = Arc::clone(&log);
                Contender::new(move |lap: Lap| {
                    log.lock().unwrap().push((name, lap.first));
                    lap.count(|| true)
                })
            };
            Ok(Pair { ours: side("ours"), theirs: side("theirs") })
        });
        question.run(Plan { turns: 2, ..PLAN }).unwrap();
        let seen = seen.lock().unwrap();
        assert_eq!(
            seen.iter().map(|s| s.0).collect::<Vec<_>>(),
            ["ours", "theirs", "ours", "theirs", "theirs", "ours"]
        );
        assert_eq!((seen[2].1, seen[3].1), (PROBE as usize, PROBE as usize));
        assert!(seen[4].1 > seen[2].1 && seen[4].1 == seen[5].1);
    }
}
