//! Files that may change under us.

use std::path::PathBuf;
use std::time::SystemTime;

/// What tells one state of a file from another, without reading it.
type Mark = Option<(SystemTime, u64, u64)>;

/// Looks at files now and then. Looking is cheap, works on every file system, and follows links that are turned to
/// another file, which is how certificates are renewed in containers.
#[derive(Debug)]
pub(super) struct Watch {
    files: Vec<PathBuf>,
    seen: Vec<Mark>,
    /// What was different at the last look.
    changing: Option<Vec<Mark>>,
}

impl Watch {
    pub(super) fn new(files: &[PathBuf]) -> Self {
        Self { files: files.to_vec(), seen: marks(files), changing: None }
    }

    /// Whether anything is different from when it was last said to be. A file that is still being written is left
    /// alone: it must have been the same at two looks.
    pub(super) fn has_changed(&mut self) -> bool {
        let now = marks(&self.files);
        if now == self.seen {
            self.changing = None;
            return false;
        }
        if self.changing.as_ref() == Some(&now) {
            self.seen = now;
            self.changing = None;
            return true;
        }
        self.changing = Some(now);
        false
    }
}

fn marks(files: &[PathBuf]) -> Vec<Mark> {
    files.iter().map(|file| mark(file)).collect()
}

fn mark(file: &std::path::Path) -> Mark {
    use std::os::unix::fs::MetadataExt;
    let file = std::fs::metadata(file).ok()?;
    Some((file.modified().ok()?, file.len(), file.ino()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_told_once_and_not_before_it_is_over() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("tollgate.toml");
        std::fs::write(&file, "a").unwrap();
        let mut watch = Watch::new(std::slice::from_ref(&file));
        assert!(!watch.has_changed());
        std::fs::write(&file, "ab").unwrap();
        assert!(!watch.has_changed(), "it may still be written");
        std::fs::write(&file, "abc").unwrap();
        assert!(!watch.has_changed(), "it was");
        assert!(watch.has_changed());
        assert!(!watch.has_changed(), "it was told");
        std::fs::remove_file(&file).unwrap();
        assert!(!watch.has_changed());
        assert!(watch.has_changed());
    }
}
