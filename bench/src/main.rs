//! Tollgate beside its peers, measured as paired races: see `README.md`.

mod answers;
mod drills;
mod finding;
mod gateway;
mod ledger;
mod limiter;
mod machine;
mod memory;
mod node;
mod plot;
mod progress;
mod race;
mod report;
mod scale;
mod spread;
mod table;

use crate::plot::Plot;
use crate::report::Report;
use anyhow::Context;
use clap::{Args, Parser, Subcommand};
use std::io::{Write, stderr, stdin, stdout};
use std::path::{Path, PathBuf};
use std::time::Duration;
use tollgate_drill::Form;

/// Tollgate beside its peers, measured as paired races.
///
/// All sides run in turns of some milliseconds, so they share whatever the machine is doing; what counts is
/// the ratio within each turn. Build with --release.
#[derive(Debug, Parser)]
#[command(name = "tollgate-bench", version, max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    task: Task,
}

#[derive(Debug, Subcommand)]
enum Task {
    #[command(flatten)]
    Ask(Family),
    /// Answer every request on a port with the same refusal, as the gateway's bench does to see what the kernel takes for it.
    #[command(hide = true)]
    Kernel { port: u16 },
    /// Draw ratios that other programs measured: their description as JSON on standard input, SVG on standard output.
    Picture,
}

/// Which family of questions to ask.
#[derive(Debug, Subcommand)]
enum Family {
    /// The standalone limiter beside the governor crate: time per decision and bytes per key.
    Limiter(LimiterOptions),
    /// The node beside the governor crate: time per decision; then nodes under load on a redis-server of their
    /// own: how often they ask it, and who gets what.
    Node(LimiterOptions),
    /// The ledger on a redis-server of its own, beside a counter and a bare rate limiter there: calls and
    /// leases per second, latency, growth and bytes.
    Ledger(LedgerOptions),
    /// The gateway beside other proxies, under the load of wrk: requests per second, CPU per request, latency, and
    /// memory per idle connection. Needs what `scripts/need-peers` installs, and target/release/tollgate.
    Gateway(GatewayOptions),
    /// How the cost of a cluster grows with nodes and applications, in simulation.
    Scale(ScaleOptions),
    /// Gateways under load while Redis, networks, disks, clients and gateways themselves fail: whether what was promised
    /// holds. Needs target/release/tollgate.
    Drills(DrillOptions),
    /// Three gateways on a Redis Cluster share one promise at five times the load, while a primary is killed.
    ScaleOut(StoryOptions),
    /// Half of the load for a long time, and the memory it takes.
    Soak(SoakOptions),
}

#[derive(Debug, Args)]
struct LimiterOptions {
    /// Fresh setups of both sides [default: 7, quick: 5]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000))]
    runs: Option<u32>,

    /// Turns in each run; in a turn each side runs one lap [default: 41, quick: 5]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    turns: Option<u32>,

    /// Ask only the questions whose name contains TEXT; saved only if --out is given
    #[arg(long, value_name = "TEXT")]
    filter: Option<String>,

    #[command(flatten)]
    effort: Effort,
}

#[derive(Debug, Args)]
struct GatewayOptions {
    /// Rounds; in a round each contender runs one lap [default: 9, quick: 3]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000))]
    rounds: Option<u32>,

    #[command(flatten)]
    effort: Effort,
}

#[derive(Debug, Args)]
struct ScaleOptions {
    /// The largest number of nodes [default: 5000, quick: 100]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=5_000))]
    nodes: Option<u16>,

    #[command(flatten)]
    effort: Effort,
}

#[derive(Debug, Args)]
struct DrillOptions {
    /// How often each drill is played [default: 10, quick: 1]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000))]
    times: Option<u32>,

    /// Play only the drills whose name contains TEXT; saved only if --out is given
    #[arg(long, value_name = "TEXT")]
    filter: Option<String>,

    #[command(flatten)]
    story: StoryOptions,
}

#[derive(Debug, Args)]
struct SoakOptions {
    /// How long it takes [default: 30, quick: 1]
    #[arg(long, value_name = "MINUTES", value_parser = clap::value_parser!(u64).range(1..=100_000))]
    minutes: Option<u64>,

    #[command(flatten)]
    story: StoryOptions,
}

#[derive(Debug, Args)]
struct StoryOptions {
    /// The tollgate that is tried [default: target/release/tollgate]
    #[arg(long, value_name = "FILE")]
    program: Option<PathBuf>,

    #[command(flatten)]
    effort: Effort,
}

#[derive(Debug, Args)]
struct LedgerOptions {
    /// Rounds; in a round each contender runs one slice [default: 120, quick: 20]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    rounds: Option<u32>,

    #[command(flatten)]
    effort: Effort,
}

/// How long to ask, and where to keep the answers.
#[derive(Debug, Args)]
struct Effort {
    /// A first impression in half a minute instead of some minutes; saved only if --out is given
    #[arg(long)]
    quick: bool,

    /// The directory for the table (md), the numbers (json) and the plot (svg) [default: bench/results]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

impl Family {
    fn ask(&self) -> anyhow::Result<Report> {
        match self {
            Self::Limiter(options) => {
                limiter::ask(options.plan(), options.filter.as_deref().unwrap_or_default())
            }
            Self::Node(options) => {
                node::ask(options.plan(), options.filter.as_deref().unwrap_or_default(), options.effort.quick)
            }
            Self::Ledger(options) => ledger::ask(options.plan()),
            Self::Gateway(options) => gateway::ask(&options.plan()),
            Self::Scale(options) => scale::ask(options.plan()),
            Self::Drills(options) => drills::ask(&options.plan()),
            Self::ScaleOut(options) => drills::ask_scale_out(&options.plan()),
            Self::Soak(options) => drills::ask_soak(&options.story.plan(), options.length()),
        }
    }

