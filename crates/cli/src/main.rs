//! The one binary of Tollgate.

mod client;
mod command;
mod output;
mod system;

use clap::Parser;
use command::{Command, Outcome};
use std::process::ExitCode;

/// Requests allocate on one thread what they free on the same: an allocator with a heap for each thread suits that.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// A distributed, hierarchical rate limiter: every request pays its toll
#[derive(Debug, Parser)]
#[command(name = "tollgate", version = env!("FULL_VERSION"), arg_required_else_help = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

fn main() -> ExitCode {
    let outcome = Cli::parse().command.run().unwrap_or_else(|error| {
        output::complain(&format!("error: {error:#}"));
        Outcome::Wrong
    });
    outcome.into()
}
