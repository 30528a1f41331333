//! Lays values given as text over a tree: `TOLLGATE_LEDGER__URL` is `ledger.url`.

use super::{Document, MAX_DEPTH, Origin};
use crate::error::{Error, Problem};
use crate::path;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// What every environment variable of ours begins with.
pub const PREFIX: &str = "TOLLGATE_";

const SEPARATOR: &str = "__";

impl Document {
    /// Lays the environment over this document. Variables without [`PREFIX`] are none of ours; nor are those
    /// by which a container platform announces a service that happens to be called `tollgate`.
    #[must_use]
    pub fn with_environment<K, V>(mut self, variables: impl IntoIterator<Item = (K, V)>) -> Self
    where
        K: Into<String>,
        V: Into<String>,
    {
        // Sorted, so that the outcome does not depend on the order of the environment.
        let variables: BTreeMap<String, String> =
            variables.into_iter().map(|(name, value)| (name.into(), value.into())).collect();
        for (name, value) in variables {
            let Some(key) = name.strip_prefix(PREFIX).filter(|key| !announces_a_service(key)) else {
                continue;
            };
            let key = key.to_ascii_lowercase();
            self.lay(&key.split(SEPARATOR).collect::<Vec<_>>(), value, Origin::Variable(name));
        }
        self
    }

    /// Lays values from the command line over this document, by path: `("ledger.url", "redis://...")`.
    #[must_use]
    pub fn with_flags<K, V>(mut self, flags: impl IntoIterator<Item = (K, V)>) -> Self
    where
        K: AsRef<str>,
        V: Into<String>,
    {
        for (key, value) in flags {
            self.lay(&key.as_ref().split('.').collect::<Vec<_>>(), value.into(), Origin::Flag);
        }
        self
    }

    fn lay(&mut self, keys: &[&str], value: String, origin: Origin) {
        match set(&mut self.tree, keys, value) {
            Ok(path) => self.origins.set(path, origin),
            Err(error) => self.faults.push(Error { origin: Some(origin), ..*error }),
        }
    }
}

/// Sets the value at `keys`, making tables on the way, and tells the path it has.
fn set(tree: &mut Value, keys: &[&str], value: String) -> Result<String, Box<Error>> {
    if keys.len() > MAX_DEPTH {
        return Err(Box::new(Error::of_document(Problem::TooLarge("nested too deep"))));
    }
    let mut place = tree;
    let mut at = String::new();
    for &key in keys {
        let (name, next) = enter(place, key).ok_or_else(|| not_a_table(&at))?;
        at = path::join(&at, &name);
        place = next;
    }
    *place = Value::String(value);
    Ok(at)
}

/// The entry for `key`, as the file spells it if it does: `TOLLGATE_COST__BASE__GET` means `GET`.
fn enter<'a>(place: &'a mut Value, key: &str) -> Option<(String, &'a mut Value)> {
    if place.is_null() {
        *place = Value::Object(Map::new());
    }
    let table = place.as_object_mut()?;
    let spelled = table.keys().find(|known| known.eq_ignore_ascii_case(key)).cloned();
    let name = spelled.unwrap_or_else(|| key.to_owned());
    let entry = table.entry(name.clone()).or_insert(Value::Null);
    Some((name, entry))
}

fn not_a_table(at: &str) -> Box<Error> {
    Box::new(Error {
        path: at.to_owned(),
        expected: Some("a path through tables; elements of lists are set in the file".into()),
        ..Error::of_document(Problem::Conflict("not a table".into()))
    })
}

/// `SERVICE_HOST`, `PORT`, `PORT_8080_TCP`, `ADMIN_SERVICE_PORT_HTTP`, ...: set by Kubernetes for services
/// named `tollgate` or `tollgate-...`. Keys of ours have a table and so a separator.
fn announces_a_service(key: &str) -> bool {
    let has = |part: &str| format!("_{key}_").contains(part);
    !key.contains(SEPARATOR) && (has("_SERVICE_HOST_") || has("_SERVICE_PORT_") || has("_PORT_"))
}

