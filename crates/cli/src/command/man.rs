use super::Outcome;
use crate::{Cli, output};
use anyhow::Context;
use clap::{Args, CommandFactory};
use clap_mangen::Man;

/// Print the manual page of the program, or of one of its commands
///
/// To read it: tollgate man serve | man -l -
#[derive(Debug, Args)]
pub(crate) struct Manual {
    /// A command, like serve
    command: Option<String>,
}

impl Manual {
    pub(super) fn run(&self) -> anyhow::Result<Outcome> {
        let mut program = Cli::command();
        // Only then does each command know its whole name.
        program.build();
        let page = match &self.command {
            None => Some(&program),
            Some(name) => program.find_subcommand(name),
        };
        let Some(page) = page else {
            let known: Vec<&str> = program.get_subcommands().map(clap::Command::get_name).collect();
            output::complain(&format!("no such command, expected one of {}", known.join(", ")));
            return Ok(Outcome::Wrong);
        };
        let mut text = Vec::new();
        Man::new(page.clone()).render(&mut text).context("cannot write the page")?;
        output::print(&String::from_utf8_lossy(&text)).map(|()| Outcome::Yes)
    }
}
