//! Standard output and standard error, for readers that may leave early.

use anyhow::Context;
use serde_json::Value;
use std::io::{self, ErrorKind, Write};

/// Prints lines. A reader that has seen enough (`tollgate diff ... | head`) is no error.
pub(crate) fn print(text: &str) -> anyhow::Result<()> {
    match writeln!(io::stdout().lock(), "{}", text.trim_end()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(error).context("cannot write the answer"),
        _ => Ok(()),
    }
}

/// Prints JSON for programs.
pub(crate) fn print_json(value: &Value) -> anyhow::Result<()> {
    print(&format!("{value:#}"))
}

/// Prints lines for people, beside the answer. If nobody listens there is nobody to tell.
pub(crate) fn complain(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{}", text.trim_end());
}

/// Draws a line for people over the one that was drawn before.
pub(crate) fn redraw(line: &str) {
    let mut stderr = io::stderr().lock();
    let _ = write!(stderr, "\r\x1b[K{line}");
    let _ = stderr.flush();
}