    /// Where to save, if at all: a part of the questions never overwrites the whole unasked.
    fn out(&self) -> Option<PathBuf> {
        let (effort, is_whole) = match self {
            Self::Limiter(options) | Self::Node(options) => (&options.effort, options.filter.is_none()),
            Self::Ledger(options) => (&options.effort, true),
            Self::Gateway(options) => (&options.effort, true),
            Self::Scale(options) => (&options.effort, options.nodes.is_none()),
            Self::Drills(options) => (&options.story.effort, options.filter.is_none()),
            Self::ScaleOut(options) => (&options.effort, true),
            Self::Soak(options) => (&options.story.effort, true),
        };
        let results = || Path::new(env!("CARGO_MANIFEST_DIR")).join("results");
        effort.out.clone().or_else(|| (is_whole && !effort.quick).then(results))
    }
}

impl LimiterOptions {
    fn plan(&self) -> race::Plan {
        let (runs, turns, lap) = if self.effort.quick { (5, 5, 10) } else { (7, 41, 15) };
        race::Plan {
            runs: self.runs.unwrap_or(runs),
            turns: self.turns.unwrap_or(turns),
            lap: Duration::from_millis(lap),
        }
    }
}

impl GatewayOptions {
    fn plan(&self) -> gateway::Plan {
        let (rounds, lap, idle) = if self.effort.quick { (3, 1, 1_000) } else { (9, 4, 10_000) };
        gateway::Plan {
            rounds: self.rounds.unwrap_or(rounds),
            lap: Duration::from_secs(lap),
            idle,
            program: tollgate(),
        }
    }
}

impl DrillOptions {
    fn plan(&self) -> drills::Plan {
        let story = self.story.plan();
        let times = if self.story.effort.quick { 1 } else { 10 };
        drills::Plan {
            times: self.times.unwrap_or(times),
            filter: self.filter.clone().unwrap_or_default(),
            ..story
        }
    }
}

impl StoryOptions {
    fn plan(&self) -> drills::Plan {
        let program = self.program.clone().unwrap_or_else(tollgate);
        let form = if self.effort.quick { Form::Short } else { Form::Long };
        drills::Plan { program, times: 1, form, filter: String::new() }
    }
}

impl SoakOptions {
    fn length(&self) -> Duration {
        Duration::from_mins(self.minutes.unwrap_or(if self.story.effort.quick { 1 } else { 30 }))
    }
}

/// The binary that `cargo build --release` makes.
fn tollgate() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/release/tollgate")
}

impl ScaleOptions {
    fn plan(&self) -> scale::Plan {
        let (nodes, apps) = if self.effort.quick { (100, 100) } else { (5_000, 1_000) };
        scale::Plan { nodes: self.nodes.map_or(nodes, usize::from), apps }
    }
}

impl LedgerOptions {
    fn plan(&self) -> ledger::Plan {
        let (rounds, slice) = if self.effort.quick { (20, 40) } else { (120, 60) };
        ledger::Plan { rounds: self.rounds.unwrap_or(rounds), slice: Duration::from_millis(slice) }
    }
}

fn main() -> anyhow::Result<()> {
    let family = match Cli::parse().task {
        Task::Ask(family) => family,
        Task::Kernel { port } => return gateway::kernel::serve(port),
        Task::Picture => return draw(),
    };
    if cfg!(debug_assertions) {
        writeln!(stderr(), "warning: built without --release, the numbers mean nothing")?;
    }
    let report = family.ask()?;
    write!(stdout().lock(), "{}", report.text())?;
    if let Some(out) = family.out() {
        report.save(&out).with_context(|| format!("cannot save to {}", out.display()))?;
        writeln!(stderr(), "saved to {}", out.display())?;
    }
    anyhow::ensure!(report.broken.is_empty(), "not as promised:\n{}", report.broken.join("\n"));
    Ok(())
}

fn draw() -> anyhow::Result<()> {
    let plot: Plot = serde_json::from_reader(stdin().lock()).context("that is no picture")?;
    Ok(stdout().lock().write_all(plot.svg().as_bytes())?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    fn family(arguments: &[&str]) -> Family {
        let Task::Ask(family) = Cli::parse_from([&["tollgate-bench"], arguments].concat()).task else {
            panic!()
        };
        family
    }

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn a_part_is_saved_only_when_asked_for() {
        for name in ["limiter", "ledger", "drills", "scale-out", "soak"] {
            assert!(family(&[name]).out().is_some_and(|out| out.ends_with("bench/results")));
            assert_eq!(family(&[name, "--quick"]).out(), None);
            assert_eq!(family(&[name, "--quick", "--out", "here"]).out(), Some("here".into()));
        }
        assert_eq!(family(&["limiter", "--filter", "keyed"]).out(), None);
        assert_eq!(family(&["drills", "--filter", "disk"]).out(), None);
    }

    #[test]
    fn what_is_said_overrides_what_is_quick() {
        let Family::Limiter(limiter) = family(&["limiter", "--quick", "--turns", "9"]) else { panic!() };
        assert_eq!((limiter.plan().runs, limiter.plan().turns), (5, 9));
        let Family::Ledger(ledger) = family(&["ledger", "--quick", "--rounds", "9"]) else { panic!() };
        assert_eq!(ledger.plan().rounds, 9);
    }
}
