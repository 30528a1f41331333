use super::{MAX_BYTES, MAX_DEPTH};
use crate::error::{Error, Errors, Problem};
use serde_json::{Number, Value};
use serde_saphyr::budget::BudgetBreach;
use serde_saphyr::options::NonFiniteFloatPolicy;
use serde_saphyr::{MessageFormatter, UserMessageFormatter};
use std::borrow::Cow;
use std::path::Path;

/// How a text is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// `.toml`
    Toml,
    /// `.yaml`, `.yml`
    Yaml,
    /// `.json`
    Json,
}

impl Format {
    /// The format that a file's extension names.
    pub fn of(path: &Path) -> Result<Self, Errors> {
        let extension = path.extension().and_then(|e| e.to_str()).unwrap_or_default().to_ascii_lowercase();
        match extension.as_str() {
            "toml" => Ok(Self::Toml),
            "yaml" | "yml" => Ok(Self::Yaml),
            "json" => Ok(Self::Json),
            _ => Err(Error {
                value: Some(format!("{extension:?}")),
                expected: Some(".toml, .yaml, .yml or .json".into()),
                ..Error::of_document(Problem::Malformed("unknown file extension"))
            }
            .into()),
        }
    }

    /// The tree that a text stands for.
    pub(super) fn parse(self, text: &str) -> Result<Value, Errors> {
        let tree = match self {
            Self::Toml => parse_toml(text),
            Self::Yaml => parse_yaml(text),
            Self::Json => parse_json(text),
        }?;
        // An empty file says nothing, and so every default holds.
        Ok(if tree.is_null() { Value::Object(serde_json::Map::new()) } else { tree })
    }
}

fn parse_toml(text: &str) -> Result<Value, Errors> {
    let table: toml::Table = toml::from_str(text).map_err(|error| {
        let at = error.span().map(|span| position(text, span.start));
        syntax(error.message(), at)
    })?;
    Ok(Value::Object(table.into_iter().map(|(key, value)| (key, from_toml(value))).collect()))
}

/// TOML's parser refuses to nest deeper than 80, so the recursion is bounded.
fn from_toml(value: toml::Value) -> Value {
    match value {
        toml::Value::String(text) => Value::String(text),
        toml::Value::Integer(number) => Value::from(number),
        // JSON has no word for these: as text they are refused wherever a number is expected.
        toml::Value::Float(number) => Number::from_f64(number)
            .map_or_else(|| Value::String(number.to_string().to_lowercase()), Value::Number),
        toml::Value::Boolean(flag) => Value::Bool(flag),
        toml::Value::Datetime(moment) => Value::String(moment.to_string()),
        toml::Value::Array(items) => items.into_iter().map(from_toml).collect(),
        toml::Value::Table(table) => table.into_iter().map(|(key, value)| (key, from_toml(value))).collect(),
    }
}

fn parse_yaml(text: &str) -> Result<Value, Errors> {
    serde_saphyr::from_str_with_options(text, yaml_options()).map_err(|error| {
        let at = error.location().map(|at| (at.line(), at.column()));
        syntax(&yaml_reason(&error), at)
    })
}

/// What the parser says to users, in our words where it speaks of its own settings.
fn yaml_reason(error: &serde_saphyr::Error) -> Cow<'_, str> {
    use serde_saphyr::Error as Yaml;
    match error {
        Yaml::AliasError { error, .. } => yaml_reason(error),
        Yaml::Budget { breach: BudgetBreach::Documents { .. }, .. } => "more than one document".into(),
        Yaml::Budget { .. }
        | Yaml::AliasReplayLimitExceeded { .. }
        | Yaml::AliasReplayStackDepthExceeded { .. }
        | Yaml::AliasReplayCounterOverflow { .. } => {
            "the document is too large, nested too deep, or unfolds to too much".into()
        }
        _ => UserMessageFormatter.format_message(error),
    }
}

/// A few lines of aliases can stand for more values than there is memory. What they unfold to is bounded here,
/// in nodes and in bytes; the ratio of aliases to anchors is not, because a thousand applications may well
/// share one anchor.
fn yaml_options() -> serde_saphyr::Options {
    serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_events: 4_000_000,
            max_nodes: 2_000_000,
            max_merge_keys: 100_000,
            max_aliases: 100_000,
            max_depth: MAX_DEPTH * 2,
            max_recorded_anchor_events: 100_000,
            max_documents: 1,
            max_total_scalar_bytes: 4 * MAX_BYTES,
            enforce_alias_anchor_ratio: false,
        },
        alias_limits: serde_saphyr::alias_limits! {
            max_total_replayed_events: 1_000_000,
            max_replay_stack_depth: MAX_DEPTH,
        },
        // Not kept, and so as many of them in a row as anyone likes.
        emit_comments: false,
        // An application may be called `no`.
        strict_booleans: true,
        non_finite_float_policy: NonFiniteFloatPolicy::AsString,
        with_snippet: false,
    }
}

fn parse_json(text: &str) -> Result<Value, Errors> {
    serde_json::from_str(text).map_err(|error| {
        let (line, column) = (error.line(), error.column());
        let message = error.to_string();
        let position = format!(" at line {line} column {column}");
        syntax(message.strip_suffix(&position).unwrap_or(&message), Some((line as u64, column as u64)))
    })
}

fn syntax(message: &str, at: Option<(u64, u64)>) -> Errors {
    let message = message.lines().collect::<Vec<_>>().join(", ");
    Error::of_document(Problem::Syntax { message, at }).into()
}

