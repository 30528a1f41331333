//! A bar that grows while a story is played, or many seeds of it.

use crate::output;
use std::io::{IsTerminal, stderr};
use std::time::{Duration, Instant};

const WIDTH: u64 = 30;

/// On a terminal a bar, elsewhere a line now and then.
pub(super) struct Progress {
    total: u64,
    unit: &'static str,
    started: Instant,
    shown: Option<Instant>,
    is_terminal: bool,
}

impl Progress {
    pub(super) fn new(total: u64, unit: &'static str) -> Self {
        Self { total, unit, started: Instant::now(), shown: None, is_terminal: stderr().is_terminal() }
    }

    pub(super) fn show(&mut self, done: u64, note: &str) {
        let pause = if self.is_terminal { Duration::from_millis(100) } else { Duration::from_secs(30) };
        let is_due = self.shown.is_none_or(|shown| shown.elapsed() >= pause);
        if !is_due && done < self.total {
            return;
        }
        self.shown = Some(Instant::now());
        let line = self.line(done, note);
        if self.is_terminal { output::redraw(&line) } else { output::complain(&line) }
    }

    /// Says something that stays, above the bar.
    pub(super) fn tell(&self, line: &str) {
        self.end();
        output::complain(line);
    }

    pub(super) fn end(&self) {
        if self.is_terminal && self.shown.is_some() {
            output::complain("");
        }
    }

    #[allow(clippy::cast_precision_loss, reason = "for people")]
    fn line(&self, done: u64, note: &str) -> String {
        let filled = WIDTH * done / self.total.max(1);
        let bar: String = (0..WIDTH).map(|i| if i < filled { '#' } else { '.' }).collect();
        let speed = done as f64 / self.started.elapsed().as_secs_f64().max(1e-9);
        let left = (self.total.saturating_sub(done)) as f64 / speed.max(1e-9);
        let Self { total, unit, .. } = self;
        format!("[{bar}] {done}/{total}{unit}, {speed:.1}/s, {left:.0}s left{note}")
    }
}
