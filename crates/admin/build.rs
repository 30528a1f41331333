//! Makes sure of the console, which becomes part of the program: whoever installs it with cargo alone gets it too, if there is npm.
#![allow(clippy::print_stdout, reason = "this is how a build script speaks to cargo")]

use std::env::{var, var_os};
use std::path::Path;
use std::process::Command;

fn main() {
    // What is built later is taken in all the same: `make console` touches what embeds it.
    println!("cargo::rerun-if-changed=build.rs");
    let console = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../console");
    if console.join("dist/index.html").exists() {
        return;
    }
    // Programs for tests do without it, and whoever wants no network gets none.
    let is_wanted = var("PROFILE").is_ok_and(|profile| profile == "release");
    let may_fetch = var_os("CARGO_NET_OFFLINE").is_none_or(|offline| offline != "true");
    let built = if is_wanted && may_fetch { build(&console) } else { Err("it was not built yet".into()) };
    if let Err(why) = built {
        println!(
            "cargo::warning=the console is not part of this build ({why}): `make console` builds it, with node 20 and npm; then build again"
        );
    }
}

/// As `scripts/console` does it. An error is a line that says why not.
fn build(console: &Path) -> Result<(), String> {
    for arguments in [
        &["ci", "--no-audit", "--no-fund", "--loglevel=error", "--fetch-retries=1"][..],
        &["run", "--silent", "build", "--", "--logLevel", "warn"],
    ] {
        let mut npm = Command::new("npm");
        npm.args(arguments).current_dir(console).env("PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD", "1");
        let done = npm.output().map_err(|error| format!("npm: {error}"))?;
        if !done.status.success() {
            let said = String::from_utf8_lossy(&done.stderr);
            return Err(format!("npm {}: {}", arguments[0], said.lines().next().unwrap_or("it failed")));
        }
    }
    Ok(())
}
