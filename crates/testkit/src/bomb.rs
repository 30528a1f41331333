use anyhow::{Context, ensure};
use std::process::Command;

/// So many MiB of nothing, as gzip packs them: a thousandth of that.
pub fn gzip_bomb(mebibytes: usize) -> anyhow::Result<Vec<u8>> {
    let packed = Command::new("sh")
        .args(["-c", &format!("head -c {mebibytes}M /dev/zero | gzip -9")])
        .output()
        .context("no shell")?;
    ensure!(packed.status.success() && !packed.stdout.is_empty(), "gzip: {packed:?}");
    Ok(packed.stdout)
}
