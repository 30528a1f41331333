use super::{Asked, Report, Table};
use crate::error::Problem;
use crate::path;
use serde_json::Value;
use std::ops::RangeInclusive;
use tollgate_core::id::{self, IdError};
use tollgate_core::units::Ratio;

/// What came of reading a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reading<T> {
    /// It is not there, and need not be.
    Absent,
    /// It is wrong, and that has been reported.
    Wrong,
    /// It is right.
    Right(T),
}

impl<T> Reading<T> {
    /// The value, or `default` if there is none; `None` if it was wrong.
    pub(crate) fn or(self, default: T) -> Option<T> {
        match self {
            Self::Absent => Some(default),
            Self::Wrong => None,
            Self::Right(value) => Some(value),
        }
    }

    /// The value if it is there and right.
    pub(crate) fn right(self) -> Option<T> {
        match self {
            Self::Right(value) => Some(value),
            Self::Absent | Self::Wrong => None,
        }
    }

    /// The value turned into another.
    pub(crate) fn map<U>(self, turn: impl FnOnce(T) -> U) -> Reading<U> {
        match self {
            Self::Absent => Reading::Absent,
            Self::Wrong => Reading::Wrong,
            Self::Right(value) => Reading::Right(turn(value)),
        }
    }
}

/// One value of a table, about to be read.
pub(crate) struct Field<'t, 'a> {
    parent: &'t str,
    key: &'t str,
    value: Option<&'a Value>,
    is_required: bool,
    report: &'a Report<'a>,
}

impl<'t, 'a> Field<'t, 'a> {
    pub(super) fn new(
        parent: &'t str,
        key: &'t str,
        value: Option<&'a Value>,
        report: &'a Report<'a>,
    ) -> Self {
        Self { parent, key, value, is_required: false, report }
    }

    pub(super) fn required(self) -> Self {
        Self { is_required: true, ..self }
    }

    /// A whole number within bounds.
    pub(crate) fn whole(self, bounds: RangeInclusive<u64>) -> Reading<u64> {
        let expected = || format!("a whole number from {} to {}", bounds.start(), bounds.end());
        self.read_plain(expected, |value| match value.as_u64() {
            Some(number) if bounds.contains(&number) => Ok(number),
            None if !value.is_i64() => Err(Problem::WrongType),
            _ => Err(Problem::OutOfRange),
        })
    }

    /// A whole number within bounds, as a size.
    pub(crate) fn size(self, bounds: RangeInclusive<u32>) -> Reading<usize> {
        self.count(bounds).map(|number| number as usize)
    }

    /// A whole number within bounds, as a count.
    pub(crate) fn count(self, bounds: RangeInclusive<u32>) -> Reading<u32> {
        let whole = self.whole(u64::from(*bounds.start())..=u64::from(*bounds.end()));
        whole.map(|number| u32::try_from(number).unwrap_or(u32::MAX))
    }

    /// One word of a closed set.
    pub(crate) fn word<T: Copy>(self, words: &[(&str, T)]) -> Reading<T> {
        let quoted: Vec<String> = words.iter().map(|(word, _)| format!("{word:?}")).collect();
        let find = |text: &str| words.iter().find(|(word, _)| *word == text).map(|(_, value)| *value);
        self.text(&format!("one of {}", quoted.join(", ")), |text| {
            find(text).ok_or(Problem::Malformed("unknown word"))
        })
    }

    /// A share within bounds, exact to the ten-thousandth.
    pub(crate) fn ratio(self, bounds: RangeInclusive<f64>) -> Reading<Ratio> {
        let expected =
            || format!("a number from {} to {} with at most 4 decimals", bounds.start(), bounds.end());
        self.read_plain(expected, |value| {
            let number = value.as_f64().ok_or(Problem::WrongType)?;
            if !bounds.contains(&number) {
                return Err(Problem::OutOfRange);
            }
            let ratio = Ratio::from_f64(number).map_err(|_| Problem::OutOfRange)?;
            let is_exact = (ratio.as_f64() - number).abs() < 1e-9;
            if is_exact { Ok(ratio) } else { Err(Problem::Malformed("too many decimals")) }
        })
    }

    /// `true` or `false`.
    pub(crate) fn flag(self) -> Reading<bool> {
        self.read_plain(|| "true or false".into(), |value| value.as_bool().ok_or(Problem::WrongType))
    }

    /// The name of something.
    pub(crate) fn id<T>(self, make: impl FnOnce(&str) -> Result<T, IdError>) -> Reading<T> {
        let expected = || format!("1 to {} of A-Z a-z 0-9 _ -", id::MAX_LEN);
        self.read(expected, |value| make(as_text(value)?).map_err(Problem::BadId))
    }

