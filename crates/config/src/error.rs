//! What is wrong with a configuration: everything at once, not the first thing found.

use crate::source::Origin;
use serde_json::{Value, json};
use std::fmt;
use tollgate_core::id::IdError;

/// The most errors that are listed; the rest are only counted.
pub const MAX_LISTED: usize = 1_000;

/// One thing that is wrong.
///
/// Shown as `path: message (got VALUE, expected WHAT)`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// Where it is, like `apps[2].burst_quota`; empty for the document as a whole.
    pub path: String,
    /// What kind of mistake it is.
    pub problem: Problem,
    /// The value as written, shortened, never a secret.
    pub value: Option<String>,
    /// What would be accepted.
    pub expected: Option<String>,
    /// Who set the value, unless the file did.
    pub origin: Option<Origin>,
}

/// The kinds of mistakes.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Problem {
    /// The file cannot be read.
    Unreadable(String),
    /// The text is not TOML, YAML or JSON.
    Syntax {
        /// What the parser says.
        message: String,
        /// Line and column, from 1, where they are known.
        at: Option<(u64, u64)>,
    },
    /// The document is larger, deeper or longer than is accepted.
    TooLarge(&'static str),
    /// A field that must be there is not.
    Missing,
    /// There is no such key.
    UnknownKey {
        /// The key that was probably meant.
        suggestion: Option<String>,
    },
    /// The value is of another type.
    WrongType,
    /// The value is of the right type but outside its bounds.
    OutOfRange,
    /// The value does not have the form that is needed.
    Malformed(&'static str),
    /// The text is not a name.
    BadId(IdError),
    /// The name was used before.
    Duplicate {
        /// Where it was used first.
        first: String,
    },
    /// The value is right by itself but not beside the others.
    Conflict(String),
}

impl Problem {
    /// A short name for programs.
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Unreadable(_) => "unreadable",
            Self::Syntax { .. } => "syntax",
            Self::TooLarge(_) => "too_large",
            Self::Missing => "missing",
            Self::UnknownKey { .. } => "unknown_key",
            Self::WrongType => "wrong_type",
            Self::OutOfRange => "out_of_range",
            Self::Malformed(_) => "malformed",
            Self::BadId(_) => "bad_id",
            Self::Duplicate { .. } => "duplicate",
            Self::Conflict(_) => "conflict",
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable(why) => write!(f, "cannot be read: {why}"),
            Self::Syntax { message, at: Some((line, column)) } => {
                write!(f, "line {line}, column {column}: {message}")
            }
            Self::Syntax { message, at: None } => f.write_str(message),
            Self::TooLarge(what) | Self::Malformed(what) => f.write_str(what),
            Self::Missing => f.write_str("missing"),
            Self::UnknownKey { suggestion: Some(key) } => write!(f, "unknown key, did you mean {key}"),
            Self::UnknownKey { suggestion: None } => f.write_str("unknown key"),
            Self::WrongType => f.write_str("wrong type"),
            Self::OutOfRange => f.write_str("out of range"),
            Self::BadId(IdError::Empty) => f.write_str("an empty name"),
            Self::BadId(IdError::TooLong(length)) => write!(f, "a name of {length} bytes"),
            Self::BadId(IdError::Character(c, at)) => write!(f, "a name with {c:?} at byte {at}"),
            Self::Duplicate { first } => write!(f, "duplicate of {first}"),
            Self::Conflict(why) => f.write_str(why),
        }
    }
}

impl Error {
    /// A mistake of the document as a whole.
    pub(crate) fn of_document(problem: Problem) -> Self {
        Self { path: String::new(), problem, value: None, expected: None, origin: None }
    }

