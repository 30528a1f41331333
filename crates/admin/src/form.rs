//! Reads the body of a call: everything that is wrong with it is said at once.

use crate::auth::Role;
use crate::problem::{FieldError, Problem};
use axum::extract::{FromRequest, Request};
use bytes::Bytes;
use http::header;
use serde_json::{Map, Value};
use std::ops::RangeInclusive;
use std::time::Duration;

/// The most bytes of a body, except where a policy is imported.
pub(crate) const MAX_BODY: usize = 256 * 1024;

/// How long a body may take to come: enough for the largest on a slow line, and not for ever.
const PATIENCE: Duration = Duration::from_mins(1);

/// The body of a call, field by field.
#[derive(Debug)]
pub(crate) struct Form {
    fields: Map<String, Value>,
    errors: Vec<FieldError>,
}

impl Form {
    /// A text of so many characters, without control characters.
    pub(crate) fn text(&mut self, key: &str, length: RangeInclusive<usize>) -> String {
        let optional = self.optional_text(key, length.clone());
        if optional.is_none() && !self.has_fault(key) {
            self.missing(key, format!("a text of {} to {} characters", length.start(), length.end()));
        }
        optional.unwrap_or_default()
    }

    /// The same where it may be left out.
    pub(crate) fn optional_text(&mut self, key: &str, length: RangeInclusive<usize>) -> Option<String> {
        let value = self.take(key)?;
        let expected = format!(
            "a text of {} to {} characters, none of them a control character",
            length.start(),
            length.end()
        );
        let Value::String(text) = value else { return self.wrong(key, "wrong_type", "wrong type", expected) };
        if !length.contains(&text.chars().count()) {
            return self.wrong(key, "out_of_range", "too short or too long", expected);
        }
        if text.contains(|c: char| c.is_control() && c != '\n' && c != '\t') {
            return self.wrong(key, "malformed", "has control characters", expected);
        }
        Some(text)
    }

    /// What somebody may do, which must be said.
    pub(crate) fn role(&mut self) -> Option<Role> {
        let role = self.word("role", &Role::ALL);
        if role.is_none() && !self.has_fault("role") {
            self.missing("role", "one of viewer, operator, admin");
        }
        role
    }

    /// A whole number within bounds.
    pub(crate) fn whole(&mut self, key: &str, bounds: RangeInclusive<i64>) -> Option<i64> {
        let value = self.take(key)?;
        let expected = format!("a whole number from {} to {}", bounds.start(), bounds.end());
        // JSON knows one kind of number: 5.0 is as whole as 5.
        match value.as_i64().or_else(|| whole_float(&value)) {
            Some(number) if bounds.contains(&number) => Some(number),
            Some(_) => self.wrong(key, "out_of_range", "out of range", expected),
            None if value.is_number() => self.wrong(key, "out_of_range", "out of range", expected),
            None => self.wrong(key, "wrong_type", "wrong type", expected),
        }
    }

    /// A number within bounds.
    pub(crate) fn number(&mut self, key: &str, bounds: RangeInclusive<f64>) -> Option<f64> {
        let value = self.take(key)?;
        let expected = format!("a number from {} to {}", bounds.start(), bounds.end());
        match value.as_f64() {
            Some(number) if bounds.contains(&number) => Some(number),
            Some(_) => self.wrong(key, "out_of_range", "out of range", expected),
            None => self.wrong(key, "wrong_type", "wrong type", expected),
        }
    }

    /// `true` or `false`.
    pub(crate) fn flag(&mut self, key: &str) -> Option<bool> {
        let value = self.take(key)?;
        match value.as_bool() {
            Some(flag) => Some(flag),
            None => self.wrong(key, "wrong_type", "wrong type", "true or false".into()),
        }
    }

