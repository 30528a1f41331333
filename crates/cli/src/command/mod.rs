//! What the binary can be asked to do: one file per command.

mod apply;
mod audit;
mod check;
mod completions;
mod demo;
mod diff;
mod explain;
mod file;
mod import;
mod man;
mod openapi;
mod reference;
mod replay;
mod running;
mod serve;
mod simulate;
mod user;
mod validate;

use clap::Subcommand;
use std::process::ExitCode;

/// The commands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Serve(serve::Serve),
    Demo(demo::Demo),
    Check(check::Check),
    Explain(explain::Explain),
    Audit(audit::Audit),
    Validate(validate::Validate),
    Diff(diff::Diff),
    Apply(apply::Apply),
    Replay(replay::Replay),
    Import(import::Import),
    Simulate(simulate::Simulate),
    Reference(reference::Reference),
    Completions(completions::Completions),
    Man(man::Manual),
    User(user::User),
    Openapi(openapi::Openapi),
}

impl Command {
    /// Does what was asked.
    pub(crate) fn run(self) -> anyhow::Result<Outcome> {
        match self {
            Self::Serve(serve) => serve.run(),
            Self::Demo(demo) => demo.run(),
            Self::Check(check) => check.run(),
            Self::Explain(explain) => explain.run(),
            Self::Audit(audit) => audit.run(),
            Self::Validate(validate) => validate.run(),
            Self::Diff(diff) => diff.run(),
            Self::Apply(apply) => apply.run(),
            Self::Replay(replay) => replay.run(),
            Self::Import(import) => import.run(),
            Self::Simulate(simulate) => simulate.run(),
            Self::Reference(reference) => reference.run(),
            Self::Completions(completions) => completions.run(),
            Self::Man(manual) => manual.run(),
            Self::User(user) => user.run(),
            Self::Openapi(openapi) => openapi.run(),
        }
    }
}

/// How a command ended, for scripts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// 0: the answer is yes.
    Yes,
    /// 1: the answer is no.
    No,
    /// 2: the question was wrong.
    Wrong,
}

impl From<Outcome> for ExitCode {
    fn from(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Yes => Self::SUCCESS,
            Outcome::No => Self::from(1),
            Outcome::Wrong => Self::from(2),
        }
    }
}
