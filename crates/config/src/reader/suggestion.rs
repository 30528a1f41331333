//! What a misspelt key was probably meant to be.

/// Longer keys are not compared: the comparison is quadratic.
const MAX_COMPARED: usize = 64;

/// The nearest of `known`, if it is near enough to be meant.
pub(super) fn nearest<'k>(key: &str, known: &[&'k str]) -> Option<&'k str> {
    if key.len() > MAX_COMPARED {
        return None;
    }
    let key: Vec<char> = key.to_lowercase().chars().collect();
    let measured = known.iter().map(|&candidate| {
        let chars: Vec<char> = candidate.to_lowercase().chars().collect();
        let is_near = |distance: &usize| *distance <= (chars.len().max(key.len()) / 3).max(1);
        (Some(distance(&key, &chars)).filter(is_near), candidate)
    });
    measured
        .filter_map(|(distance, candidate)| Some((distance?, candidate)))
        .min()
        .map(|(_, candidate)| candidate)
}

/// A variable written with one underscore where two separate a table from its key: `ledger_url`.
pub(super) fn with_separator(key: &str, known: &[&str]) -> Option<String> {
    known.iter().find_map(|table| {
        let rest = key.strip_prefix(table)?.strip_prefix('_')?;
        (!rest.is_empty()).then(|| format!("{table}.{rest}"))
    })
}

/// How many letters must be put in, left out, changed or swapped with their neighbour.
fn distance(a: &[char], b: &[char]) -> usize {
    let mut before_last: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for (i, &x) in a.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, &y) in b.iter().enumerate() {
            let changed = last[j] + usize::from(x != y);
            let mut cost = changed.min(last[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && x == b[j - 1] && a[i - 1] == y {
                cost = cost.min(before_last[j - 1] + 1);
            }
            row.push(cost);
        }
        before_last = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const KEYS: [&str; 4] = ["burst_quota", "guaranteed_quota", "id", "cluster"];

    #[test]
    fn finds_what_was_meant() {
        assert_eq!(nearest("brust_quota", &KEYS), Some("burst_quota"));
        assert_eq!(nearest("burst-quota", &KEYS), Some("burst_quota"));
        assert_eq!(nearest("guarantee_quota", &KEYS), Some("guaranteed_quota"));
        assert_eq!(nearest("ID", &KEYS), Some("id"));
        assert_eq!(nearest("clusters", &KEYS), Some("cluster"));
        assert_eq!(nearest("colour", &KEYS), None);
        assert_eq!(nearest("", &KEYS), None);
        assert_eq!(nearest(&"x".repeat(1_000_000), &KEYS), None);
    }

    #[test]
    fn one_underscore_is_seen() {
        assert_eq!(with_separator("ledger_url", &["node", "ledger"]), Some("ledger.url".into()));
        assert_eq!(with_separator("ledger_", &["ledger"]), None);
        assert_eq!(with_separator("other_url", &["ledger"]), None);
    }

    proptest! {
        #[test]
        fn distance_is_a_distance(a in "[a-c]{0,8}", b in "[a-c]{0,8}") {
            let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
            prop_assert_eq!(distance(&a, &b), distance(&b, &a));
            prop_assert_eq!(distance(&a, &b) == 0, a == b);
            prop_assert!(distance(&a, &b) >= a.len().abs_diff(b.len()));
            prop_assert!(distance(&a, &b) <= a.len().max(b.len()));
        }
    }
}
