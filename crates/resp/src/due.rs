//! Until when a client has to have said something: who never does would keep a place, and what was kept of its words, for ever.

use crate::session::Session;
use std::time::Duration;
use tokio::time::Instant;

/// How long whoever has to say a password may take to do so.
const INTRODUCTION: Duration = Duration::from_secs(10);

/// How long a command may take to come, from when it was begun.
const COMMAND: Duration = Duration::from_secs(30);

/// Until when a client has to have said something.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Due {
    password: Option<Instant>,
    command: Option<Instant>,
}

impl Due {
    /// After everything that was all there was answered: whether anything was, and whether something is left.
    pub(crate) fn go_on(&mut self, session: &Session, has_answered: bool, is_begun: bool) {
        let now = Instant::now();
        let or = |by: Option<Instant>, patience| by.or_else(|| Some(now + patience));
        self.password = if session.is_known() { None } else { or(self.password, INTRODUCTION) };
        let command = if has_answered { None } else { self.command };
        self.command = if is_begun { or(command, COMMAND) } else { None };
    }

    /// The end, if there is one, for somebody who may be silent for so long.
    pub(crate) fn end(&self, idle: Option<Duration>) -> Option<Instant> {
        let idle = idle.map(|idle| Instant::now() + idle);
        [self.password, self.command, idle].into_iter().flatten().min()
    }
}
