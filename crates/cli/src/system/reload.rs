//! Where the configuration comes from, and what of it can change while we are running.

use serde_json::{Map, Value, json};
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

/// The tables that are read once, when tollgate starts; `cost.base` has keys of its own.
const TABLES: [&str; 11] =
    ["node", "ledger", "listen", "check", "rls", "resp", "admin", "log", "telemetry", "cost", "cost.base"];

/// What only a restart can change.
#[derive(Clone, Debug)]
pub(super) struct Fixed {
    /// As it is shown, secrets hidden.
    shown: Map<String, Value>,
    /// As it is; in a box, as it is large.
    settings: Box<Settings>,
}

impl Fixed {
    pub(super) fn of(config: &Config) -> Self {
        let (mut tree, mut cost) = (config.settings.to_value(), config.policy.to_value()["cost"].take());
        tree["cost.base"] = cost["base"].take();
        tree["cost"] = cost;
        let mut shown: Map<String, Value> =
            TABLES.into_iter().map(|name| (name.to_owned(), tree[name].take())).collect();
        // The rest of that table is taken up.
        let strangers = config.settings.gateway.identity.strangers.as_deref().unwrap_or("none");
        shown.insert("identity".into(), json!({"strangers": strangers}));
        Self { shown, settings: Box::new(config.settings.clone()) }
    }

    /// Says everything in which what is to be differs.
    pub(super) fn check(&self, after: &Self) -> Result<(), Errors> {
        let mut errors: Vec<Error> = Vec::new();
        for (name, table) in &after.shown {
            let Some(keys) = table.as_object() else { continue };
            let before = &self.shown[name];
            for (key, value) in keys.iter().filter(|&(key, value)| before[key] != *value) {
                errors.push(restart(format!("{name}.{key}"), value.to_string(), &before[key].to_string()));
            }
        }
        // Secrets change unseen.
        let is_said = |errors: &[Error], path: &str| errors.iter().any(|error| error.path == path);
        for path in self.settings.changed_secrets(&after.settings) {
            let is_fixed =
                TABLES.iter().any(|table| path.strip_prefix(table).is_some_and(|key| key.starts_with('.')));
            if is_fixed && !is_said(&errors, path) {
                errors.push(unseen(path));
            }
        }
        if errors.is_empty() {
            errors.extend(self.changed_tables(after).map(unseen));
        }
        if errors.is_empty() { Ok(()) } else { Err(errors.into_iter().collect()) }
    }

    /// The tables that are not as they were, shown alike or not.
    fn changed_tables(&self, after: &Self) -> impl Iterator<Item = &'static str> {
        let (old, new) = (&self.settings, &after.settings);
        let tables = [
            ("node", old.node != new.node),
            ("ledger", old.ledger != new.ledger),
            ("listen", old.listen != new.listen),
            ("check", old.check != new.check),
            ("rls", old.rls != new.rls),
            ("resp", old.resp != new.resp),
            ("admin", old.admin != new.admin),
            ("log", old.log != new.log),
            ("telemetry", old.telemetry != new.telemetry),
        ];
        tables.into_iter().filter_map(|(table, is_changed)| is_changed.then_some(table))
    }
}

/// What differs and cannot be shown.
fn unseen(path: &str) -> Error {
    restart(path.into(), "another hidden value".into(), "what it was")
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

#[cfg(test)]
mod tests {
    use super::*;

    fn config(text: &str) -> Config {
        Document::parse(text, Format::Toml).unwrap().read().unwrap()
    }

    /// What is reported if the configuration becomes this.
    fn reported(before: &str, after: &str) -> Vec<String> {
        let checked = Fixed::of(&config(before)).check(&Fixed::of(&config(after)));
        let errors = checked.err().into_iter().flat_map(|errors| errors.iter().cloned().collect::<Vec<_>>());
        errors.map(|error| error.path).collect()
    }

    #[test]
    fn whatever_is_not_taken_up_is_said() {
        for (text, path) in [
            ("[node]\nsync_interval_ms = 500", "node.sync_interval_ms"),
            ("[log]\nlevel = 'debug'", "log.level"),
            ("[log]\nformat = 'json'", "log.format"),
            ("[telemetry]\nendpoint = 'http://127.0.0.1:4318'", "telemetry.endpoint"),
            ("[telemetry]\nservice = 'gate'", "telemetry.service"),
            ("[cost]\nquantum_bytes = 1024", "cost.quantum_bytes"),
            ("[cost]\nbandwidth_coefficient = 2.0", "cost.bandwidth_coefficient"),
            ("[cost]\nbase = { PUT = 7 }", "cost.base.PUT"),
            (
                "[identity]\nstrangers = 'guest'\n[[apps]]\nid = 'guest'\nguaranteed_quota = 1\nburst_quota = 1",
                "identity.strangers",
            ),
        ] {
            assert_eq!(reported("", text), [path]);
            assert_eq!(reported(text, ""), [path]);
            assert_eq!(reported(text, text), [""; 0]);
        }
    }

    #[test]
    fn a_secret_that_is_not_taken_up_is_said_and_not_shown() {
        for (key, text) in [
            ("resp.password", "[resp]\npassword = 'SECRET'"),
            ("ledger.url", "[ledger]\nurl = 'redis://u:SECRET@h'"),
            ("ledger.url", "[ledger]\nurl = 'redis://h/0?password=SECRET'"),
            ("admin.database", "[admin]\ndatabase = 'postgres://u:SECRET@h/db'"),
            ("admin.database", "[admin]\ndatabase = 'postgres://u@h/db?password=SECRET'"),
        ] {
            let with = |secret: &str| Fixed::of(&config(&text.replace("SECRET", secret)));
            let said = with("hunter2").check(&with("hunter3")).expect_err(key).to_string();
            assert_eq!(
                said,
                format!(
                    "{key}: cannot change while tollgate is running (got another hidden value, expected what it was, or a \
                     restart)"
                )
            );
            assert_eq!(with("hunter2").check(&with("hunter2")).map_err(|errors| errors.to_string()), Ok(()));
            // What is seen to change is said once.
            let moved = text.replace("SECRET", "hunter3").replace("@h", "@g");
            assert_eq!(reported(&text.replace("SECRET", "hunter2"), &moved), [key]);
        }
    }

    #[test]
    fn what_is_taken_up_or_seeds_a_ledger_is_nothing_to_say() {
        let after = "[gateway]\nmax_connections = 7\n[identity]\nheader = 'X-Who'\n\
                     [[apps]]\nid = 'a'\nguaranteed_quota = 1\nburst_quota = 1\ncost = { base = { GET = 9 } }";
        assert_eq!(reported("", after), [""; 0]);
    }
}
