use super::Outcome;
use crate::output;
use clap::Args;

/// Print the description of the admin API (OpenAPI 3.1, JSON)
///
/// The same that a running tollgate serves at /api/v1/openapi.json.
#[derive(Debug, Args)]
pub(crate) struct Openapi {}

impl Openapi {
    #[expect(clippy::unused_self, reason = "all commands are called alike")]
    pub(super) fn run(&self) -> anyhow::Result<Outcome> {
        output::print(&tollgate_admin::openapi())?;
        Ok(Outcome::Yes)
    }
}
