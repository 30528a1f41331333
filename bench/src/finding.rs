//! What was found out.

use crate::race::{Question, Run, Turn};
use crate::spread::{Quartiles, Range};
use serde::Serialize;

/// The answer to one question. Times are nanoseconds per decision, ratios are ours to theirs: below one is
/// faster.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Finding {
    pub(crate) question: &'static str,
    pub(crate) threads: u32,
    /// How many cores the threads had, at the median: less than there are threads, and they took turns.
    pub(crate) cores: f64,
    /// Over all turns of all runs.
    pub(crate) ours: Quartiles,
    /// Over all turns of all runs.
    pub(crate) theirs: Quartiles,
    /// Over all turns of all runs.
    pub(crate) ratio: Quartiles,
    /// Over the medians of the runs: what a fresh setup changes.
    pub(crate) between_runs: Range,
    pub(crate) runs: Vec<Medians>,
}

/// The medians of one run.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct Medians {
    pub(crate) ours: f64,
    pub(crate) theirs: f64,
    pub(crate) ratio: f64,
}

impl Finding {
    pub(crate) fn of(question: &Question, runs: &[Run]) -> Self {
        let over = |value: fn(&Turn) -> f64| Quartiles::of(runs.iter().flatten().map(value));
        let medians: Vec<Medians> = runs.iter().map(|run| Medians::of(run)).collect();
        Self {
            question: question.name,
            threads: question.threads.count(),
            cores: over(|turn| turn.ours.cores.min(turn.theirs.cores)).median,
            ours: over(|turn| turn.ours.nanos),
            theirs: over(|turn| turn.theirs.nanos),
            ratio: over(Turn::ratio),
            between_runs: Range::of(medians.iter().map(|run| run.ratio)),
            runs: medians,
        }
    }
}

impl Medians {
    fn of(run: &[Turn]) -> Self {
        let median = |value: fn(&Turn) -> f64| Quartiles::of(run.iter().map(value)).median;
        Self {
            ours: median(|turn| turn.ours.nanos),
            theirs: median(|turn| turn.theirs.nanos),
            ratio: median(Turn::ratio),
        }
    }
}

impl Turn {
    fn ratio(&self) -> f64 {
        self.ours.nanos / self.theirs.nanos
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::race::{Contender, Outcome, Pair, Threads, Timed};

    #[test]
    fn a_slow_run_moves_the_extremes_and_not_the_median() {
        let side = || Contender::new(|_| 0);
        let setup = move || Ok(Pair { ours: side(), theirs: side() });
        let question = Question::new("q", Threads::Two, Outcome::Refused, setup);
        let timed = |nanos| Timed { nanos, cores: 2.0 };
        let run = |ours: [f64; 3]| ours.map(|ours| Turn { ours: timed(ours), theirs: timed(10.0) }).to_vec();
        let runs = [run([5.0, 6.0, 99.0]), run([4.0, 5.0, 6.0]), run([20.0, 30.0, 40.0])];
        let finding = Finding::of(&question, &runs);
        assert_eq!(finding.between_runs, Range { min: 0.5, median: 0.6, max: 3.0 });
        assert_eq!((finding.threads, finding.theirs.median, finding.ours.median), (2, 10.0, 6.0));
        assert_eq!(finding.runs.len(), 3);
    }
}
