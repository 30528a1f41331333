//! Tells the binary which compiler built it, for the report.

use std::io::{Write, stdout};
use std::process::Command;

fn main() -> std::io::Result<()> {
    let compiler = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let version = Command::new(compiler).arg("--version").output()?.stdout;
    writeln!(stdout(), "cargo::rustc-env=BENCH_RUSTC={}", String::from_utf8_lossy(&version).trim())?;
    writeln!(stdout(), "cargo::rerun-if-changed=build.rs")
}
