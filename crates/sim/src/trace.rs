//! The last events of a run, for whoever has to find out what went wrong.

use crate::chance::seconds;
use std::collections::VecDeque;
use tollgate_core::units::Nanos;

/// Remembers the last events, if any.
#[derive(Clone, Debug, Default)]
pub(crate) struct Trace {
    most: usize,
    lines: VecDeque<String>,
}

impl Trace {
    pub(crate) const fn new(most: usize) -> Self {
        Self { most, lines: VecDeque::new() }
    }

    pub(crate) const fn is_on(&self) -> bool {
        self.most > 0
    }

    pub(crate) fn add(&mut self, at: Nanos, number: u64, what: &str) {
        if self.lines.len() >= self.most {
            self.lines.pop_front();
        }
        self.lines.push_back(format!("{:>12.6}s {number:>8} {what}", seconds(at)));
    }

    pub(crate) fn into_lines(self) -> Vec<String> {
        self.lines.into()
    }
}
