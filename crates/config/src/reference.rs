//! The reference of the configuration: the keys that the reader asks for, their defaults as they are written, and their
//! meanings as the example tells them. Nothing of it is kept anywhere else, so it cannot be out of date.

use crate::policy::{DEFAULT_CLUSTER, Policy};
use crate::reader::{Asked, Report, Table};
use crate::settings::Settings;
use crate::source::{Document, Format, Origins};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Write;

/// A file with every key, and what it means.
const EXAMPLE: &str = include_str!("../../../examples/tollgate.toml");

const INTRODUCTION: &str = "\
# Configuration reference

Made by `tollgate reference` from the program's own reader; do not edit it. [examples/tollgate.toml](../examples/tollgate.toml) is a file with
every key, and `tollgate validate FILE` says everything that is wrong with one.

A file is TOML, YAML or JSON. A key outside of lists can also be set by the environment (`TOLLGATE_LEDGER__URL` is `url` in `[ledger]`) and on the command line
(`--set ledger.url=...`), each overriding what comes before it. Lists of texts are written with commas there. What can change while running is told in
[operations](operations.md#the-first-start-and-what-the-file-is-for).
";

/// A page of Markdown that tells every key: its default, what is accepted, and what it means.
///
/// ```
/// let page = tollgate_config::reference();
/// assert!(page.contains("| `sync_interval_ms` | `100` | a whole number from 1 to 60000 |"), "{page}");
/// ```
pub fn reference() -> String {
    let (keys, defaults, meanings) = (keys(), defaults(), Meanings::read(EXAMPLE));
    let is_table =
        |key: &Asked| keys.iter().any(|other| parent(&other.path).trim_end_matches("[]") == key.path);
    let mut page = INTRODUCTION.to_owned();
    let mut table = "";
    for key in keys.iter().filter(|key| !is_table(key)) {
        let parent = parent(&key.path);
        if parent != table {
            table = parent;
            page += &section(table, &meanings);
        }
        page += &row(key, &defaults, &meanings);
    }
    page
}

/// Every key there is, those of a table one after the other.
fn keys() -> Vec<Asked> {
    let origins = Origins::default();
    let report = Report::of_keys(&origins);
    let mut root = Table::new(String::new(), None, &report);
    // What they make of nothing is of no interest.
    let _ = Settings::read(&mut root);
    let _ = Policy::read(&mut root, &report);
    root.finish();
    let mut keys: Vec<Asked> = Vec::new();
    for key in report.into_keys() {
        let place = keys.iter().rposition(|other| parent(&other.path) == parent(&key.path));
        keys.insert(place.map_or(keys.len(), |last| last + 1), key);
    }
    keys
}

/// What holds where nothing is said, by paths without `[]`.
fn defaults() -> Value {
    let smallest = format!(
        "upstreams = [{{id = 'u', servers = ['http://u']}}]\nroutes = [{{upstream = 'u'}}]\nclusters = [{{id = '{DEFAULT_CLUSTER}'}}]\n\
         apps = [{{id = 'a', guaranteed_quota = 1, burst_quota = 1}}]"
    );
    let Ok(config) = Document::parse(&smallest, Format::Toml).and_then(Document::read) else {
        return Value::Null;
    };
    let mut tree = config.settings.to_value();
    let policy = config.policy.to_value();
    tree["upstreams"] = tree["upstreams"]["u"].take();
    if let Some(route) = config.settings.gateway.routes.first() {
        tree["routes"] = route.to_value();
        tree["routes"]["path"] = json!(route.path);
    }
    for list in ["clusters", "apps"] {
        tree[list] = policy[list][0].clone();
    }
    tree["cost"] = policy["cost"].clone();
    tree
}

fn section(table: &str, meanings: &Meanings) -> String {
    let name = plain(table);
    let heading = if table.ends_with("[]") { format!("[[{name}]]") } else { format!("[{name}]") };
    let about = meanings.tables.get(&name).map(|about| format!("{about}\n\n")).unwrap_or_default();
    format!("\n## `{heading}`\n\n{about}| key | default | accepted | meaning |\n|---|---|---|---|\n")
}

fn row(key: &Asked, defaults: &Value, meanings: &Meanings) -> String {
    let path = plain(&key.path);
    let name = path.rsplit('.').next().unwrap_or_default();
    let default = path.split('.').fold(defaults, |value, key| &value[key]);
    let default = match default {
        _ if key.is_required => "required".to_owned(),
        Value::Null => String::new(),
        Value::Number(number) => format!("`{}`", number.as_f64().unwrap_or_default()),
        other => format!("`{other}`"),
    };
    let mut row = format!("| `{name}` | {default} |");
    for cell in [key.expected.as_str(), meanings.of(&path)] {
        // Writing to a String cannot fail.
        let _ = write!(row, " {} |", cell.replace('|', "\\|").replace('*', "\\*"));
    }
    row + "\n"
}

/// The table that a key stands in, with `[]` if it is an element of a list.
fn parent(path: &str) -> &str {
    path.rsplit_once('.').map_or("", |(parent, _)| parent)
}

/// A path as TOML writes it.
fn plain(path: &str) -> String {
    path.replace("[]", "")
}

/// What the example says about keys and tables, by path. Keys that are commented out count as well.
#[derive(Default)]
struct Meanings {
    tables: BTreeMap<String, String>,
    keys: BTreeMap<String, String>,
}

impl Meanings {
    fn read(example: &str) -> Self {
        let mut meanings = Self::default();
        let (mut table, mut about) = (String::new(), String::new());
        for line in example.lines() {
            let line = line.strip_prefix("# ").unwrap_or(line);
            let (code, comment) = line.split_once(" # ").unwrap_or((line, ""));
            let code = code.trim();
            if let Some(name) = code.strip_prefix('[').and_then(|name| name.strip_suffix(']')) {
                name.trim_matches(['[', ']']).clone_into(&mut table);
                let about =
                    if comment.is_empty() { std::mem::take(&mut about) } else { comment.trim().to_owned() };
                if !about.is_empty() {
                    meanings.tables.entry(table.clone()).or_insert(about);
                }
            } else if let Some((key, _)) = code.split_once(" = ").filter(|(key, _)| is_key(key)) {
                let path = format!("{table}.{key}");
                meanings.keys.entry(path).or_insert_with(|| comment.trim().to_owned());
            } else if code.is_empty() {
                about.clear();
            } else {
                // A line of prose above a table.
                about = if about.is_empty() { line.to_owned() } else { format!("{about} {line}") };
            }
        }
        meanings
    }

    /// What a key means; the prices of an application mean what those of all mean.
    fn of(&self, path: &str) -> &str {
        let said = |path: &str| self.keys.get(path).filter(|meaning| !meaning.is_empty());
        said(path).or_else(|| said(path.strip_prefix("apps.")?)).map_or("", String::as_str)
    }
}

fn is_key(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == b'_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_tells_what_every_key_means() {
        let meanings = Meanings::read(EXAMPLE);
        let silent: Vec<String> =
            reference_rows().into_iter().filter(|path| meanings.of(path).is_empty()).collect();
        assert_eq!(silent, [""; 0]);
    }

    #[test]
    fn every_key_of_the_example_is_one() {
        let known: Vec<String> = keys().iter().map(|key| plain(&key.path)).collect();
        let meanings = Meanings::read(EXAMPLE);
        let unknown: Vec<&String> = meanings.keys.keys().filter(|path| !known.contains(path)).collect();
        assert_eq!(unknown, [""; 0]);
    }

    #[test]
    fn what_the_example_leaves_at_its_default_is_the_default() {
        let defaults = defaults();
        assert_eq!(defaults["clusters"]["capacity"], json!(1_000_000));
        assert_eq!(defaults["routes"]["path"], json!("/"));
        assert_eq!(defaults["gateway"]["timeouts"]["idle_ms"], json!(75_000));
        assert_eq!(defaults["cost"]["base"]["PUT"], json!(5));
    }

    /// The paths of what has a row.
    fn reference_rows() -> Vec<String> {
        let keys = keys();
        let is_table =
            |key: &&Asked| !keys.iter().any(|other| parent(&other.path).trim_end_matches("[]") == key.path);
        keys.iter().filter(is_table).map(|key| plain(&key.path)).collect()
    }
}
