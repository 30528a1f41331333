use super::Series;
use serde::Serialize;
use std::collections::BTreeMap;
use std::io;
use std::time::Duration;

/// What the clients saw.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Tally {
    pub(crate) passed: u64,
    pub(crate) refused: u64,
    /// Failed while a gateway or the server behind it was broken on purpose.
    pub(crate) excused: u64,
    /// What should not have been, by what it was.
    pub(crate) wrong: BTreeMap<String, u64>,
    /// The slowest request of a gateway that was not broken on purpose.
    pub(crate) slowest: Duration,
    #[serde(skip)]
    pub(crate) series: Series,
}

impl Tally {
    pub(super) fn answered(
        &mut self,
        at: Duration,
        took: Duration,
        status: u16,
        gateway_excused: bool,
        upstream_excused: bool,
    ) {
        if !gateway_excused {
            self.slowest = self.slowest.max(took);
        }
        match status {
            200 => {
                self.passed += 1;
                self.series.count(at);
            }
            429 => self.refused += 1,
            502..=504 if upstream_excused => self.excused += 1,
            other => *self.wrong.entry(format!("status {other}")).or_default() += 1,
        }
    }

    pub(super) fn failed(&mut self, took: Duration, error: &io::Error, is_excused: bool) {
        if is_excused {
            self.excused += 1;
            return;
        }
        self.slowest = self.slowest.max(took);
        *self.wrong.entry(format!("no answer: {error}")).or_default() += 1;
    }
}
