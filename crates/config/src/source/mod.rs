//! Where a configuration comes from: a file, then the environment, then the command line.

mod format;
mod origin;
mod overlay;

pub use format::Format;
pub use origin::Origin;
pub(crate) use origin::Origins;
pub use overlay::PREFIX;
pub(crate) use overlay::variable;

use crate::error::{Error, Errors, Problem};
use serde_json::{Map, Value};
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// The largest file that is read, in bytes.
pub const MAX_BYTES: usize = 4 * 1024 * 1024;

/// The deepest nesting of tables and lists that is accepted.
pub const MAX_DEPTH: usize = 16;

/// A configuration as written: one tree, whatever it came from.
///
/// ```
/// use tollgate_config::source::{Document, Format};
///
/// let config = Document::parse("[ledger]\ntimeout_ms = 20", Format::Toml)?
///     .with_environment([("TOLLGATE_LEDGER__URL", "redis://127.0.0.1/")])
///     .with_flags([("ledger.timeout_ms", "30")])
///     .read()?;
/// assert_eq!(config.settings.ledger.timeout.get(), 30);
/// assert!(config.settings.ledger.url.is_some());
/// # Ok::<(), tollgate_config::Errors>(())
/// ```
#[derive(Clone, Debug)]
pub struct Document {
    pub(crate) tree: Value,
    pub(crate) origins: Origins,
    /// What went wrong while laying one source over another; reported with everything else.
    pub(crate) faults: Errors,
}

impl Document {
    /// A document that says nothing, so that every default holds.
    pub fn empty() -> Self {
        Self::from(Value::Object(Map::new()))
    }

    /// Reads a file; its extension tells the format.
    pub fn open(path: &Path) -> Result<Self, Errors> {
        let format = Format::of(path)?;
        let bytes =
            read_bounded(path).map_err(|error| Error::of_document(Problem::Unreadable(error.to_string())))?;
        let text = String::from_utf8(bytes)
            .map_err(|error| Error::of_document(Problem::Unreadable(error.utf8_error().to_string())))?;
        Self::parse(&text, format)
    }

    /// Reads a text of a known format.
    pub fn parse(text: &str, format: Format) -> Result<Self, Errors> {
        if text.len() > MAX_BYTES {
            let problem = Problem::TooLarge("the document is too large");
            let (value, expected) = (format!("{} bytes", text.len()), format!("at most {MAX_BYTES} bytes"));
            let error = Error::of_document(problem);
            return Err(Error { value: Some(value), expected: Some(expected), ..error }.into());
        }
        Ok(Self::from(format.parse(text.trim_start_matches('\u{feff}'))?))
    }
}

impl From<Value> for Document {
    fn from(tree: Value) -> Self {
        Self { tree, origins: Origins::default(), faults: Errors::default() }
    }
}

/// One byte more than is accepted is enough to know that a file, or an endless device, is too large.
fn read_bounded(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(MAX_BYTES as u64 + 1).read_to_end(&mut bytes)?;
    if bytes.len() > MAX_BYTES {
        return Err(io::Error::other(format!("larger than {MAX_BYTES} bytes")));
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_over_the_limit_is_refused() {
        let text = "#".repeat(MAX_BYTES + 1);
        let errors = Document::parse(&text, Format::Toml).unwrap_err();
        assert_eq!(
            errors.to_string(),
            "the document is too large (got 4194305 bytes, expected at most 4194304 bytes)"
        );
        assert!(Document::parse(&text[1..], Format::Toml).is_ok());
    }

    #[test]
    fn a_file_that_is_not_there_or_of_no_known_kind_says_so() {
        let errors = Document::open(Path::new("/nowhere/tollgate.toml")).unwrap_err();
        assert!(errors.to_string().starts_with("cannot be read: No such file"), "{errors}");
        let errors = Document::open(Path::new("/nowhere/tollgate.ini")).unwrap_err();
        assert!(errors.to_string().contains(".toml, .yaml, .yml or .json"), "{errors}");
    }

    #[cfg(unix)]
    #[test]
    fn an_endless_file_is_refused() {
        let endless = std::env::temp_dir().join(format!("tollgate-endless-{}.toml", std::process::id()));
        std::os::unix::fs::symlink("/dev/zero", &endless).unwrap();
        let errors = Document::open(&endless).unwrap_err();
        std::fs::remove_file(&endless).unwrap();
        assert!(errors.to_string().contains("larger than 4194304 bytes"), "{errors}");
    }

    #[test]
    fn a_byte_order_mark_is_no_mistake() {
        for (text, format) in [("\u{feff}a = 1", Format::Toml), ("\u{feff}a: 1", Format::Yaml)] {
            assert_eq!(Document::parse(text, format).unwrap().tree["a"], 1, "{format:?}");
        }
    }
}
