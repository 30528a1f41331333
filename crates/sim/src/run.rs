//! One run of a story, and what to do with one that broke a rule.

use crate::check::Violation;
use crate::measure::Summary;
use crate::plan::Plan;
use crate::sabotage::Sabotage;
use crate::scenario::{Planned, Scenario};
use crate::world::{Lua, Terms, World};
use std::fmt;

/// After how many calls the whole balance is checked, at least.
const AUDIT_EVERY: u64 = 64;

/// How many leases there may be for each of the calls between two checks of the whole balance, which looks at all of them.
const LEASES_PER_CALL: usize = 64;

/// How many of the last events are shown of a run that broke a rule.
const TRACED: usize = 40;

/// Which ledger is played.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LedgerKind {
    /// The book in memory.
    #[default]
    Memory,
    /// The shipped scripts, beside the book: both must say the same.
    Lua,
}

/// What came of a run.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// What chance depended on.
    pub seed: u64,
    /// How many things happened.
    pub events: u64,
    /// What was measured.
    pub summary: Summary,
    /// The rule that was broken, if one was: the run ended with it.
    pub failure: Option<Failure>,
}

/// A rule that was broken, and what led to it.
#[derive(Clone, Debug)]
pub struct Failure {
    /// The rule and what was found.
    pub violation: Violation,
    /// The faults without which it would not have happened.
    pub faults: Vec<Planned>,
    /// The last events before it.
    pub trace: Vec<String>,
}

/// Why a story could not be played.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunError(String);

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for RunError {}

impl Scenario {
    /// Plays the story. The same seed gives the same run, to the last bit.
    pub fn run(&self, seed: u64, ledger: LedgerKind) -> Result<Outcome, RunError> {
        let plan = Plan::new(self, seed);
        let mut outcome = self.play(&plan, seed, ledger, 0, None)?;
        if let Some(failure) = &outcome.failure {
            let failure = self.shrink(plan, seed, ledger, failure.violation.clone())?;
            outcome.failure = Some(failure);
        }
        Ok(outcome)
    }

    /// Plays the story with a rule broken on purpose; whether somebody noticed is in the outcome.
    pub fn run_sabotaged(&self, seed: u64, sabotage: Sabotage) -> Result<Outcome, RunError> {
        self.play(&Plan::new(self, seed), seed, LedgerKind::Memory, 0, Some(sabotage))
    }

    fn play(
        &self,
        plan: &Plan,
        seed: u64,
        ledger: LedgerKind,
        traced: usize,
        sabotage: Option<Sabotage>,
    ) -> Result<Outcome, RunError> {
        let lua = match ledger {
            LedgerKind::Memory => None,
            LedgerKind::Lua => Some(Lua::new().map_err(|error| RunError(error.to_string()))?),
        };
        let leases = self.nodes * self.policy.apps().len();
        let audit_every = AUDIT_EVERY.max((leases / LEASES_PER_CALL) as u64);
        let terms = Terms { seed, audit_every, traced, sabotage };
        let world = World::new(self, plan, terms, lua).map_err(|error| RunError(error.to_string()))?;
        let (summary, events, violation, trace) = world.play();
        let faults = plan.faults.clone();
        let trace = trace.into_lines();
        let failure = violation.map(|violation| Failure { violation, faults, trace });
        Ok(Outcome { seed, events, summary, failure })
    }

    /// Takes away the faults that it takes no part of, as long as the same rule is broken; then remembers the last
    /// events of what is left.
    fn shrink(
        &self,
        mut plan: Plan,
        seed: u64,
        ledger: LedgerKind,
        broken: Violation,
    ) -> Result<Failure, RunError> {
        let mut number = plan.faults.len();
        while number > 0 {
            number -= 1;
            let smaller = plan.without(number);
            let outcome = self.play(&smaller, seed, ledger, 0, None)?;
            if outcome.failure.is_some_and(|failure| failure.violation.rule == broken.rule) {
                plan = smaller;
            }
        }
        let replayed = self.play(&plan, seed, ledger, TRACED, None)?;
        let lost = Failure { violation: broken, faults: plan.faults.clone(), trace: Vec::new() };
        Ok(replayed.failure.unwrap_or(lost))
    }
}
