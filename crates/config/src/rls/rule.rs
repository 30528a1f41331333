use super::{is_plain, key};
use crate::error::Problem;
use crate::reader::{Reading, Table};
use serde_json::{Map, Value, json};
use std::fmt;

/// The most rules.
const MAX_RULES: usize = 10_000;

/// The most entries that a rule looks at.
const MAX_ENTRIES: usize = 32;

/// Whose the descriptors are that have certain entries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// The domain of the call; none for any.
    pub domain: Option<String>,
    /// The entries that a descriptor must have: key, and value unless any will do.
    pub entries: Vec<(String, Option<String>)>,
    /// Whose it is; none if it limits nothing.
    pub app: Option<Name>,
}

/// The name of an application, where `{key}` stands for the value of an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name {
    parts: Vec<Part>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Text(String),
    Value(String),
}

impl Name {
    const EXPECTED: &'static str =
        "the name of an application, in which {key} stands for the value of an entry";

    /// The name that `text` stands for, if its braces are in order.
    pub fn new(text: &str) -> Option<Self> {
        let mut parts = Vec::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once('{') {
            let (key, after) = after.split_once('}')?;
            parts.extend((!before.is_empty()).then(|| Part::Text(before.to_owned())));
            parts.push(Part::Value(is_plain(key).then(|| key.to_owned())?));
            rest = after;
        }
        parts.extend((!rest.is_empty()).then(|| Part::Text(rest.to_owned())));
        let is_name = |part: &Part| match part {
            Part::Text(text) => text.bytes().all(|c| c.is_ascii_alphanumeric() || c == b'_' || c == b'-'),
            Part::Value(_) => true,
        };
        let is_right = !parts.is_empty() && text.len() <= super::MAX_TEXT && parts.iter().all(is_name);
        is_right.then_some(Self { parts })
    }

    /// The key, if the name is the value of one entry and nothing else.
    pub fn key(&self) -> Option<&str> {
        match self.parts.as_slice() {
            [Part::Value(key)] => Some(key),
            _ => None,
        }
    }

    /// The name with the values of entries in it.
    pub fn fill<'v>(&self, value: impl Fn(&str) -> Option<&'v str>) -> Option<String> {
        let mut name = String::new();
        for part in &self.parts {
            match part {
                Part::Text(text) => name.push_str(text),
                Part::Value(key) => name.push_str(value(key)?),
            }
        }
        Some(name)
    }

    fn keys(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().filter_map(|part| match part {
            Part::Text(_) => None,
            Part::Value(key) => Some(key.as_str()),
        })
    }

    fn parse(text: &str) -> Result<Self, Problem> {
        Self::new(text).ok_or(Problem::Malformed("not a name"))
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.parts.iter().try_for_each(|part| match part {
            Part::Text(text) => f.write_str(text),
            Part::Value(key) => write!(f, "{{{key}}}"),
        })
    }
}

impl Rule {
    fn read(mut table: Table<'_>) -> Option<Self> {
        let domain = table.field("domain").text(super::KEY, domain).map(Some).or(None);
        let entries = read_entries(&table.table("match"));
        let unlimited = table.field("unlimited").flag().or(false);
        let app = read_app(&mut table, unlimited.unwrap_or(true)).map(Some).or(None);
        if entries.as_ref().is_some_and(|entries| !(1..=MAX_ENTRIES).contains(&entries.len())) {
            let expected = format!("1 to {MAX_ENTRIES} entries");
            table.fault("match", Problem::Malformed("wrong number of entries"), expected);
        }
        if let (Some(entries), Some(Some(app))) = (&entries, &app) {
            let is_missing = |wanted: &&str| !entries.iter().any(|(key, _)| key == wanted);
            if let Some(missing) = app.keys().find(is_missing) {
                let problem =
                    Problem::Conflict(format!("stands for an entry that need not be there: {missing}"));
                table.fault("app", problem, "keys that are in match");
            }
        }
        table.finish();
        Some(Self { domain: domain?, entries: entries?, app: app? })
    }

    pub(super) fn to_value(&self) -> Value {
        let entries: Map<String, Value> = self
            .entries
            .iter()
            .map(|(key, value)| (key.clone(), json!(value.as_deref().unwrap_or("*"))))
            .collect();
        json!({ "domain": self.domain, "match": entries, "app": self.app.as_ref().map(ToString::to_string), "unlimited": self.app.is_none() })
    }
}

/// The application that a rule must name, unless it says that there is no limit.
fn read_app(table: &mut Table<'_>, unlimited: bool) -> Reading<Name> {
    if !unlimited {
        return table.required("app").text(Name::EXPECTED, Name::parse);
    }
    if table.has("app") {
        let problem = Problem::Conflict("nothing limits what is unlimited".into());
        table.fault("unlimited", problem, "either that or app");
    }
    table.field("app").text(Name::EXPECTED, Name::parse)
}

fn domain(text: &str) -> Result<String, Problem> {
    if !is_plain(text) {
        return Err(Problem::Malformed("not a domain"));
    }
    Ok(text.to_owned())
}

pub(super) fn read_all(table: &mut Table<'_>) -> Option<Vec<Rule>> {
    // All are read, so that all errors are found.
    let tables = table.field("rules").tables(MAX_RULES).or(Vec::new())?;
    let rules: Vec<Option<Rule>> = tables.into_iter().map(Rule::read).collect();
    rules.into_iter().collect()
}

fn read_entries(table: &Table<'_>) -> Option<Vec<(String, Option<String>)>> {
    let mut entries = Vec::new();
    let mut wrong = false;
    for (name, field) in table.entries() {
        let value = field.text("a value, or * for any", |text| match text {
            "*" => Ok(None),
            text if text.len() <= super::MAX_TEXT => Ok(Some(text.to_owned())),
            _ => Err(Problem::TooLarge("too long")),
        });
        if key(name).is_err() {
            table.fault(name, Problem::Malformed("not the key of an entry"), super::KEY);
            wrong = true;
        }
        match value.right() {
            Some(value) => entries.push((name.to_owned(), value)),
            None => wrong = true,
        }
    }
    (!wrong).then_some(entries)
}
