//! Where the configuration comes from, and what of it can change while we are running.

use std::path::{Path, PathBuf};
use tollgate_config::error::{Error, Problem};
use tollgate_config::source::{Document, Format};
use tollgate_config::{Config, Errors, Settings};

/// The variable that holds the token of whoever calls the admin API by a command. It is no key of the configuration.
pub(crate) const TOKEN_VARIABLE: &str = "TOLLGATE_TOKEN";

/// A file, the environment and flags, to be read as often as needed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Source {
    /// What is laid under everything else, in TOML, in place of a file.
    pub(crate) base: Option<String>,
    /// The file; without one every default holds.
    pub(crate) file: Option<PathBuf>,
    /// What the command line says, by path.
    pub(crate) flags: Vec<(String, String)>,
}

impl Source {
    /// What they mean now, or everything that is wrong.
    pub(crate) fn read(&self) -> Result<Config, Errors> {
        let document = match (&self.file, &self.base) {
            (Some(file), _) => Document::open(file)?,
            (None, Some(text)) => Document::parse(text, Format::Toml)?,
            (None, None) => Document::empty(),
        };
        // What is not text cannot be a value of ours; it is left to whoever it is meant for.
        let variables = std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
            .filter(|(name, _)| name != TOKEN_VARIABLE);
        document.with_environment(variables).with_flags(self.flags.iter().map(|(k, v)| (k, v.clone()))).read()
    }

    /// The files that a change of means a change of ours.
    pub(super) fn files(&self, settings: &Settings) -> Vec<PathBuf> {
        let tls = settings.gateway.tls.iter().flat_map(|tls| &tls.certificates);
        let certificates = tls.flat_map(|certificate| [&certificate.cert, &certificate.key]);
        let authorities = settings.gateway.upstreams.values().filter_map(|upstream| upstream.ca.as_ref());
        let file = self.file.iter();
        file.chain(certificates).chain(authorities).map(|path: &PathBuf| Path::to_owned(path)).collect()
    }
}

/// Says what has changed that only a restart can change.
pub(super) fn check(before: &Settings, after: &Settings) -> Result<(), Errors> {
    let (old, new) = (before.to_value(), after.to_value());
    let mut errors = Vec::new();
    for table in ["node", "ledger", "listen", "check", "rls", "resp", "admin", "telemetry"] {
        let Some(keys) = new[table].as_object() else { continue };
        for (key, value) in keys.iter().filter(|&(key, value)| old[table][key] != *value) {
            errors.push(restart(format!("{table}.{key}"), value.to_string(), &old[table][key].to_string()));
        }
    }
    let strangers =
        |settings: &Settings| settings.gateway.identity.strangers.as_deref().unwrap_or("none").to_owned();
    if strangers(before) != strangers(after) {
        errors.push(restart("identity.strangers".into(), strangers(after), &strangers(before)));
    }
    if errors.is_empty() { Ok(()) } else { Err(errors.into_iter().collect()) }
}

fn restart(path: String, value: String, before: &str) -> Error {
    Error {
        path,
        problem: Problem::Conflict("cannot change while tollgate is running".into()),
        value: Some(value),
        expected: Some(format!("{before}, or a restart")),
        origin: None,
    }
}
