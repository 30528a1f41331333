//! Walks a tree and collects everything that is wrong with it.
//!
//! A [`Table`] remembers the keys it was asked for: those are the keys there are. Whatever else it holds is a
//! mistake, and the nearest of them what was probably meant. So a key is written down once, where it is read.

mod field;
mod shown;
mod suggestion;

pub(crate) use field::{Field, Reading};

use crate::error::{Error, Errors, Problem};
use crate::path;
use crate::source::{MAX_DEPTH, Origin, Origins, variable};
use serde_json::{Map, Value};
use std::cell::RefCell;

/// Where errors are gathered.
pub(crate) struct Report<'a> {
    errors: RefCell<Errors>,
    origins: &'a Origins,
    /// What was asked for, where nothing is read but only that is wanted.
    asked: Option<RefCell<Vec<Asked>>>,
}

/// A key that was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Asked {
    /// Where, with `[]` for any element of a list.
    pub(crate) path: String,
    /// What would be accepted.
    pub(crate) expected: String,
    /// Whether it must be there.
    pub(crate) is_required: bool,
}

impl<'a> Report<'a> {
    /// A report that starts with the faults found before.
    pub(crate) fn new(origins: &'a Origins, faults: Errors) -> Self {
        Self { errors: RefCell::new(faults), origins, asked: None }
    }

    /// A report for finding out which keys there are: every value is absent, every list has one element, and errors
    /// mean nothing.
    pub(crate) fn of_keys(origins: &'a Origins) -> Self {
        Self { asked: Some(RefCell::default()), ..Self::new(origins, Errors::default()) }
    }

    /// The keys that were asked for, in that order.
    pub(crate) fn into_keys(self) -> Vec<Asked> {
        self.asked.map(RefCell::into_inner).unwrap_or_default()
    }

    fn is_of_keys(&self) -> bool {
        self.asked.is_some()
    }

    /// Adds an error about the value at `path`.
    pub(crate) fn add(
        &self,
        path: String,
        problem: Problem,
        value: Option<&Value>,
        expected: Option<String>,
    ) {
        let value = value.map(|value| shown::shown(&path, value));
        let origin = self.origins.within(&path).next().map(|(_, origin)| origin.clone());
        self.errors.borrow_mut().push(Error { path, problem, value, expected, origin });
    }

    /// Counts an error that would not be listed any more, to spare the work of describing it.
    fn count_unlisted(&self) -> bool {
        self.errors.borrow_mut().count_unlisted()
    }

    /// `meant` if nothing is wrong.
    pub(crate) fn conclude<T>(self, meant: Option<T>) -> Result<T, Errors> {
        let errors = self.errors.into_inner();
        match meant {
            Some(meant) if errors.is_empty() => Ok(meant),
            _ => Err(errors),
        }
    }

    fn came_as_text(&self, path: &str) -> bool {
        self.origins.of(path).is_some()
    }
}

/// A table being read.
pub(crate) struct Table<'a> {
    path: String,
    /// None if the table is not there: every key of it is absent.
    entries: Option<&'a Map<String, Value>>,
    known: Vec<&'static str>,
    report: &'a Report<'a>,
}

impl<'a> Table<'a> {
    /// The table that is the whole tree.
    pub(crate) fn root(tree: &'a Value, report: &'a Report<'a>) -> Self {
        if is_deeper_than(tree, MAX_DEPTH) {
            let expected = Some(format!("at most {MAX_DEPTH} tables and lists within one another"));
            report.add(String::new(), Problem::TooLarge("nested too deep"), None, expected);
        }
        let entries = tree.as_object();
        if entries.is_none() {
            report.add(String::new(), Problem::WrongType, Some(tree), Some("a table".into()));
        }
        Self::new(String::new(), entries, report)
    }

    pub(crate) fn new(path: String, entries: Option<&'a Map<String, Value>>, report: &'a Report<'a>) -> Self {
        Self { path, entries, known: Vec::new(), report }
    }

