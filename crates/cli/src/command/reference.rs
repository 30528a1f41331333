use super::Outcome;
use crate::output;
use clap::Args;

/// Print the reference of the configuration: every key with its default, what is accepted, and what it means
#[derive(Debug, Args)]
pub(crate) struct Reference {}

impl Reference {
    #[allow(clippy::unused_self, reason = "like every other command")]
    pub(super) fn run(&self) -> anyhow::Result<Outcome> {
        output::print(&tollgate_config::reference()).map(|()| Outcome::Yes)
    }
}
