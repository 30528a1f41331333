//! Progress on stderr: what is being done, how far it is, and how long it will take.

use std::fmt::Write as _;
use std::io::{self, IsTerminal, Write, stderr};
use std::time::{Duration, Instant};

/// A count of steps, each announced before it is taken. Rewrites one line on a terminal, else writes a line a
/// step.
#[derive(Debug)]
pub(crate) struct Progress {
    started: Instant,
    total: usize,
    done: usize,
}

impl Progress {
    pub(crate) fn new(total: usize) -> Self {
        Self { started: Instant::now(), total, done: 0 }
    }

    /// Announces the next step; the one before it is done.
    pub(crate) fn step(&mut self, what: &str) -> io::Result<()> {
        let mut line = format!("[{}/{}] {what}", self.done + 1, self.total);
        if let Some(left) = left(self.started.elapsed(), self.done, self.total) {
            let _ = write!(line, ", about {} left", human(left));
        }
        self.done += 1;
        show(&line)
    }

    pub(crate) fn finish(self) -> io::Result<()> {
        show(&format!("{} steps in {}", self.total, human(self.started.elapsed())))?;
        if stderr().is_terminal() { writeln!(stderr()) } else { Ok(()) }
    }
}

fn show(line: &str) -> io::Result<()> {
    let mut stderr = stderr().lock();
    if stderr.is_terminal() {
        write!(stderr, "\r\x1b[2K{line}")?;
    } else {
        writeln!(stderr, "{line}")?;
    }
    stderr.flush()
}

/// How long the rest takes if it goes on as it went; unknown before anything is done.
fn left(elapsed: Duration, done: usize, total: usize) -> Option<Duration> {
    let (done, rest) = (u32::try_from(done).ok()?, u32::try_from(total.checked_sub(done)?).ok()?);
    elapsed.checked_div(done)?.checked_mul(rest)
}

fn human(span: Duration) -> String {
    match span.as_secs() {
        seconds @ 0..60 => format!("{seconds} s"),
        seconds => format!("{} min {} s", seconds / 60, seconds % 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rest_takes_as_long_as_the_start_did() {
        assert_eq!(left(Duration::from_secs(10), 2, 8), Some(Duration::from_secs(30)));
        assert_eq!(left(Duration::from_secs(10), 0, 8), None);
    }

    #[test]
    fn long_spans_are_minutes() {
        assert_eq!(human(Duration::from_secs(59)), "59 s");
        assert_eq!(human(Duration::from_secs(125)), "2 min 5 s");
    }
}
