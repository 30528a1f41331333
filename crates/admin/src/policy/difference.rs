//! What differs between two states of an application or a cluster, field by field.

use serde::Serialize;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use utoipa::ToSchema;

/// One difference.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub(crate) struct Difference {
    /// `app` or `cluster`.
    pub(crate) kind: String,
    /// Which one.
    pub(crate) id: String,
    /// Which of its fields, like `cost.base.GET`; empty if it came or went as a whole.
    pub(crate) field: String,
    /// What it was: anything, null if it was not there.
    pub(crate) before: Value,
    /// What it is: anything, null if it is gone.
    pub(crate) after: Value,
}

/// What differs between two states of one thing, field by field.
pub(crate) fn differences(
    kind: &str,
    id: &str,
    before: Option<&Value>,
    after: Option<&Value>,
) -> Vec<Difference> {
    let whole = |before: Value, after: Value| {
        vec![Difference { kind: kind.into(), id: id.into(), field: String::new(), before, after }]
    };
    match (before, after) {
        (None, None) => Vec::new(),
        (None, Some(after)) => whole(Value::Null, after.clone()),
        (Some(before), None) => whole(before.clone(), Value::Null),
        (Some(before), Some(after)) => {
            let (mut old, mut new) = (BTreeMap::new(), BTreeMap::new());
            flatten("", before, &mut old);
            flatten("", after, &mut new);
            let fields: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
            let value =
                |of: &BTreeMap<String, Value>, field: &String| of.get(field).cloned().unwrap_or_default();
            let differing = fields.into_iter().filter(|field| old.get(*field) != new.get(*field));
            let difference = |field: &String| Difference {
                kind: kind.into(),
                id: id.into(),
                field: field.clone(),
                before: value(&old, field),
                after: value(&new, field),
            };
            differing.map(difference).collect()
        }
    }
}

fn flatten(at: &str, value: &Value, into: &mut BTreeMap<String, Value>) {
    let Value::Object(map) = value else {
        into.insert(at.to_owned(), value.clone());
        return;
    };
    for (key, value) in map {
        let path = if at.is_empty() { key.clone() } else { format!("{at}.{key}") };
        flatten(&path, value, into);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_what_differs_is_told() {
        let before = json!({"a": 1, "cost": {"base": {"GET": 1}}, "c": 3});
        let after = json!({"a": 2, "cost": {"base": {"GET": 1, "PUT": 9}}, "d": 4});
        let told = differences("app", "x", Some(&before), Some(&after));
        let fields: Vec<&str> = told.iter().map(|difference| difference.field.as_str()).collect();
        assert_eq!(fields, ["a", "c", "cost.base.PUT", "d"]);
        assert_eq!(differences("app", "x", Some(&before), Some(&before)), []);
        assert_eq!(differences("app", "x", None, Some(&after)).len(), 1);
    }
}
