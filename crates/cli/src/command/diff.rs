use super::running::Running;
use super::{Outcome, apply, file, serve};
use crate::output;
use clap::Args;
use serde_json::{Value, json};
use std::path::PathBuf;
use tollgate_config::{Change, diff_config};

/// Show what changes from one configuration file to another, or what `tollgate apply` would change
///
/// With one file, it is compared with the applications and clusters of a running system, as its admin API shows them.
///
/// Exits with 0 if they mean the same, 1 if they differ, and 2 if either is wrong or cannot be read.
#[derive(Debug, Args)]
pub(crate) struct Diff {
    /// The file as it was; or, if it is the only one, the file to compare with the running system
    old: PathBuf,

    /// The file as it is to be
    new: Option<PathBuf>,

    #[command(flatten)]
    running: Running,

    /// Also show what would be removed because the file does not have it
    #[arg(long, conflicts_with = "new")]
    prune: bool,

    /// Answer in JSON
    #[arg(long)]
    json: bool,
}

impl Diff {
    pub(super) fn run(&self) -> anyhow::Result<Outcome> {
        let Some(new) = &self.new else { return self.with_running() };
        match (file::read(&self.old), file::read(new)) {
            (Ok(old), Ok(new)) => self.show(&diff_config(&old, &new)),
            (old, new) => self.refuse(&[old.err(), new.err()]),
        }
    }

    fn with_running(&self) -> anyhow::Result<Outcome> {
        let config = match file::read(&self.old) {
            Ok(config) => config,
            Err(wrong) => return self.refuse(&[Some(wrong)]),
        };
        let running = serve::runtime()?.block_on(self.running.policy(&config.policy))?;
        self.show(&apply::changes(&running, &config.policy, self.prune)?)
    }

    fn show(&self, changes: &[Change]) -> anyhow::Result<Outcome> {
        print_changes(changes, self.json)?;
        Ok(if changes.is_empty() { Outcome::Yes } else { Outcome::No })
    }

    fn refuse(&self, files: &[Option<file::WrongFile>]) -> anyhow::Result<Outcome> {
        let wrong = files.iter().flatten();
        if self.json {
            output::print_json(&json!({ "wrong": wrong.map(file::WrongFile::to_value).collect::<Value>() }))?;
        } else {
            wrong.for_each(file::WrongFile::complain);
        }
        Ok(Outcome::Wrong)
    }
}

/// A line for each, or a list of them.
pub(super) fn print_changes(changes: &[Change], json: bool) -> anyhow::Result<()> {
    if json {
        let changes: Value = changes.iter().map(Change::to_value).collect();
        return output::print_json(&json!({ "changes": changes }));
    }
    if changes.is_empty() {
        return Ok(());
    }
    let lines: Vec<String> = changes.iter().map(ToString::to_string).collect();
    output::print(&lines.join("\n"))
}
