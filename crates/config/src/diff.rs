//! What changes between two configurations, as a reviewer would want to read it.

use crate::policy::Policy;
use crate::{Config, path};
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;
use std::fmt;

/// One difference. Paths name applications and clusters: `apps.video-service.burst_quota`.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    /// It was not there before.
    Added {
        /// Where.
        path: String,
        /// What it is now.
        after: Value,
    },
    /// It is there no longer.
    Removed {
        /// Where.
        path: String,
        /// What it was.
        before: Value,
    },
    /// It has another value.
    Changed {
        /// Where.
        path: String,
        /// What it was.
        before: Value,
        /// What it is now.
        after: Value,
    },
}

impl Change {
    /// Where the difference is.
    pub fn path(&self) -> &str {
        match self {
            Self::Added { path, .. } | Self::Removed { path, .. } | Self::Changed { path, .. } => path,
        }
    }

    /// The change as JSON: `change`, `path`, and `before` and `after` where they are.
    pub fn to_value(&self) -> Value {
        match self {
            Self::Added { path, after } => json!({"change": "added", "path": path, "after": after}),
            Self::Removed { path, before } => json!({"change": "removed", "path": path, "before": before}),
            Self::Changed { path, before, after } => {
                json!({"change": "changed", "path": path, "before": before, "after": after})
            }
        }
    }
}

/// `~ apps.video-service.burst_quota: 80000 -> 100000`, `+ apps.x`, `- apps.y`.
impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Added { path, after: Value::Object(_) } => write!(f, "+ {path}"),
            Self::Added { path, after } => write!(f, "+ {path}: {after}"),
            Self::Removed { path, before: Value::Object(_) } => write!(f, "- {path}"),
            Self::Removed { path, before } => write!(f, "- {path}: {before}"),
            Self::Changed { path, before, after } => write!(f, "~ {path}: {before} -> {after}"),
        }
    }
}

/// What must change in `old` to make it `new`, in order of paths; nothing if they are the same.
///
/// ```
/// use serde_json::json;
/// use tollgate_config::{Policy, diff};
///
/// let policy = |burst| {
///     Policy::from_value(&json!({
///         "apps": [{"id": "video-service", "guaranteed_quota": 20_000, "burst_quota": burst}],
///     }))
/// };
/// let changes = diff(&policy(80_000)?, &policy(100_000)?);
/// assert_eq!(changes.len(), 1);
/// assert_eq!(changes[0].to_string(), "~ apps.video-service.burst_quota: 80000 -> 100000");
/// # Ok::<(), tollgate_config::Errors>(())
/// ```
pub fn diff(old: &Policy, new: &Policy) -> Vec<Change> {
    let mut changes = Vec::new();
    compare("", &by_name(old), &by_name(new), &mut changes);
    changes
}

/// The same for whole configurations: settings first, then the policy. Passwords are not shown, but a change
/// of one is.
pub fn diff_config(old: &Config, new: &Config) -> Vec<Change> {
    let mut changes = Vec::new();
    let (before, after) = (old.settings.to_value(), new.settings.to_value());
    if let (Some(before), Some(after)) = (before.as_object(), after.as_object()) {
        compare("", before, after, &mut changes);
    }
    for key in old.settings.changed_secrets(&new.settings) {
        if !changes.iter().any(|change| change.path() == key) {
            let (before, after) = (json!("a hidden value"), json!("another hidden value"));
            changes.push(Change::Changed { path: key.into(), before, after });
        }
    }
    changes.extend(diff(&old.policy, &new.policy));
    changes
}

/// A policy with names for keys, so that an application is compared to itself wherever it stands.
fn by_name(policy: &Policy) -> Map<String, Value> {
    let clusters: Map<String, Value> =
        policy.clusters().iter().map(|(id, cluster)| (id.to_string(), cluster.to_map().into())).collect();
    let apps: Map<String, Value> =
        policy.apps().iter().map(|(id, app)| (id.to_string(), app.to_map(policy.prices()).into())).collect();
    Map::from_iter([
        ("clusters".into(), clusters.into()),
        ("apps".into(), apps.into()),
        ("cost".into(), policy.cost_map().into()),
    ])
}

fn compare(at: &str, old: &Map<String, Value>, new: &Map<String, Value>, changes: &mut Vec<Change>) {
    let empty = Map::new();
    // What has a name comes and goes as a whole; any other table key by key.
    let is_whole = matches!(at, "apps" | "clusters" | "upstreams" | "routes");
    let keys: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
    for key in keys {
        let path = path::join(at, key);
        match (present(old, key), present(new, key)) {
            (Some(Value::Object(old)), Some(Value::Object(new))) => compare(&path, old, new, changes),
            (Some(Value::Object(old)), None) if !is_whole => compare(&path, old, &empty, changes),
            (None, Some(Value::Object(new))) if !is_whole => compare(&path, &empty, new, changes),
            (Some(before), Some(after)) if before != after => {
                changes.push(Change::Changed { path, before: before.clone(), after: after.clone() });
            }
            (Some(before), None) => changes.push(Change::Removed { path, before: before.clone() }),
            (None, Some(after)) => changes.push(Change::Added { path, after: after.clone() }),
            _ => {}
        }
    }
}