/// Line and column, from 1, of a byte; columns count characters.
fn position(text: &str, byte: usize) -> (u64, u64) {
    let before = text.get(..byte).unwrap_or(text);
    let line = before.matches('\n').count() + 1;
    let column = before.chars().rev().take_while(|&c| c != '\n').count() + 1;
    (line as u64, column as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn message(format: Format, text: &str) -> String {
        format.parse(text).unwrap_err().to_string()
    }

    #[test]
    fn one_tree_from_three_formats() {
        let toml = "[node]\nid = 'a'\n[[apps]]\nid = 'no'\nborrow = true\nrepay_share = 0.5";
        let yaml = "node: {id: a}\napps:\n  - id: no\n    borrow: true\n    repay_share: 0.5";
        let json = r#"{"node": {"id": "a"}, "apps": [{"id": "no", "borrow": true, "repay_share": 0.5}]}"#;
        let tree = json!({"node": {"id": "a"}, "apps": [{"id": "no", "borrow": true, "repay_share": 0.5}]});
        assert_eq!(Format::Toml.parse(toml).unwrap(), tree);
        assert_eq!(Format::Yaml.parse(yaml).unwrap(), tree);
        assert_eq!(Format::Json.parse(json).unwrap(), tree);
    }

    #[test]
    fn an_empty_text_is_an_empty_table() {
        for text in ["", "# nothing\n"] {
            assert_eq!(Format::Toml.parse(text).unwrap(), json!({}));
            assert_eq!(Format::Yaml.parse(text).unwrap(), json!({}));
        }
    }

    #[test]
    fn a_syntax_error_has_a_line_and_a_column() {
        let toml = message(Format::Toml, "[node]\nid = \n");
        assert!(toml.starts_with("line 2, column 6: "), "{toml}");
        let yaml = message(Format::Yaml, "node:\n  id: [a\nx: 1\n");
        assert!(yaml.starts_with("line 3, column "), "{yaml}");
        let json = message(Format::Json, "{\n  \"a\": }");
        assert_eq!(json, "line 2, column 8: expected value");
        let twice = message(Format::Yaml, "a: 1\na: 2");
        assert!(twice.starts_with("line 2, column 1: "), "{twice}");
        assert!(!twice.contains("at line") && !twice.contains('\n'), "{twice}");
        assert!(message(Format::Toml, "a = 1\na = 2").starts_with("line 2, column 1: "));
    }

    #[test]
    fn numbers_that_are_none_are_text() {
        assert_eq!(Format::Toml.parse("a = nan\nb = -inf").unwrap(), json!({"a": "nan", "b": "-inf"}));
        assert!(Format::Yaml.parse("a: .nan").unwrap()["a"].is_string());
    }

    #[test]
    fn a_shared_anchor_is_welcome() {
        let apps = "  - {<<: *terms, id: a}\n".repeat(2_000);
        let tree = Format::Yaml.parse(&format!("x: &terms {{priority: 1}}\napps:\n{apps}")).unwrap();
        assert_eq!(tree["apps"][1_999], json!({"priority": 1, "id": "a"}));
    }

    #[test]
    fn comments_are_no_burden() {
        let comment = "# as much as one likes\n".repeat(1_000);
        let text = format!("{comment}apps:\n{comment}- id: a\n{comment}  priority: 1\n{comment}");
        assert_eq!(Format::Yaml.parse(&text).unwrap(), json!({"apps": [{"id": "a", "priority": 1}]}));
    }

    #[test]
    fn one_file_is_one_document() {
        assert_eq!(message(Format::Yaml, "a: 1\n---\nb: 2\n"), "line 2, column 1: more than one document");
    }

    #[test]
    fn aliases_of_aliases_are_refused() {
        let line = |level: u32| match level {
            0 => format!("a0: &a0 [{}]", "x, ".repeat(10)),
            _ => format!("a{level}: &a{level} [{}]", format!("*a{}, ", level - 1).repeat(10)),
        };
        let text = (0..12).map(line).collect::<Vec<_>>().join("\n");
        assert!(message(Format::Yaml, &text).ends_with("unfolds to too much"));
    }

    #[test]
    fn a_long_text_is_not_multiplied() {
        let text = format!("a: &a {}\nb: [{}]", "x".repeat(1_000_000), "*a, ".repeat(1_000));
        assert!(message(Format::Yaml, &text).ends_with("unfolds to too much"));
    }

    #[test]
    fn nesting_is_bounded() {
        for (format, text) in [
            (Format::Toml, format!("a = {}{}", "[".repeat(10_000), "]".repeat(10_000))),
            (Format::Yaml, format!("a: {}{}", "[".repeat(10_000), "]".repeat(10_000))),
            (Format::Json, format!("{}{}", "[".repeat(10_000), "]".repeat(10_000))),
            (Format::Yaml, (0..2_000).map(|depth| " ".repeat(depth) + "a:\n").collect()),
        ] {
            assert!(format.parse(&text).is_err(), "{format:?}");
        }
    }

    proptest! {
        #[test]
        fn no_text_breaks_a_parser(text in prop_oneof!["\\PC{0,60}", "[\\[\\]{}:=\"'&*<!#|>\\-,a1. \n]{0,60}"]) {
            for format in [Format::Toml, Format::Yaml, Format::Json] {
                if let Err(error) = format.parse(&text) {
                    prop_assert!(!error.to_string().contains('\n'));
                }
            }
        }
    }
}