    /// The error as JSON: `path`, `kind`, `message`, and `value`, `expected`, `origin` where known.
    pub fn to_value(&self) -> Value {
        json!({
            "path": self.path,
            "kind": self.problem.kind(),
            "message": self.problem.to_string(),
            "value": self.value,
            "expected": self.expected,
            "origin": self.origin.as_ref().map(ToString::to_string),
        })
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.path.is_empty() {
            write!(f, "{}: ", self.path)?;
        }
        write!(f, "{}", self.problem)?;
        if let Some(origin) = &self.origin {
            write!(f, ", set by {origin}")?;
        }
        match (&self.value, &self.expected) {
            (Some(value), Some(expected)) => write!(f, " (got {value}, expected {expected})"),
            (Some(value), None) => write!(f, " (got {value})"),
            (None, Some(expected)) => write!(f, " (expected {expected})"),
            (None, None) => Ok(()),
        }
    }
}

impl std::error::Error for Error {}

/// Everything that is wrong, one line each when shown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Errors {
    listed: Vec<Error>,
    omitted: usize,
}

impl Errors {
    /// Adds one; beyond [`MAX_LISTED`] it is only counted.
    pub(crate) fn push(&mut self, error: Error) {
        if self.listed.len() < MAX_LISTED {
            self.listed.push(error);
        } else {
            self.omitted += 1;
        }
    }

    /// Counts one that need not be described, because the list is full; false if it is not.
    pub(crate) fn count_unlisted(&mut self) -> bool {
        let is_full = self.listed.len() >= MAX_LISTED;
        self.omitted += usize::from(is_full);
        is_full
    }

    /// Whether nothing is wrong.
    pub fn is_empty(&self) -> bool {
        self.listed.is_empty()
    }

    /// How many there are, listed or not.
    pub fn len(&self) -> usize {
        self.listed.len() + self.omitted
    }

    /// How many are counted but not listed.
    pub fn omitted(&self) -> usize {
        self.omitted
    }

    /// The listed errors.
    pub fn iter(&self) -> std::slice::Iter<'_, Error> {
        self.listed.iter()
    }

    /// The listed errors as a JSON array.
    pub fn to_value(&self) -> Value {
        self.listed.iter().map(Error::to_value).collect()
    }
}

impl From<Error> for Errors {
    fn from(error: Error) -> Self {
        Self { listed: vec![error], omitted: 0 }
    }
}

impl FromIterator<Error> for Errors {
    fn from_iter<I: IntoIterator<Item = Error>>(errors: I) -> Self {
        let mut all = Self::default();
        errors.into_iter().for_each(|error| all.push(error));
        all
    }
}

impl<'a> IntoIterator for &'a Errors {
    type Item = &'a Error;
    type IntoIter = std::slice::Iter<'a, Error>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl fmt::Display for Errors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, error) in self.listed.iter().enumerate() {
            write!(f, "{}{error}", if i == 0 { "" } else { "\n" })?;
        }
        if self.omitted > 0 { write!(f, "\n... and {} more", self.omitted) } else { Ok(()) }
    }
}

impl std::error::Error for Errors {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_says_where_what_who_and_what_instead() {
        let error = Error {
            path: "ledger.timeout_ms".into(),
            problem: Problem::OutOfRange,
            value: Some("0".into()),
            expected: Some("a whole number from 1 to 60000".into()),
            origin: Some(Origin::Variable("TOLLGATE_LEDGER__TIMEOUT_MS".into())),
        };
        assert_eq!(
            error.to_string(),
            "ledger.timeout_ms: out of range, set by TOLLGATE_LEDGER__TIMEOUT_MS \
             (got 0, expected a whole number from 1 to 60000)"
        );
        assert_eq!(error.to_value()["kind"], "out_of_range");
    }

    #[test]
    fn a_flood_is_counted_not_kept() {
        let mut errors = Errors::default();
        for _ in 0..=MAX_LISTED {
            errors.push(Error::of_document(Problem::Missing));
        }
        assert_eq!((errors.iter().len(), errors.omitted(), errors.len()), (MAX_LISTED, 1, MAX_LISTED + 1));
        assert!(errors.to_string().ends_with("... and 1 more"));
    }
}
