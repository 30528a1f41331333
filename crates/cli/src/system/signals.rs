//! What comes from outside: signals, and files that change.

use super::watch::Watch;
use anyhow::Context;
use std::path::PathBuf;
use std::time::Duration;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::time::{Interval, MissedTickBehavior};

/// How often files are looked at.
const LOOK: Duration = Duration::from_secs(1);

/// What to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Event {
    /// Come to an end.
    Stop,
    /// Read the configuration again.
    Reload,
}

/// Where events come from.
#[derive(Debug)]
pub(super) struct Events {
    terminate: Signal,
    interrupt: Signal,
    hang_up: Signal,
    looks: Interval,
    watch: Watch,
}

impl Events {
    pub(super) fn listen(files: &[PathBuf]) -> anyhow::Result<Self> {
        let on = |kind| signal(kind).context("cannot listen for signals");
        let mut looks = tokio::time::interval(LOOK);
        looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        Ok(Self {
            terminate: on(SignalKind::terminate())?,
            interrupt: on(SignalKind::interrupt())?,
            hang_up: on(SignalKind::hangup())?,
            looks,
            watch: Watch::new(files),
        })
    }

    /// Watches these files from now on.
    pub(super) fn watch(&mut self, files: &[PathBuf]) {
        self.watch = Watch::new(files);
    }

    pub(super) async fn next(&mut self) -> Event {
        loop {
            tokio::select! {
                _ = self.terminate.recv() => return Event::Stop,
                _ = self.interrupt.recv() => return Event::Stop,
                _ = self.hang_up.recv() => return Event::Reload,
                _ = self.looks.tick() => if self.watch.has_changed() {
                    return Event::Reload;
                },
            }
        }
    }

    /// Waits until somebody insists on stopping.
    pub(super) async fn stopped(&mut self) {
        while self.next().await != Event::Stop {}
    }
}
