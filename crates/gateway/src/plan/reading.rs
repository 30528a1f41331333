//! The ways in which servers read a path. What is compared with prefixes must be what is served, and that is for the server to say.

use super::router::{separator, starts_as};
use std::borrow::Cow;
use tollgate_config::gateway::plain_path;

/// One way to read a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reading {
    /// As it is written.
    Plain,
    /// Without what follows a semicolon in a segment, as Tomcat and Jetty do.
    Cut,
    /// Whatever may be a slash is one, as for those who decode first, and for IIS.
    Decoded,
    /// First the one, then the other.
    CutDecoded,
    /// The other way around.
    DecodedCut,
}

/// A path leads to more than one place, depending on who reads it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ambiguous;

impl Reading {
    /// All but the plain one. They differ from it only where a path is [loose](is_loose).
    pub(crate) const LOOSE: [Self; 4] = [Self::Cut, Self::Decoded, Self::CutDecoded, Self::DecodedCut];

    /// The path as it is compared.
    pub(crate) fn of(self, path: &str) -> Cow<'_, str> {
        let read = match self {
            Self::Plain => return plain_path(path),
            Self::Cut => cut(path),
            Self::Decoded => decoded(path),
            Self::CutDecoded => decoded(&cut(path)),
            Self::DecodedCut => cut(&decoded(path)),
        };
        Cow::Owned(plain_path(&read).into_owned())
    }
}

/// Whether a path can be read in more than one way.
pub(crate) fn is_loose(path: &str) -> bool {
    let path = path.as_bytes();
    memchr::memchr3_iter(b';', b'\\', b'%', path).any(|at| {
        let rest = &path[at..];
        separator(rest).is_some() || starts_as(rest, b';', b"3b").is_some()
    })
}

fn cut(path: &str) -> String {
    let names = path.split('/').map(|segment| segment.split_once(';').map_or(segment, |(name, _)| name));
    names.collect::<Vec<_>>().join("/")
}

fn decoded(path: &str) -> String {
    let mut decoded = String::with_capacity(path.len());
    let mut rest = path;
    while let Some(next) = rest.chars().next() {
        let slash = separator(rest.as_bytes()).map(|length| ('/', length));
        let semicolon = || starts_as(rest.as_bytes(), b';', b"3b").map(|length| (';', length));
        let (letter, length) = slash.or_else(semicolon).unwrap_or((next, next.len_utf8()));
        decoded.push(letter);
        rest = &rest[length..];
    }
    decoded
}
