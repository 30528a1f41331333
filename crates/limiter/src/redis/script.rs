use super::error::Error;
use crate::throttle::Outcome;
use redis::{Script, ScriptInvocation, Value};
use std::time::Duration;
use tollgate_core::algorithm::Limit;

/// The scripts, each known by its hash.
#[derive(Debug)]
pub(super) struct Scripts {
    gcra: Script,
    fixed_window: Script,
    give_back: Script,
}

impl Default for Scripts {
    fn default() -> Self {
        Self {
            gcra: Script::new(include_str!("lua/gcra.lua")),
            fixed_window: Script::new(include_str!("lua/fixed_window.lua")),
            give_back: Script::new(include_str!("lua/give_back.lua")),
        }
    }
}

impl Scripts {
    /// Takes tokens, also those that come up within `patience`.
    pub(super) fn gcra(&self, key: &str, limit: &Limit, n: u64, patience: Duration) -> ScriptInvocation<'_> {
        let mut call = self.gcra.key(key);
        call.arg(n).arg(limit.amount()).arg(micros(limit.period().into())).arg(limit.burst());
        call.arg(patience.as_micros().min(i64::MAX as u128).to_string());
        call
    }

    /// Takes tokens of a window.
    pub(super) fn fixed_window(&self, key: &str, limit: &Limit, n: u64) -> ScriptInvocation<'_> {
        let mut call = self.fixed_window.key(key);
        let length = Duration::from(limit.period()).as_millis().max(1);
        call.arg(n).arg(limit.amount()).arg(length.to_string());
        call
    }

    /// Gives tokens back that were taken in advance.
    pub(super) fn give_back(&self, key: &str, n: u64) -> ScriptInvocation<'_> {
        let mut call = self.give_back.key(key);
        call.arg(n);
        call
    }

    pub(super) const fn of(&self, algorithm: super::Window) -> &Script {
        match algorithm {
            super::Window::Gcra => &self.gcra,
            super::Window::Fixed => &self.fixed_window,
        }
    }
}

/// What a script answered: whether, what is left, how long to wait, how long until all is there.
pub(super) struct Answer {
    pub(super) allowed: bool,
    pub(super) remaining: u64,
    pub(super) wait: Option<Duration>,
    pub(super) reset_after: Duration,
}

impl Answer {
    /// Reads an answer whose times are in units of so many microseconds.
    pub(super) fn read(value: Value, unit: u64) -> Result<Self, Error> {
        let numbers: Vec<i64> = redis::from_redis_value(value)
            .map_err(|error| Error::Server(format!("unexpected answer: {error}")))?;
        let [allowed, remaining, wait, reset] = numbers[..] else {
            return Err(Error::Server(format!("unexpected answer: {numbers:?}")));
        };
        let time = |number: i64| {
            u64::try_from(number).ok().map(|number| Duration::from_micros(number.saturating_mul(unit)))
        };
        Ok(Self {
            allowed: allowed == 1,
            remaining: u64::try_from(remaining).unwrap_or(0),
            wait: time(wait),
            reset_after: time(reset).unwrap_or_default(),
        })
    }

    pub(super) fn outcome(&self, capacity: u64) -> Outcome {
        Outcome {
            allowed: self.allowed,
            limit: capacity,
            remaining: self.remaining,
            retry_after: self.wait,
            reset_after: self.reset_after,
        }
    }
}

fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX).max(1)
}