/// The variable that sets the value at `path`.
pub(crate) fn variable(path: &str) -> String {
    format!("{PREFIX}{}", path.replace('.', SEPARATOR).to_ascii_uppercase())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::Format;
    use proptest::prelude::*;
    use tollgate_core::units::Ratio;

    fn report(file: &str, variables: &[(&str, &str)]) -> String {
        let document =
            Document::parse(file, Format::Toml).unwrap().with_environment(variables.iter().copied());
        match document.read() {
            Ok(_) => String::new(),
            Err(errors) => errors.to_string(),
        }
    }

    #[test]
    fn the_later_source_wins() {
        let file = "[ledger]\ntimeout_ms = 1\n[node]\nbatch_threshold = 1\nreserve_target = 1";
        let config = Document::parse(file, Format::Toml)
            .unwrap()
            .with_environment([("TOLLGATE_LEDGER__TIMEOUT_MS", "2"), ("TOLLGATE_NODE__RESERVE_TARGET", "2")])
            .with_flags([("ledger.timeout_ms", "3")])
            .read()
            .unwrap();
        assert_eq!(config.settings.ledger.timeout.get(), 3);
        assert_eq!(config.settings.node.reserve_target.floor(), 2);
        assert_eq!(config.settings.node.batch_threshold, 1);
        assert_eq!(config.settings.node.sync_interval.get(), 100);
    }

    #[test]
    fn text_becomes_what_the_key_needs() {
        let config = Document::empty()
            .with_environment([
                ("TOLLGATE_NODE__ID", "7"),
                ("TOLLGATE_NODE__REFILL_THRESHOLD", "0.5"),
                ("TOLLGATE_LISTEN__ADMIN", "0.0.0.0:9000"),
                ("TOLLGATE_COST__BASE__GET", "4"),
                ("PATH", "/bin"),
            ])
            .read()
            .unwrap();
        assert_eq!(config.settings.node.id.as_deref(), Some("7"));
        assert_eq!(config.settings.node.refill_threshold, Ratio::percent(50));
        assert_eq!(config.settings.listen.admin.port(), 9000);
        assert_eq!(config.policy.prices().base(tollgate_core::cost::Operation::Get), 4);
    }

    #[test]
    fn a_key_is_found_as_the_file_spells_it() {
        assert_eq!(report("[cost.base]\nGET = 2", &[("TOLLGATE_COST__BASE__GET", "3")]), "");
        assert_eq!(
            report("[cost.base]\nGET = 2", &[("TOLLGATE_COST__BASE__GET", "x")]),
            "cost.base.GET: wrong type, set by TOLLGATE_COST__BASE__GET \
             (got \"x\", expected a whole number from 0 to 1000000)"
        );
    }

    #[test]
    fn only_text_from_outside_is_read_as_a_number() {
        assert!(report("[node]\nbatch_threshold = '5'", &[]).contains("wrong type"));
        assert_eq!(report("", &[("TOLLGATE_NODE__BATCH_THRESHOLD", "5")]), "");
        assert!(report("", &[("TOLLGATE_NODE__BATCH_THRESHOLD", "-5")]).contains("out of range"));
        assert!(report("", &[("TOLLGATE_NODE__BATCH_THRESHOLD", "")]).contains("wrong type"));
    }

    #[test]
    fn an_unknown_variable_is_named_with_what_was_meant() {
        assert_eq!(
            report("", &[("TOLLGATE_LEDGER__URLL", "redis://u:hunter2@h")]),
            "ledger.urll: unknown key, did you mean TOLLGATE_LEDGER__URL, set by TOLLGATE_LEDGER__URLL"
        );
        assert_eq!(
            report("", &[("TOLLGATE_LEDGR__URL", "redis://u:hunter2@h")]),
            "ledgr.url: unknown key, did you mean TOLLGATE_LEDGER__URL, set by TOLLGATE_LEDGR__URL"
        );
        assert_eq!(
            report("", &[("TOLLGATE_LEDGER_URL", "redis://u:hunter2@h")]),
            "ledger_url: unknown key, did you mean TOLLGATE_LEDGER__URL, set by TOLLGATE_LEDGER_URL"
        );
        assert!(report("", &[("TOLLGATE_COLOUR", "red")]).contains("expected one of node, ledger, listen"));
        assert!(report("", &[("TOLLGATE_", "")]).starts_with("\"\": unknown key"));
    }

    #[test]
    fn lists_are_set_in_the_file() {
        let app = "[[apps]]\nid = 'a'\nguaranteed_quota = 1\nburst_quota = 1";
        let report_with = report(app, &[("TOLLGATE_APPS__0__ID", "b")]);
        assert!(report_with.starts_with("apps: not a table, set by TOLLGATE_APPS__0__ID ("), "{report_with}");
        let report_without = report("", &[("TOLLGATE_APPS__0__ID", "b")]);
        assert!(
            report_without.starts_with("apps: wrong type, set by TOLLGATE_APPS__0__ID ("),
            "{report_without}"
        );
    }

    #[test]
    fn the_announcement_of_a_service_is_no_setting() {
        for name in [
            "TOLLGATE_SERVICE_HOST",
            "TOLLGATE_SERVICE_PORT",
            "TOLLGATE_SERVICE_PORT_HTTP",
            "TOLLGATE_PORT",
            "TOLLGATE_PORT_8080_TCP",
            "TOLLGATE_PORT_8080_TCP_ADDR",
            "TOLLGATE_ADMIN_SERVICE_HOST",
            "TOLLGATE_ADMIN_PORT_8090_TCP_PROTO",
        ] {
            assert_eq!(report("", &[(name, "tcp://10.0.0.1:8080")]), "", "{name}");
        }
        assert_ne!(report("", &[("TOLLGATE_NODE__PORT", "1")]), "");
    }

    #[test]
    fn a_bottomless_variable_is_refused() {
        let name = format!("TOLLGATE_A{}", "__A".repeat(100_000));
        assert!(report("", &[(&name, "1")]).starts_with("nested too deep"));
    }

    proptest! {
        #[test]
        fn any_number_reads_the_same_from_file_environment_and_flag(timeout in 0..100_000u64) {
            let file = Document::parse(&format!("[ledger]\ntimeout_ms = {timeout}"), Format::Toml).unwrap();
            let text = timeout.to_string();
            let environment = Document::empty().with_environment([("TOLLGATE_LEDGER__TIMEOUT_MS", &text)]);
            let flag = Document::empty().with_flags([("ledger.timeout_ms", &text)]);
            let from_file = file.read().ok();
            prop_assert_eq!(from_file.is_some(), (1..=60_000).contains(&timeout));
            prop_assert_eq!(&environment.read().ok(), &from_file);
            prop_assert_eq!(&flag.read().ok(), &from_file);
        }

        #[test]
        fn no_environment_breaks_the_reader(
            variables in prop::collection::vec(("TOLLGATE_(NODE|LEDGER|APPS|COST|_|[A-Z])?(__[A-Z_.]{0,5}){0,4}", ".{0,8}"), 0..6),
        ) {
            let _ = Document::empty().with_environment(variables).read();
        }
    }
}
