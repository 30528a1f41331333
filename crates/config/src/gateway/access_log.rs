use super::file_path;
use crate::error::Problem;
use std::fmt;
use std::path::PathBuf;

/// Where requests are written down, one line of JSON each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AccessLog {
    /// Nowhere.
    Off,
    /// The standard output.
    Stdout,
    /// A file, to the end of which it is written.
    File(PathBuf),
}

impl AccessLog {
    /// What is accepted.
    pub(crate) const EXPECTED: &'static str = "\"off\", \"stdout\" or the path of a file";

    pub(super) fn parse(text: &str) -> Result<Self, Problem> {
        match text {
            "off" => Ok(Self::Off),
            "stdout" => Ok(Self::Stdout),
            path => file_path(path).map(Self::File),
        }
    }
}

impl fmt::Display for AccessLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Off => f.write_str("off"),
            Self::Stdout => f.write_str("stdout"),
            Self::File(path) => write!(f, "{}", path.display()),
        }
    }
}
