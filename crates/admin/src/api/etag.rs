//! Entity tags: nobody overwrites what they have not seen.

use crate::problem::Problem;
use crate::secret;
use http::{HeaderMap, HeaderName, HeaderValue, header};
use serde_json::Value;

/// What `If-Match` says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum IfMatch {
    /// Nothing: whatever there is.
    Absent,
    /// `*`: anything, but it must be there.
    Any,
    /// One of these.
    Tags(Vec<String>),
}

impl IfMatch {
    pub(crate) fn read(headers: &HeaderMap) -> Result<Self, Problem> {
        let mut values = headers.get_all(header::IF_MATCH).into_iter().peekable();
        if values.peek().is_none() {
            return Ok(Self::Absent);
        }
        let mut tags = Vec::new();
        for value in values {
            let value = value.to_str().map_err(|_| Problem::malformed("If-Match is not text"))?;
            tags.extend(value.split(',').map(|tag| tag.trim().to_owned()).filter(|tag| !tag.is_empty()));
        }
        if tags.iter().any(|tag| tag == "*") { Ok(Self::Any) } else { Ok(Self::Tags(tags)) }
    }

    /// Whether what is there now, if anything, is what the caller has seen.
    pub(crate) fn check(&self, now: Option<&str>) -> Result<(), Problem> {
        let is_met = match (self, now) {
            (Self::Absent, _) => true,
            (Self::Any, now) => now.is_some(),
            (Self::Tags(tags), Some(now)) => tags.iter().any(|tag| tag == now),
            (Self::Tags(_), None) => false,
        };
        if is_met { Ok(()) } else { Err(Problem::changed_meanwhile(now.unwrap_or("gone"))) }
    }
}

/// Whether `If-None-Match: *` asks that there be nothing yet.
pub(crate) fn wants_new(headers: &HeaderMap) -> bool {
    headers.get(header::IF_NONE_MATCH).is_some_and(|value| value == "*")
}

/// The tag of something that has no version of its own: another one whenever what can be changed about it is another.
pub(crate) fn tag(changeable: &Value) -> String {
    format!("\"{}\"", &secret::digest(&changeable.to_string())[..16])
}

/// The header that carries a tag.
pub(crate) fn etag(tag: &str) -> [(HeaderName, HeaderValue); 1] {
    [(header::ETAG, HeaderValue::from_str(tag).unwrap_or_else(|_| HeaderValue::from_static("\"\"")))]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(value: &'static str) -> IfMatch {
        let mut headers = HeaderMap::new();
        headers.insert(header::IF_MATCH, HeaderValue::from_static(value));
        IfMatch::read(&headers).unwrap()
    }

    #[test]
    fn only_what_was_seen_is_changed() {
        assert!(read("\"3\", \"4\"").check(Some("\"4\"")).is_ok());
        assert!(read("\"3\"").check(Some("\"4\"")).is_err());
        assert!(read("\"3\"").check(None).is_err());
        assert!(read("W/\"4\"").check(Some("\"4\"")).is_err(), "a weak tag matches nothing here");
        assert!(read("*").check(Some("\"4\"")).is_ok() && read("*").check(None).is_err());
        assert!(IfMatch::Absent.check(None).is_ok());
        assert!(read("").check(Some("\"4\"")).is_err(), "an empty list has no tag in it");
    }
}
