//! How an offending value is repeated in an error: short, harmless, and never a secret.

use crate::path::shortened;
use serde_json::Value;

/// What stands where a secret was.
const HIDDEN: &str = "a hidden value";

/// Words that, in the name of a key, say that its value is not to be repeated.
const SECRET_WORDS: [&str; 9] =
    ["database", "url", "password", "passwd", "secret", "token", "credential", "credentials", "key"];

/// The value at `path`, fit for an error message.
pub(super) fn shown(path: &str, value: &Value) -> String {
    match value {
        Value::Array(items) => format!("a list of {}", items.len()),
        Value::Object(_) => "a table".into(),
        _ if is_secret(path) => HIDDEN.into(),
        Value::String(text) if has_credentials(text) => HIDDEN.into(),
        Value::String(text) => format!("{:?}", shortened(text)),
        plain => plain.to_string(),
    }
}

fn is_secret(path: &str) -> bool {
    path.split(|c: char| !c.is_ascii_alphanumeric())
        .any(|word| SECRET_WORDS.iter().any(|secret| word.eq_ignore_ascii_case(secret)))
}

/// An address with a password may stand in the wrong place: `ledger = "redis://user:password@host"`.
fn has_credentials(text: &str) -> bool {
    text.split_once("://").is_some_and(|(_, rest)| rest.contains('@'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn secrets_are_not_repeated() {
        let secret = json!("redis://u:hunter2@h/");
        for path in ["ledger.url", "ledger", "admin.jwt_secret", "a.password", "PASSWORD.x", "url[3].y"] {
            assert_eq!(shown(path, &secret), HIDDEN, "{path}");
        }
        assert_eq!(shown("a.password", &json!(12345)), HIDDEN);
        assert_eq!(shown("apps[0].fail_open_tokens", &json!(-1)), "-1");
    }

    #[test]
    fn values_are_short_and_harmless() {
        assert_eq!(shown("x", &json!("\u{1b}[2J")), r#""\u{1b}[2J""#);
        assert!(shown("x", &json!("y".repeat(10_000))).len() < 100);
        assert_eq!(shown("x", &json!([1, 2])), "a list of 2");
        assert_eq!(shown("x", &json!({"a": 1})), "a table");
        assert_eq!(shown("x", &json!(0.5)), "0.5");
    }
}
