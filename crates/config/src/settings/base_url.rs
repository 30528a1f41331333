//! The address of another system, to which paths are added.

use crate::error::Problem;

pub(super) const EXPECTED: &str = "http:// or https://, a host, and a path if there is one";

/// Passwords have no place here, as it is shown to whoever may see the configuration.
pub(super) fn parse(text: &str) -> Result<String, Problem> {
    let rest = text.strip_prefix("http://").or_else(|| text.strip_prefix("https://")).unwrap_or_default();
    let is_plain = text.bytes().all(|byte| byte.is_ascii_graphic()) && !text.contains(['@', '?', '#']);
    if !is_plain || rest.is_empty() || rest.starts_with(['/', ':']) {
        return Err(Problem::Malformed("not an address"));
    }
    Ok(text.trim_end_matches('/').to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_checked() {
        for wrong in
            ["", "127.0.0.1:4318", "http://", "https:///x", "grpc://h:4317", "http://u:p@h", "http://a b"]
        {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
        assert_eq!(parse("http://[::1]:4318/").unwrap(), "http://[::1]:4318");
        assert_eq!(parse("https://otel.example.com/tollgate").unwrap(), "https://otel.example.com/tollgate");
    }
}
