//! Tollgate's configuration, as written and as meant.
//!
//! Whatever carries it (a TOML or YAML file, the environment, flags, the JSON of an API) becomes one tree.
//! One reader walks the tree and either makes [`Settings`] and a [`Policy`] of it, or says everything that is
//! wrong, each with its path, the offending value and what would be accepted. Nothing is applied in part.
//!
//! ```
//! use tollgate_config::source::{Document, Format};
//!
//! let text = r#"
//!     [[apps]]
//!     id = "app-a"
//!     guaranteed_quota = 10_000
//!     brust_quota = 50_000
//! "#;
//! let errors = Document::parse(text, Format::Toml)?.read().unwrap_err();
//! assert_eq!(
//!     errors.to_string(),
//!     "apps[0].burst_quota: missing (expected a whole number from 1 to 4000000000)\n\
//!      apps[0].brust_quota: unknown key, did you mean burst_quota"
//! );
//! # Ok::<(), tollgate_config::Errors>(())
//! ```

mod diff;
pub mod error;
pub mod gateway;
pub mod import;
mod path;
pub mod policy;
mod reader;
mod reference;
pub mod resp;
pub mod rls;
pub mod settings;
pub mod source;

pub use diff::{Change, diff, diff_config};
pub use error::{Error, Errors};
pub use policy::Policy;
pub use reference::reference;
pub use settings::Settings;

use reader::{Report, Table};
use source::Document;

/// A configuration as meant: every value is there and right.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Config {
    /// What the process needs to start.
    pub settings: Settings,
    /// What the ledger is seeded with.
    pub policy: Policy,
}

impl Document {
    /// What the document means, or everything that is wrong with it.
    pub fn read(self) -> Result<Config, Errors> {
        let report = Report::new(&self.origins, self.faults);
        let mut root = Table::root(&self.tree, &report);
        let settings = Settings::read(&mut root);
        let policy = Policy::read(&mut root, &report);
        root.finish();
        report.conclude(settings.zip(policy).map(|(settings, policy)| Config { settings, policy }))
    }
}
