use super::Outcome;
use crate::{Cli, output};
use clap::{Args, CommandFactory};
use clap_complete::Shell;

/// Print completions for a shell
///
/// Where they go depends on the shell, for instance: `tollgate completions bash > /etc/bash_completion.d/tollgate`
#[derive(Debug, Args)]
pub(crate) struct Completions {
    /// The shell
    shell: Shell,
}

impl Completions {
    pub(super) fn run(&self) -> anyhow::Result<Outcome> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut Cli::command(), "tollgate", &mut script);
        output::print(&String::from_utf8_lossy(&script)).map(|()| Outcome::Yes)
    }
}