    /// One word of a closed set.
    pub(crate) fn word<T: Copy>(&mut self, key: &str, words: &[(&str, T)]) -> Option<T> {
        let value = self.take(key)?;
        let found = words.iter().find(|(word, _)| value.as_str() == Some(word)).map(|(_, value)| *value);
        if found.is_none() {
            let words: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
            self.wrong::<()>(key, "malformed", "unknown word", format!("one of {}", words.join(", ")));
        }
        found
    }

    /// Anything at all.
    pub(crate) fn value(&mut self, key: &str) -> Option<Value> {
        self.take(key)
    }

    /// A form within the form; an empty one if it is not there, which is said.
    pub(crate) fn nested(&mut self, key: &str) -> Self {
        let fields = match self.take(key) {
            Some(Value::Object(fields)) => fields,
            Some(_) => {
                self.wrong::<()>(key, "wrong_type", "wrong type", "an object".into());
                Map::new()
            }
            None => {
                self.missing(key, "an object");
                Map::new()
            }
        };
        Self { fields, errors: Vec::new() }
    }

    /// What has not been asked for yet.
    pub(crate) fn rest(&mut self) -> Map<String, Value> {
        std::mem::take(&mut self.fields)
    }

    pub(crate) fn fault(&mut self, error: FieldError) {
        self.errors.push(error);
    }

    pub(crate) fn missing(&mut self, key: &str, expected: impl Into<String>) {
        self.errors.push(FieldError::new(key, "missing", "missing", expected));
    }

    /// Everything that was wrong, fields that nobody asked for included.
    pub(crate) fn finish(mut self) -> Result<(), Problem> {
        let unknown = std::mem::take(&mut self.fields);
        self.errors.extend(unknown.keys().take(100).map(|key| {
            let path: String = key.chars().take(100).collect();
            FieldError { expected: None, ..FieldError::new(&path, "unknown_key", "unknown key", "") }
        }));
        if self.errors.is_empty() { Ok(()) } else { Err(Problem::invalid(self.errors)) }
    }

    fn take(&mut self, key: &str) -> Option<Value> {
        self.fields.remove(key).filter(|value| !value.is_null())
    }

    fn wrong<T>(&mut self, key: &str, kind: &str, message: &str, expected: String) -> Option<T> {
        // The value is not repeated: it may be a password.
        self.errors.push(FieldError::new(key, kind, message, expected));
        None
    }

    pub(crate) fn has_fault(&self, key: &str) -> bool {
        self.errors.iter().any(|error| error.path == key)
    }
}

fn whole_float(value: &Value) -> Option<i64> {
    let number = value.as_f64()?;
    #[expect(clippy::cast_possible_truncation, reason = "whole and within 53 bits")]
    let whole = (number.fract() == 0.0 && number.abs() < 9e15).then_some(number as i64);
    whole
}

impl<S: Send + Sync> FromRequest<S> for Form {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self, Problem> {
        let kind = request.headers().get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
        // A form of another site can send text, but not JSON, without being asked first.
        let essence = kind.and_then(|kind| kind.split(';').next()).map(str::trim);
        if !essence.is_some_and(|kind| kind.eq_ignore_ascii_case("application/json")) {
            let status = http::StatusCode::UNSUPPORTED_MEDIA_TYPE;
            return Err(Problem::new(status, "unsupported_media_type", "the body is not JSON")
                .detail("expected Content-Type: application/json"));
        }
        let bytes = tokio::time::timeout(PATIENCE, Bytes::from_request(request, state)).await;
        let bytes = bytes.map_err(|_| Problem::malformed("the body took too long"))?;
        let bytes = bytes.map_err(|rejection| {
            let status = rejection.status();
            Problem::new(status, "body", "the body cannot be read").detail(rejection.body_text())
        })?;
        match serde_json::from_slice(&bytes) {
            Ok(Value::Object(fields)) => Ok(Self { fields, errors: Vec::new() }),
            Ok(_) => {
                Err(Problem::invalid(vec![FieldError::new("", "wrong_type", "wrong type", "an object")]))
            }
            Err(error) => Err(Problem::malformed(format!("not JSON: {error}"))),
        }
    }
}
