//! One run of a story, and what to do with one that broke a rule.

use crate::check::Violation;
use crate::measure::Summary;
use crate::plan::Plan;
use crate::sabotage::Sabotage;
use crate::scenario::{Planned, Scenario};
use crate::world::{Lua, Played, Terms, World};
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

impl LedgerKind {
    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::Lua => "lua",
        }
    }
}

/// How a story is staged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Staging {
    /// Which ledger is played.
    pub ledger: LedgerKind,
    /// The rule that is broken on purpose, if one is.
    pub sabotage: Option<Sabotage>,
}

impl From<LedgerKind> for Staging {
    fn from(ledger: LedgerKind) -> Self {
        Self { ledger, sabotage: None }
    }
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
    /// How the story was staged.
    pub staging: Staging,
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

/// How closely a run is looked at. That changes nothing of what happens.
#[derive(Clone, Copy, Debug)]
struct Look {
    /// How many of the last events are remembered.
    traced: usize,
    /// From which event on the whole balance is checked after every call.
    closely_from: u64,
}

impl Look {
    const USUAL: Self = Self { traced: 0, closely_from: u64::MAX };
}

impl Scenario {
    /// Plays the story. The same seed gives the same run, to the last bit.
    pub fn run(&self, seed: u64, staging: impl Into<Staging>) -> Result<Outcome, RunError> {
        self.run_telling(seed, staging, &mut |_| {})
    }

    /// The same, and tells now and then how far it has got, from zero to one.
    pub fn run_telling(
        &self,
        seed: u64,
        staging: impl Into<Staging>,
        tell: &mut dyn FnMut(f64),
    ) -> Result<Outcome, RunError> {
        let (plan, staging) = (Plan::new(self, seed), staging.into());
        let played = self.play(&plan, seed, staging, Look::USUAL, tell)?;
        let failure = match &played.violation {
            Some(violation) => Some(self.shrink(plan, seed, staging, violation, played.audited)?),
            None => None,
        };
        Ok(Outcome { seed, events: played.events, summary: played.summary, failure })
    }

    fn play(
        &self,
        plan: &Plan,
        seed: u64,
        staging: Staging,
        look: Look,
        tell: &mut dyn FnMut(f64),
    ) -> Result<Played, RunError> {
        let lua = match staging.ledger {
            LedgerKind::Memory => None,
            LedgerKind::Lua => Some(Lua::new().map_err(|error| RunError(error.to_string()))?),
        };
        let leases = self.nodes * self.policy.apps().len();
        let audit_every = AUDIT_EVERY.max((leases / LEASES_PER_CALL) as u64);
        let Look { traced, closely_from } = look;
        let terms = Terms { seed, audit_every, closely_from, traced, sabotage: staging.sabotage };
        let world = World::new(self, plan, terms, lua).map_err(|error| RunError(error.to_string()))?;
        Ok(world.play(tell))
    }

    /// Takes away the faults that it takes no part of, as long as the same rule is broken; then plays what is left once
    /// more, to remember the last events, and to find the very call after which the balance was wrong: all was well when
    /// it was last checked.
    fn shrink(
        &self,
        mut plan: Plan,
        seed: u64,
        staging: Staging,
        broken: &Violation,
        mut audited: u64,
    ) -> Result<Failure, RunError> {
        let mut number = plan.faults.len();
        while number > 0 {
            number -= 1;
            let smaller = plan.without(number);
            let played = self.play(&smaller, seed, staging, Look::USUAL, &mut |_| {})?;
            if played.violation.is_some_and(|violation| violation.rule == broken.rule) {
                (plan, audited) = (smaller, played.audited);
            }
        }
        let look = Look { traced: TRACED, closely_from: audited };
        let played = self.play(&plan, seed, staging, look, &mut |_| {})?;
        let violation = played.violation.unwrap_or_else(|| broken.clone());
        Ok(Failure { violation, staging, faults: plan.faults, trace: played.trace.into_lines() })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::*;
    use std::hash::{DefaultHasher, Hash, Hasher};

    /// The story in which everything goes wrong, but shorter.
    fn mixed(nodes: u32, seconds: u32) -> Scenario {
        let story = include_str!("../../../scenarios/mixed.sim");
        let short = story.replace("nodes 50", &format!("nodes {nodes}"));
        let short = short.replace("run 60s", &format!("run {seconds}s")).replace("from 20s", "from 2s");
        assert_ne!(story, short);
        Scenario::parse("mixed", &short).unwrap()
    }

    /// Everything that happens, with every message word for word.
    fn digest(scenario: &Scenario, seed: u64, ledger: LedgerKind) -> u64 {
        let look = Look { traced: usize::MAX, ..Look::USUAL };
        let played =
            scenario.play(&Plan::new(scenario, seed), seed, ledger.into(), look, &mut |_| {}).unwrap();
        assert_eq!(played.violation, None);
        let mut hasher = DefaultHasher::new();
        let lines = played.trace.into_lines();
        assert_eq!(lines.len() as u64, played.events);
        lines.hash(&mut hasher);
        format!("{:?}", played.summary).hash(&mut hasher);
        hasher.finish()
    }

    #[test]
    fn the_same_seed_is_the_same_run_to_the_last_bit() {
        let scenario = mixed(20, 8);
        for (seed, ledger) in [(1, LedgerKind::Memory), (2, LedgerKind::Memory), (1, LedgerKind::Lua)] {
            assert_eq!(digest(&scenario, seed, ledger), digest(&scenario, seed, ledger), "{seed} {ledger:?}");
        }
        let [one, other] = [1, 2].map(|seed| digest(&scenario, seed, LedgerKind::Memory));
        assert_ne!(one, other);
    }

    #[test]
    fn the_balance_is_checked_after_every_call_from_where_it_is_asked_for() {
        let scenario = mixed(3, 5);
        let plan = Plan { faults: Vec::new(), nodes: Vec::new() };
        let audited = |closely_from| {
            let look = Look { traced: 0, closely_from };
            scenario.play(&plan, 1, Staging::default(), look, &mut |_| {}).unwrap().audited
        };
        let (usual, last) = (audited(u64::MAX), audited(0));
        assert!(usual < last, "{usual} {last}");
        assert_eq!([audited(last), audited(last + 1)], [last, usual]);
    }
}
