//! Paths into a document, as errors and diffs show them: `apps[2].cost.base.GET`.

/// A key longer than this is cut when shown.
const MAX_SHOWN: usize = 64;

/// The path of `key` in the table at `parent`.
pub(crate) fn join(parent: &str, key: &str) -> String {
    let key = shown(key);
    if parent.is_empty() { key } else { format!("{parent}.{key}") }
}

/// The path of an element of the list at `parent`.
pub(crate) fn item(parent: &str, index: usize) -> String {
    format!("{parent}[{index}]")
}

/// A bare key as it is; any other quoted and escaped, so that it cannot pose as a path or reach a terminal.
fn shown(key: &str) -> String {
    let is_bare = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    if !key.is_empty() && key.len() <= MAX_SHOWN * 2 && key.chars().all(is_bare) {
        return key.to_owned();
    }
    format!("{:?}", shortened(key))
}

/// The first characters of a text, marked if there are more.
pub(crate) fn shortened(text: &str) -> String {
    match text.char_indices().nth(MAX_SHOWN) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_read_like_the_file() {
        assert_eq!(join("", "apps"), "apps");
        assert_eq!(join(&item("apps", 2), "burst_quota"), "apps[2].burst_quota");
    }

    #[test]
    fn strange_keys_are_quoted_and_cut() {
        assert_eq!(join("a", "b.c"), r#"a."b.c""#);
        assert_eq!(join("a", ""), r#"a."""#);
        assert_eq!(join("a", "\u{1b}[31m"), r#"a."\u{1b}[31m""#);
        assert!(join("a", &"x".repeat(1_000)).len() < 100);
    }
}
