//! The ledger in memory, written to a file: a restart forgets neither debts nor policies.

use crate::book::Book;
use std::collections::BTreeMap;
use std::fmt;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use tollgate_core::id::ClusterId;

/// The layout of the file. A file of another layout is refused, not guessed at.
const LAYOUT: u32 = 2;

/// A larger file is nothing we wrote.
const MAX_BYTES: u64 = 1 << 30;

/// All that a ledger in memory knows.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Snapshot {
    layout: u32,
    pub(crate) books: BTreeMap<ClusterId, Book>,
}

/// Why a snapshot could not be written or read.
#[derive(Debug)]
pub enum SnapshotError {
    /// The file could not be written or read.
    File(PathBuf, io::Error),
    /// The file holds something else.
    Content(PathBuf, String),
}

impl Snapshot {
    pub(crate) const fn new(books: BTreeMap<ClusterId, Book>) -> Self {
        Self { layout: LAYOUT, books }
    }

    /// Writes it to `path` in one step: whoever reads finds the old file or the new one, also after a crash.
    pub fn save(&self, path: &Path) -> Result<(), SnapshotError> {
        let content = serde_json::to_vec(self)
            .map_err(|error| SnapshotError::Content(path.into(), error.to_string()))?;
        let beside = path.with_extension("new");
        let write = || {
            let mut file = File::create(&beside)?;
            file.write_all(&content)?;
            file.sync_all()?;
            fs::rename(&beside, path)?;
            // The rename itself lasts only once its folder is written.
            let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
            File::open(folder.unwrap_or(Path::new(".")))?.sync_all()
        };
        write().map_err(|error| {
            let _ = fs::remove_file(&beside);
            SnapshotError::File(path.into(), error)
        })
    }

    /// What was last written to `path`; `None` if nothing was.
    pub fn load(path: &Path) -> Result<Option<Self>, SnapshotError> {
        let failed = |error| SnapshotError::File(path.into(), error);
        let wrong = |what: String| SnapshotError::Content(path.into(), what);
        match fs::metadata(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(failed(error)),
            Ok(file) if file.len() > MAX_BYTES => return Err(wrong(format!("{} bytes long", file.len()))),
            Ok(_) => {}
        }
        let content = fs::read(path).map_err(failed)?;
        let mut snapshot: Self =
            serde_json::from_slice(&content).map_err(|error| wrong(error.to_string()))?;
        if snapshot.layout != LAYOUT {
            return Err(wrong(format!("layout {}, this version reads {LAYOUT}", snapshot.layout)));
        }
        snapshot.books.values_mut().for_each(Book::count_open);
        Ok(Some(snapshot))
    }
}

impl fmt::Display for SnapshotError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path, error) => write!(f, "{}: {error}", path.display()),
            Self::Content(path, what) => write!(f, "{}: not a snapshot of a ledger: {what}", path.display()),
        }
    }
}

impl std::error::Error for SnapshotError {}
