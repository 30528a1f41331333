use crate::output;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use tollgate_config::source::Document;
use tollgate_config::{Config, Errors};

/// A configuration file that is not one.
pub(super) struct WrongFile {
    path: PathBuf,
    errors: Errors,
}

/// Reads a configuration file, and nothing but the file.
pub(super) fn read(path: &Path) -> Result<Config, WrongFile> {
    let read = Document::open(path).and_then(Document::read);
    read.map_err(|errors| WrongFile { path: path.to_owned(), errors })
}

impl WrongFile {
    /// Every error on a line, and how many there are.
    pub(super) fn complain(&self) {
        let count = self.errors.len();
        let noun = if count == 1 { "error" } else { "errors" };
        output::complain(&format!("{}\n{}: {count} {noun}", self.errors, self.path.display()));
    }

    /// The same for programs.
    pub(super) fn to_value(&self) -> Value {
        json!({
            "file": self.path.to_string_lossy(),
            "valid": false,
            "errors": self.errors.to_value(),
            "omitted": self.errors.omitted(),
        })
    }
}
