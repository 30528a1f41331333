//! Queries, as they came.

/// The value of a parameter, percent-encoded as it came.
pub(crate) fn value<'a>(query: &'a str, name: &str) -> Option<&'a str> {
    query.split('&').find_map(|pair| pair.strip_prefix(name)?.strip_prefix('='))
}

#[cfg(test)]
mod tests {
    use super::value;

    #[test]
    fn finds_whole_names() {
        assert_eq!(value("a=1&key=2&b", "key"), Some("2"));
        assert_eq!(value("keys=1&akey=2&key", "key"), None);
        assert_eq!(value("key=", "key"), Some(""));
    }
}