    /// Where this table is.
    pub(crate) fn path(&self) -> &str {
        &self.path
    }

    /// The value of a key that may be left out.
    pub(crate) fn field(&mut self, key: &'static str) -> Field<'_, 'a> {
        self.known.push(key);
        Field::new(&self.path, key, self.get(key), self.report)
    }

    /// The value of a key that must be there.
    pub(crate) fn required(&mut self, key: &'static str) -> Field<'_, 'a> {
        self.field(key).required()
    }

    /// The table of that name; an empty one if there is none.
    pub(crate) fn table(&mut self, key: &'static str) -> Table<'a> {
        let report = self.report;
        let empty = Table::new(path::join(&self.path, key), None, report);
        self.field(key).table().or(empty).unwrap_or_else(|| Table::new(String::new(), None, report))
    }

    /// Every key and value, for a table whose keys are data.
    pub(crate) fn entries(&self) -> impl Iterator<Item = (&'a str, Field<'_, 'a>)> {
        self.sorted_keys()
            .into_iter()
            .map(|key| (key, Field::new(&self.path, key, self.get(key), self.report).required()))
    }

    /// Adds an error about the value of `key`.
    pub(crate) fn fault(&self, key: &str, problem: Problem, expected: impl Into<String>) {
        self.report.add(path::join(&self.path, key), problem, self.get(key), Some(expected.into()));
    }

    /// Whether the key has a value, right or wrong. For finding out which keys there are, all have.
    pub(crate) fn has(&self, key: &str) -> bool {
        self.report.is_of_keys() || self.get(key).is_some()
    }

    /// Reports every key that nobody asked for.
    pub(crate) fn finish(self) {
        for key in self.sorted_keys() {
            if !self.known.contains(&key) {
                self.unknown(key, &self.known);
            }
        }
    }

    /// Reports a key that is none of `known`, once for every source outside the file that set it.
    pub(crate) fn unknown(&self, key: &str, known: &[&'static str]) {
        if self.report.count_unlisted() {
            return;
        }
        let path = path::join(&self.path, key);
        let nearest = suggestion::nearest(key, known);
        let outside: Vec<(&str, &Origin)> = self.report.origins.within(&path).collect();
        if outside.is_empty() {
            return self.unknown_at(path, nearest.map(ToOwned::to_owned), known);
        }
        for (set, origin) in outside {
            let meant = nearest.map(|near| path::join(&self.path, near) + &set[path.len()..]);
            let suggestion = match origin {
                Origin::Flag => meant,
                Origin::Variable(_) => meant
                    .or_else(|| suggestion::with_separator(&path, known).filter(|_| self.path.is_empty()))
                    .map(|meant| variable(&meant)),
            };
            self.unknown_at(set.to_owned(), suggestion, known);
        }
    }

    /// The value is not repeated: under a misspelt key it may be a secret.
    fn unknown_at(&self, path: String, suggestion: Option<String>, known: &[&str]) {
        let expected = suggestion.is_none().then(|| format!("one of {}", known.join(", ")));
        self.report.add(path, Problem::UnknownKey { suggestion }, None, expected);
    }

    /// An empty value (`null`, or YAML's `key:`) is none.
    fn get(&self, key: &str) -> Option<&'a Value> {
        self.entries?.get(key).filter(|value| !value.is_null())
    }

    /// Sorted here, so that reports are the same whatever order the map keeps.
    fn sorted_keys(&self) -> Vec<&'a str> {
        let mut keys: Vec<&str> = self.entries.into_iter().flat_map(Map::keys).map(String::as_str).collect();
        keys.sort_unstable();
        keys
    }
}

/// Goes no deeper than `limit` itself.
fn is_deeper_than(value: &Value, limit: usize) -> bool {
    match value {
        Value::Array(items) => limit == 0 || items.iter().any(|item| is_deeper_than(item, limit - 1)),
        Value::Object(table) => limit == 0 || table.values().any(|item| is_deeper_than(item, limit - 1)),
        _ => false,
    }
}
