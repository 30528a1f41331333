//! A small disk that can be full.

use anyhow::Context;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;
use tollgate_testkit::{Undo, run};

/// A file system in memory, unmounted when dropped. Needs the rights of an administrator.
#[derive(Debug)]
pub(crate) struct Disk {
    folder: TempDir,
    _undo: Undo,
}

impl Disk {
    /// Makes one, or says why it cannot be made here.
    pub(crate) fn new() -> anyhow::Result<Self> {
        let folder = TempDir::new().context("no temporary folder")?;
        let undo = Undo::by(unmount(folder.path()));
        run(Command::new("mount")
            .args(["-t", "tmpfs", "-o", "size=4m", "tollgate-drill"])
            .arg(folder.path()))
        .context("no small disk can be mounted here")?;
        Ok(Self { folder, _undo: undo })
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Writes until nothing more fits.
    pub(crate) fn fill(&self) -> anyhow::Result<()> {
        let mut file = File::create(self.filler())?;
        // Large pieces first, then what is left in small ones: not a byte is to be free.
        for piece in [64 * 1024, 1] {
            while file.write_all(&vec![0; piece]).is_ok() {}
        }
        Ok(())
    }

    pub(crate) fn free(&self) -> anyhow::Result<()> {
        fs::remove_file(self.filler()).context("the disk was not filled")
    }

    fn filler(&self) -> PathBuf {
        self.path().join("filler")
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = run(&mut unmount(self.path()));
    }
}

fn unmount(folder: &Path) -> Command {
    let mut command = Command::new("umount");
    command.arg("--lazy").arg(folder);
    command
}
