//! Stories of many nodes and many faults, played in virtual time.

mod many;
mod progress;

use super::Outcome;
use crate::output;
use anyhow::{Context, bail};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use progress::Progress;
use serde_json::json;
use std::fs;
use std::path::PathBuf;
use tollgate_sim::report::{self, Strategy};
use tollgate_sim::{LedgerKind, Sabotage, Scenario, Staging};

/// The largest story that is read, in bytes.
const MAX_BYTES: u64 = 1 << 20;

/// Play a story of many nodes and many faults in virtual time
///
/// The nodes and the ledger are the code that is shipped; network, clocks and faults are simulated. A story and a seed
/// decide everything: the same two give the same run. While it runs, rules are checked: tokens are conserved, nobody
/// gets more than the stated bound, guarantees hold, and more. Stories lie in the folder scenarios.
///
/// Exits with 0 if every rule and every expectation of the story holds, 1 if not, and 2 if the story is wrong.
#[derive(Debug, Args)]
pub(crate) struct Simulate {
    /// The file of a story
    scenario: PathBuf,

    /// What chance depends on; the first of several
    #[arg(long, default_value_t = 1)]
    seed: u64,

    /// How many seeds to play, one after the other
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=10_000_000))]
    seeds: u64,

    /// Which ledger to play: the book in memory, or the shipped scripts beside it
    #[arg(long, value_enum, default_value_t = Ledger::Memory)]
    ledger: Ledger,

    /// Break this rule on purpose, to see that somebody notices
    #[arg(long, value_name = "RULE", value_parser = sabotages())]
    sabotage: Option<Sabotage>,

    /// Answer in JSON
    #[arg(long)]
    json: bool,

    /// Write a page with curves to this file
    #[arg(long, value_name = "FILE", conflicts_with = "seeds")]
    html: Option<PathBuf>,

    /// Play the same story under other strategies too
    #[arg(long, conflicts_with = "seeds")]
    compare: bool,
}

/// The rules that can be broken, by name.
fn sabotages() -> impl TypedValueParser<Value = Sabotage> {
    let names = PossibleValuesParser::new(Sabotage::ALL.map(Sabotage::name));
    names.try_map(|name| Sabotage::named(&name).ok_or("no such rule"))
}

/// Which ledger to play.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Ledger {
    Memory,
    Lua,
}

impl Simulate {
    pub(super) fn run(&self) -> anyhow::Result<Outcome> {
        let scenario = self.read()?;
        if self.seeds > 1 { many::run(self, &scenario) } else { self.run_one(&scenario) }
    }

    fn read(&self) -> anyhow::Result<Scenario> {
        let path = self.scenario.display();
        let size = fs::metadata(&self.scenario).with_context(|| format!("cannot read {path}"))?.len();
        if size > MAX_BYTES {
            bail!("{path}: {size} bytes long, at most {MAX_BYTES} are read");
        }
        let text = fs::read_to_string(&self.scenario).with_context(|| format!("cannot read {path}"))?;
        let name = self.scenario.file_stem().unwrap_or_default().to_string_lossy();
        Scenario::parse(&name, &text).with_context(|| path.to_string())
    }

    fn run_one(&self, scenario: &Scenario) -> anyhow::Result<Outcome> {
        let length = scenario.duration.get().div_ceil(1_000_000_000);
        let mut progress = Progress::new(length, " virtual seconds");
        let outcome = scenario
            .run_telling(self.seed, self.staging(), &mut |share| progress.show(part(share, length), ""))?;
        progress.end();
        let ours = Strategy {
            name: "tollgate",
            about: "leases, as simulated here",
            summary: outcome.summary.clone(),
        };
        let mut strategies = Vec::new();
        if self.compare {
            strategies.push(ours);
            strategies.extend(scenario.compare(self.seed));
        }
        if let Some(file) = &self.html {
            let page = report::html(scenario, &self.path(), &outcome, &strategies);
            fs::write(file, page).with_context(|| format!("cannot write {}", file.display()))?;
        }
        if self.json {
            let mut value = report::outcome_value(scenario, &outcome);
            if self.compare {
                value["strategies"] = report::strategies_value(&strategies);
            }
            output::print_json(&value)?;
        } else {
            let mut text = report::summary_text(scenario, &outcome);
            text.push_str(&report::expectations(scenario, &outcome.summary));
            if self.compare {
                text.push('\n');
                text.push_str(&report::strategies_text(&strategies));
            }
            match &outcome.failure {
                Some(failure) => {
                    text.push_str(&report::failure_text(scenario, &self.path(), self.seed, failure));
                }
                None => text.push_str("every rule held\n"),
            }
            output::print(&text)?;
        }
        let is_well = outcome.failure.is_none() && outcome.summary.unmet(scenario).is_empty();
        Ok(if is_well { Outcome::Yes } else { Outcome::No })
    }

    const fn staging(&self) -> Staging {
        let ledger = match self.ledger {
            Ledger::Memory => LedgerKind::Memory,
            Ledger::Lua => LedgerKind::Lua,
        };
        Staging { ledger, sabotage: self.sabotage }
    }

    fn path(&self) -> String {
        self.scenario.display().to_string()
    }

    fn print_many(&self, many: &many::Many, scenario: &Scenario) -> anyhow::Result<()> {
        if self.json {
            return output::print_json(&json!({
                "scenario": scenario.name,
                "first_seed": self.seed,
                "seeds": many.played,
                "failures": many.failures.iter().map(|(seed, failure)| {
                    json!({ "seed": seed, "failure": report::failure_value(failure) })
                }).collect::<Vec<_>>(),
                "unmet": many.unmet,
                "worst": many.worst_values(),
            }));
        }
        let mut text = many.to_text(scenario);
        for (seed, failure) in &many.failures {
            text.push('\n');
            text.push_str(&report::failure_text(scenario, &self.path(), *seed, failure));
        }
        output::print(&text)
    }
}

#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "from zero to a day, and the cast saturates"
)]
fn part(share: f64, of: u64) -> u64 {
    (share * of as f64) as u64
}