    /// A text that stands for something.
    pub(crate) fn text<T>(
        self,
        expected: &str,
        parse: impl FnOnce(&'a str) -> Result<T, Problem>,
    ) -> Reading<T> {
        self.read(|| expected.into(), |value| parse(as_text(value)?))
    }

    /// A list of at most `limit` texts that stand for something; each that does not is reported. Outside the
    /// file it is written as one text with commas.
    pub(crate) fn texts<T>(
        self,
        limit: usize,
        expected: &str,
        parse: impl Fn(&str) -> Result<T, Problem>,
    ) -> Reading<Vec<T>> {
        let (path, report) = (path::join(self.parent, self.key), self.report);
        let came_as_text = report.came_as_text(&path);
        let list = || format!("a list of at most {limit}, each {expected}");
        let items = self.read(list, |value| match value {
            Value::String(text) if came_as_text => bounded(split_texts(text), limit),
            Value::Array(items) => bounded(items.clone(), limit),
            _ => Err(Problem::WrongType),
        });
        match items {
            Reading::Absent => Reading::Absent,
            Reading::Wrong => Reading::Wrong,
            Reading::Right(items) => texts_in(&path, &items, expected, parse, report),
        }
    }

    /// A table.
    pub(crate) fn table(self) -> Reading<Table<'a>> {
        let (path, report) = (path::join(self.parent, self.key), self.report);
        match self.read(|| "a table".into(), |value| value.as_object().ok_or(Problem::WrongType)) {
            Reading::Absent if report.is_of_keys() => Reading::Right(Table::new(path, None, report)),
            read => read.map(|entries| Table::new(path, Some(entries), report)),
        }
    }

    /// A list of at most `limit` tables; elements that are none are reported and left out.
    pub(crate) fn tables(self, limit: usize) -> Reading<Vec<Table<'a>>> {
        let (path, report) = (path::join(self.parent, self.key), self.report);
        let expected = || format!("a list of at most {limit} tables");
        let items = self.read(expected, |value| match value.as_array() {
            Some(items) if items.len() > limit => Err(Problem::TooLarge("too many")),
            Some(items) => Ok(items),
            None => Err(Problem::WrongType),
        });
        match items {
            Reading::Absent if report.is_of_keys() => {
                Reading::Right(vec![Table::new(format!("{path}[]"), None, report)])
            }
            items => items.map(|items| tables_in(&path, items, report)),
        }
    }

    /// Reads a value as it is.
    fn read<T>(
        self,
        expected: impl FnOnce() -> String,
        turn: impl FnOnce(&'a Value) -> Result<T, Problem>,
    ) -> Reading<T> {
        if let Some(asked) = &self.report.asked {
            let path = path::join(self.parent, self.key);
            asked.borrow_mut().push(Asked { path, expected: expected(), is_required: self.is_required });
            return Reading::Absent;
        }
        let outcome = match self.value {
            Some(value) => turn(value),
            None if self.is_required => Err(Problem::Missing),
            None => return Reading::Absent,
        };
        match outcome {
            Ok(value) => Reading::Right(value),
            Err(problem) => {
                self.report.add(path::join(self.parent, self.key), problem, self.value, Some(expected()));
                Reading::Wrong
            }
        }
    }

    /// Reads a number or a flag, which outside the file can only be written as text.
    fn read_plain<T>(
        self,
        expected: impl FnOnce() -> String,
        turn: impl FnOnce(&Value) -> Result<T, Problem>,
    ) -> Reading<T> {
        let parsed = self.parsed_text();
        self.read(expected, |value| turn(parsed.as_ref().unwrap_or(value)))
    }

    fn parsed_text(&self) -> Option<Value> {
        let text = self.value?.as_str()?;
        let came_as_text = self.report.came_as_text(&path::join(self.parent, self.key));
        let value: Value = came_as_text.then(|| serde_json::from_str(text).ok())??;
        (value.is_number() || value.is_boolean()).then_some(value)
    }
}

fn as_text(value: &Value) -> Result<&str, Problem> {
    value.as_str().ok_or(Problem::WrongType)
}

fn split_texts(text: &str) -> Vec<Value> {
    text.split(',').map(str::trim).filter(|part| !part.is_empty()).map(Value::from).collect()
}

fn bounded(items: Vec<Value>, limit: usize) -> Result<Vec<Value>, Problem> {
    if items.len() > limit { Err(Problem::TooLarge("too many")) } else { Ok(items) }
}

fn texts_in<T>(
    path: &str,
    items: &[Value],
    expected: &str,
    parse: impl Fn(&str) -> Result<T, Problem>,
    report: &Report<'_>,
) -> Reading<Vec<T>> {
    let mut read = Vec::with_capacity(items.len());
    for (index, item) in items.iter().enumerate() {
        match as_text(item).and_then(&parse) {
            Ok(value) => read.push(value),
            Err(problem) => {
                report.add(path::item(path, index), problem, Some(item), Some(expected.to_owned()));
            }
        }
    }
    if read.len() == items.len() { Reading::Right(read) } else { Reading::Wrong }
}

fn tables_in<'a>(path: &str, items: &'a [Value], report: &'a Report<'a>) -> Vec<Table<'a>> {
    let table = |(index, item): (usize, &'a Value)| {
        let path = path::item(path, index);
        let Some(entries) = item.as_object() else {
            report.add(path, Problem::WrongType, Some(item), Some("a table".into()));
            return None;
        };
        Some(Table::new(path, Some(entries), report))
    };
    items.iter().enumerate().filter_map(table).collect()
}
