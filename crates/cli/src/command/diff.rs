use super::{Outcome, file};
use crate::output;
use clap::Args;
use serde_json::{Value, json};
use std::path::PathBuf;
use tollgate_config::{Change, diff_config};

/// Show what changes from one configuration file to another
///
/// Exits with 0 if they mean the same, 1 if they differ, and 2 if either is wrong or cannot be read.
#[derive(Debug, Args)]
pub(crate) struct Diff {
    /// The file as it was
    old: PathBuf,

    /// The file as it is to be
    new: PathBuf,

    /// Answer in JSON
    #[arg(long)]
    json: bool,
}

impl Diff {
    pub(super) fn run(&self) -> anyhow::Result<Outcome> {
        match (file::read(&self.old), file::read(&self.new)) {
            (Ok(old), Ok(new)) => self.show(&diff_config(&old, &new)),
            (old, new) => self.refuse(&[old.err(), new.err()]),
        }
    }

    fn show(&self, changes: &[Change]) -> anyhow::Result<Outcome> {
        if self.json {
            let changes: Value = changes.iter().map(Change::to_value).collect();
            output::print_json(&json!({ "changes": changes }))?;
        } else if !changes.is_empty() {
            let lines: Vec<String> = changes.iter().map(ToString::to_string).collect();
            output::print(&lines.join("\n"))?;
        }
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
