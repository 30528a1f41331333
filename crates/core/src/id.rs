//! Names of applications, clusters and nodes.

use alloc::sync::Arc;
use core::borrow::Borrow;
use core::fmt;
use core::ops::Deref;

/// The longest name, in bytes.
pub const MAX_LEN: usize = 128;

/// Why a text is not a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IdError {
    /// It is empty.
    Empty,
    /// It has this many bytes, more than [`MAX_LEN`].
    TooLong(usize),
    /// It has this character, at this byte.
    Character(char, usize),
}

/// Checks that `text` is 1 to 128 of `A-Z a-z 0-9 _ -`.
pub fn check(text: &str) -> Result<(), IdError> {
    if text.is_empty() {
        return Err(IdError::Empty);
    }
    if text.len() > MAX_LEN {
        return Err(IdError::TooLong(text.len()));
    }
    match text.char_indices().find(|(_, c)| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '-'))) {
        Some((at, c)) => Err(IdError::Character(c, at)),
        None => Ok(()),
    }
}

impl fmt::Display for IdError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => write!(f, "empty"),
            Self::TooLong(len) => write!(f, "{len} bytes long, at most {MAX_LEN} are allowed"),
            Self::Character(c, at) => write!(f, "has {c:?} at byte {at}, only A-Z a-z 0-9 _ - are allowed"),
        }
    }
}

impl core::error::Error for IdError {}

/// The 32 hexadecimal digits of a number that is a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hex([u8; 32]);

impl Hex {
    /// The digits of `name`.
    pub fn of(name: u128) -> Self {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        let mut digits = [b'0'; 32];
        for (pair, byte) in digits.chunks_exact_mut(2).zip(name.to_be_bytes()) {
            pair[0] = DIGITS[usize::from(byte >> 4)];
            pair[1] = DIGITS[usize::from(byte & 15)];
        }
        Self(digits)
    }

    /// The digits as text.
    pub fn as_str(&self) -> &str {
        core::str::from_utf8(&self.0).unwrap_or_default()
    }
}

impl fmt::Display for Hex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
        #[cfg_attr(feature = "serde", serde(try_from = "&str", into = "alloc::string::String"))]
        pub struct $name(Arc<str>);

        #[cfg(feature = "serde")]
        impl TryFrom<&str> for $name {
            type Error = IdError;

            fn try_from(text: &str) -> Result<Self, IdError> {
                Self::new(text)
            }
        }

        #[cfg(feature = "serde")]
        impl From<$name> for alloc::string::String {
            fn from(name: $name) -> Self {
                name.0.as_ref().into()
            }
        }

        impl $name {
            /// The name, if `text` is one.
            pub fn new(text: &str) -> Result<Self, IdError> {
                check(text).map(|()| Self(text.into()))
            }
        }

        impl Deref for $name {
            type Target = str;

            fn deref(&self) -> &str {
                &self.0
            }
        }

        impl Borrow<str> for $name {
            fn borrow(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(&self.0)
            }
        }
    };
}

id! {
    /// The name of an application (tenant).
    AppId
}
id! {
    /// The name of a cluster.
    ClusterId
}
id! {
    /// The name of a node.
    NodeId
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::{String, ToString};

    #[test]
    fn a_name_that_is_a_number_has_all_its_digits() {
        for name in [0, 1, 0x0123_4567_89ab_cdef_fedc_ba98_7654_3210, u128::MAX] {
            assert_eq!(Hex::of(name).to_string(), std::format!("{name:032x}"));
        }
    }

    #[test]
    fn names_are_short_and_plain() {
        assert!(AppId::new("video-service_01").is_ok());
        assert_eq!(check(""), Err(IdError::Empty));
        assert_eq!(check(&String::from_utf8(std::vec![b'a'; 129]).unwrap()), Err(IdError::TooLong(129)));
        assert_eq!(check("../etc"), Err(IdError::Character('.', 0)));
        assert_eq!(check("a{b}"), Err(IdError::Character('{', 1)));
        assert_eq!(check("caf\u{e9}"), Err(IdError::Character('\u{e9}', 3)));
    }
}