fn present<'a>(table: &'a Map<String, Value>, key: &str) -> Option<&'a Value> {
    table.get(key).filter(|value| !value.is_null())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::tests::any_policy;
    use crate::source::{Document, Format};
    use proptest::prelude::*;

    fn config(text: &str) -> Config {
        Document::parse(text, Format::Toml).unwrap().read().unwrap()
    }

    fn lines(old: &str, new: &str) -> Vec<String> {
        diff_config(&config(old), &config(new)).iter().map(ToString::to_string).collect()
    }

    /// Makes the change in a tree by name.
    fn apply(tree: &mut Map<String, Value>, change: &Change) {
        let (parents, key) = change.path().rsplit_once('.').unwrap();
        let table = parents
            .split('.')
            .fold(tree, |table, key| table.entry(key).or_insert_with(|| json!({})).as_object_mut().unwrap());
        match change {
            Change::Added { after, .. } => assert_eq!(table.insert(key.into(), after.clone()), None),
            Change::Removed { before, .. } => assert_eq!(table.remove(key).as_ref(), Some(before)),
            Change::Changed { before, after, .. } => {
                assert_eq!(table.insert(key.into(), after.clone()).as_ref(), Some(before));
            }
        }
    }

    /// A table without its empty tables: taking the last price out leaves one.
    fn pruned(value: Value) -> Value {
        let Value::Object(table) = value else { return value };
        table
            .into_iter()
            .map(|(key, value)| (key, pruned(value)))
            .filter(|(_, value)| *value != json!({}))
            .collect()
    }

    #[test]
    fn reads_like_a_review() {
        let app = |id: &str, burst: u64| {
            format!("[[apps]]\nid = '{id}'\nguaranteed_quota = 100\nburst_quota = {burst}\n")
        };
        let old = app("video-service", 80_000) + &app("old", 100);
        let new = app("new", 100) + &app("video-service", 100_000) + "cost = {base = {PUT = 9}}\n";
        assert_eq!(
            lines(&old, &new),
            [
                "+ apps.new",
                "- apps.old",
                "~ apps.video-service.burst_quota: 80000 -> 100000",
                "+ apps.video-service.cost.base.PUT: 9",
            ]
        );
    }

    #[test]
    fn a_price_for_all_is_one_line() {
        let app = "[[apps]]\nid = 'a'\nguaranteed_quota = 1\nburst_quota = 1";
        let new = format!("cost.base.PUT = 6\n{app}");
        assert_eq!(lines(app, &new), ["~ cost.base.PUT: 5 -> 6"]);
    }

    #[test]
    fn a_new_password_is_seen_but_not_shown() {
        let ledger = |password: &str| format!("[ledger]\nurl = 'redis://:{password}@h'");
        assert_eq!(
            lines(&ledger("hunter2"), &ledger("hunter3")),
            ["~ ledger.url: \"a hidden value\" -> \"another hidden value\""]
        );
        for (key, text) in [
            ("admin.database", "[admin]\ndatabase = 'postgres://u:SECRET@h/db'"),
            ("identity.api_keys", "[identity]\napi_keys = [{secret = 'SECRET', app = 'a'}]"),
            ("resp.password", "[resp]\npassword = 'SECRET'"),
        ] {
            assert_eq!(
                lines(&text.replace("SECRET", "hunter-2"), &text.replace("SECRET", "hunter-3")),
                [format!("~ {key}: \"a hidden value\" -> \"another hidden value\"")]
            );
        }
        assert_eq!(lines("", &ledger("hunter2")), ["+ ledger.url: \"redis://:***@h\""]);
        assert_eq!(lines(&ledger("hunter2"), &ledger("hunter2")), [""; 0]);
    }

    proptest! {
        #[test]
        fn nothing_differs_from_itself(policy in any_policy()) {
            prop_assert_eq!(diff(&policy, &policy), vec![]);
        }

        #[test]
        fn the_changes_are_all_there_is(old in any_policy(), new in any_policy()) {
            let mut tree = by_name(&old);
            let changes = diff(&old, &new);
            for change in &changes {
                apply(&mut tree, change);
            }
            prop_assert_eq!(pruned(tree.into()), pruned(by_name(&new).into()));
            prop_assert_eq!(changes.is_empty(), old == new);
            prop_assert_eq!(diff(&new, &old).len(), changes.len());
        }
    }
}
