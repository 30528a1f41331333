use anyhow::Context;
use std::env;
use std::path::{Path, PathBuf};

/// A program that a script of ours installs: the one that a variable names, or in the path, or in `target/tools`.
pub(crate) fn tool(name: &str, variable: &str, script: &str) -> anyhow::Result<PathBuf> {
    if let Some(named) = env::var_os(variable).filter(|named| !named.is_empty()) {
        return Ok(named.into());
    }
    let ours = tools().join(name);
    let path = env::var_os("PATH").unwrap_or_default();
    let found =
        env::split_paths(&path).map(|folder| folder.join(name)).chain([ours]).find(|file| file.is_file());
    found.with_context(|| format!("{name} is missing: run {script}"))
}

/// Where scripts install what tests need.
pub fn tools() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/tools")
}
