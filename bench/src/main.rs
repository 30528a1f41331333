//! Tollgate beside its peers, measured as paired races: see `README.md`.

mod finding;
mod limiter;
mod machine;
mod memory;
mod plot;
mod progress;
mod race;
mod report;
mod spread;
mod table;

use crate::race::Plan;
use anyhow::Context;
use clap::{Args, Parser, Subcommand};
use std::io::{Write, stderr, stdout};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Tollgate beside its peers, measured as paired races.
///
/// Both sides run in turns of a few milliseconds, so they share whatever the machine is doing; what counts is
/// the ratio within each turn. Build with --release.
#[derive(Debug, Parser)]
#[command(name = "tollgate-bench", version, max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    family: Family,
}

/// Which family of questions to ask.
#[derive(Debug, Subcommand)]
enum Family {
    /// The standalone limiter beside the governor crate: time per decision and bytes per key.
    Limiter(Options),
}

/// How long to ask, and where to keep the answers.
#[derive(Debug, Args)]
struct Options {
    /// Fresh setups of both sides [default: 7, quick: 5]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000))]
    runs: Option<u32>,

    /// Turns in each run; in a turn each side runs one lap [default: 41, quick: 5]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    turns: Option<u32>,

    /// A first impression in half a minute instead of some minutes; saved only if --out is given
    #[arg(long)]
    quick: bool,

    /// Ask only the questions whose name contains TEXT; saved only if --out is given
    #[arg(long, value_name = "TEXT")]
    filter: Option<String>,

    /// The directory for the table (md), the numbers (json) and the plot (svg) [default: bench/results]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

impl Options {
    fn plan(&self) -> Plan {
        let (runs, turns, lap) = if self.quick { (5, 5, 10) } else { (7, 41, 15) };
        Plan {
            runs: self.runs.unwrap_or(runs),
            turns: self.turns.unwrap_or(turns),
            lap: Duration::from_millis(lap),
        }
    }

    /// Where to save, if at all: a part of the questions never overwrites the whole unasked.
    fn out(&self) -> Option<PathBuf> {
        let whole = !self.quick && self.filter.is_none();
        let results = || Path::new(env!("CARGO_MANIFEST_DIR")).join("results");
        self.out.clone().or_else(|| whole.then(results))
    }
}

fn main() -> anyhow::Result<()> {
    let Cli { family: Family::Limiter(options) } = Cli::parse();
    if cfg!(debug_assertions) {
        writeln!(stderr(), "warning: built without --release, the numbers mean nothing")?;
    }
    let report = limiter::ask(options.plan(), options.filter.as_deref().unwrap_or_default())?;
    write!(stdout().lock(), "{}", report.text())?;
    if let Some(out) = options.out() {
        report.save(&out).with_context(|| format!("cannot save to {}", out.display()))?;
        writeln!(stderr(), "saved to {}", out.display())?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    fn options(arguments: &[&str]) -> Options {
        let Family::Limiter(options) =
            Cli::parse_from([&["tollgate-bench", "limiter"], arguments].concat()).family;
        options
    }

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn a_part_is_saved_only_when_asked_for() {
        assert!(options(&[]).out().is_some_and(|out| out.ends_with("bench/results")));
        assert_eq!(options(&["--quick"]).out(), None);
        assert_eq!(options(&["--filter", "keyed"]).out(), None);
        assert_eq!(options(&["--quick", "--out", "here"]).out(), Some("here".into()));
    }

    #[test]
    fn what_is_said_overrides_what_is_quick() {
        let plan = options(&["--quick", "--turns", "9"]).plan();
        assert_eq!((plan.runs, plan.turns), (5, 9));
    }
}
