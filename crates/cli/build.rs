//! Tells the program which commit it was built from: `SOURCE_COMMIT` says so, or git does, or nobody.
//!
//! Neither name begins with `TOLLGATE_`: cargo hands them on to what it runs, which would take them for keys of its configuration.
#![allow(clippy::print_stdout, reason = "this is how a build script speaks to cargo")]

use std::path::Path;
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=SOURCE_COMMIT");
    let version = env!("CARGO_PKG_VERSION");
    let commit =
        std::env::var("SOURCE_COMMIT").ok().filter(|commit| !commit.is_empty()).or_else(commit_of_git);
    let version = commit.map_or_else(|| version.to_owned(), |commit| format!("{version} ({commit})"));
    println!("cargo::rustc-env=FULL_VERSION={version}");
}

/// None where the sources are no clone, even if somebody else's clone is around them.
fn commit_of_git() -> Option<String> {
    if !Path::new("../../.git").exists() {
        return None;
    }
    // This file grows with every commit and checkout.
    let log = git(&["rev-parse", "--git-path", "logs/HEAD"])?;
    if Path::new(&log).exists() {
        println!("cargo::rerun-if-changed={log}");
    }
    git(&["rev-parse", "--short=12", "HEAD"])
}

fn git(arguments: &[&str]) -> Option<String> {
    let output =
        Command::new("git").args(arguments).output().ok().filter(|output| output.status.success())?;
    Some(String::from_utf8(output.stdout).ok()?.trim().to_owned())
}
