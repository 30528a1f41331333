//! Degradation: the slower the ledger, the more a node holds and the less it asks.

use crate::units::{Millis, Nanos, Tokens};

/// How well the ledger can be reached.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// It answers within 10 ms.
    #[default]
    Normal,
    /// It takes 10 to 100 ms.
    Mild,
    /// It takes longer.
    Significant,
    /// It cannot be reached: the node decides by itself.
    FailOpen,
}

/// What a level asks of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pace {
    /// The tokens to hold per application.
    pub reserve: Tokens,
    /// How often to sync, if at all.
    pub sync_interval: Option<Millis>,
    /// How often to look for leaked connections, if at all.
    pub cleanup_interval: Option<Millis>,
    /// How many connections to look at each time.
    pub cleanup_budget: u32,
}

impl Level {
    /// All levels, best first.
    pub const ALL: [Self; 4] = [Self::Normal, Self::Mild, Self::Significant, Self::FailOpen];

    /// The name, as in metrics.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Normal => "normal",
            Self::Mild => "mild",
            Self::Significant => "significant",
            Self::FailOpen => "fail_open",
        }
    }

    /// What this level asks of a node. When the ledger is down the reserve is what one second may spend.
    pub const fn pace(self) -> Pace {
        let (reserve, sync, cleanup, cleanup_budget) = match self {
            Self::Normal => (1_000, Some(Millis::new(100)), Some(Millis::from_secs(30)), 1_000),
            Self::Mild => (2_000, Some(Millis::new(500)), Some(Millis::from_secs(60)), 500),
            Self::Significant => (5_000, Some(Millis::from_secs(1)), Some(Millis::from_secs(120)), 200),
            Self::FailOpen => (100, None, None, 0),
        };
        Pace {
            reserve: Tokens::whole(reserve),
            sync_interval: sync,
            cleanup_interval: cleanup,
            cleanup_budget,
        }
    }

    /// The level that an answer after this long speaks for.
    fn of(latency: Nanos) -> Self {
        const MILD: Nanos = Nanos::new(10_000_000);
        const SIGNIFICANT: Nanos = Nanos::new(100_000_000);
        match latency {
            latency if latency > SIGNIFICANT => Self::Significant,
            latency if latency >= MILD => Self::Mild,
            _ => Self::Normal,
        }
    }
}

/// Follows the ledger's latency. One slow answer changes nothing, nor does one fast one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Degradation {
    level: Level,
    streak: Streak,
}

/// Answers in a row that speak for another level.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Streak {
    #[default]
    None,
    /// This many were slower; the mildest of them spoke for this level.
    Slower(u8, Level),
    /// This many were faster; the slowest of them spoke for this level.
    Faster(u8, Level),
}

impl Degradation {
    /// Slow answers in a row that make it worse.
    pub const TO_WORSEN: u8 = 3;

    /// Fast answers in a row that make it better.
    pub const TO_RECOVER: u8 = 5;

    /// The level in force.
    pub const fn level(&self) -> Level {
        self.level
    }

    /// The ledger answered after `latency`. The first answer after it was down sets the level at once.
    pub fn answered(&mut self, latency: Nanos) {
        let seen = Level::of(latency);
        if self.level == Level::FailOpen {
            *self = Self { level: seen, streak: Streak::None };
            return;
        }
        self.streak = match (seen.cmp(&self.level), self.streak) {
            (core::cmp::Ordering::Equal, _) => Streak::None,
            (core::cmp::Ordering::Greater, Streak::Slower(n, mildest)) => {
                Streak::Slower(n + 1, mildest.min(seen))
            }
            (core::cmp::Ordering::Greater, _) => Streak::Slower(1, seen),
            // Barely fast enough is not better yet: it has to be so by a fifth.
            (core::cmp::Ordering::Less, _) if Level::of(with_margin(latency)) == self.level => Streak::None,
            (core::cmp::Ordering::Less, Streak::Faster(n, slowest)) => {
                Streak::Faster(n + 1, slowest.max(seen))
            }
            (core::cmp::Ordering::Less, _) => Streak::Faster(1, seen),
        };
        match self.streak {
            Streak::Slower(Self::TO_WORSEN, level) | Streak::Faster(Self::TO_RECOVER, level) => {
                *self = Self { level, streak: Streak::None };
            }
            _ => {}
        }
    }

    /// The ledger cannot be reached.
    pub fn lost(&mut self) {
        *self = Self { level: Level::FailOpen, streak: Streak::None };
    }
}

const fn with_margin(latency: Nanos) -> Nanos {
    Nanos::new(latency.get().saturating_add(latency.get() / 4))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(start: Degradation, millis: &[u64]) -> Level {
        let mut degradation = start;
        for &ms in millis {
            degradation.answered(Nanos::new(ms * 1_000_000));
        }
        degradation.level()
    }

    fn at(level: Level) -> Degradation {
        Degradation { level, streak: Streak::None }
    }

    #[test]
    fn the_levels_and_their_paces() {
        let paces = Level::ALL.map(|level| {
            let pace = level.pace();
            (pace.reserve.floor(), pace.sync_interval.map(Millis::get), pace.cleanup_budget)
        });
        let expected =
            [(1_000, Some(100), 1_000), (2_000, Some(500), 500), (5_000, Some(1_000), 200), (100, None, 0)];
        assert_eq!(paces, expected);
    }

    #[test]
    fn three_slow_answers_in_a_row_make_it_worse() {
        assert_eq!(after(at(Level::Normal), &[50, 50]), Level::Normal);
        assert_eq!(after(at(Level::Normal), &[50, 50, 1, 50, 50]), Level::Normal);
        assert_eq!(after(at(Level::Normal), &[50, 50, 50]), Level::Mild);
        assert_eq!(after(at(Level::Normal), &[500, 50, 500]), Level::Mild, "the mildest of them");
        assert_eq!(after(at(Level::Normal), &[500, 500, 500]), Level::Significant);
    }

    #[test]
    fn five_fast_answers_in_a_row_make_it_better() {
        assert_eq!(after(at(Level::Significant), &[1, 1, 1, 1]), Level::Significant);
        assert_eq!(after(at(Level::Significant), &[1, 1, 50, 1, 1]), Level::Mild, "the slowest of them");
        assert_eq!(after(at(Level::Significant), &[1, 1, 1, 1, 1]), Level::Normal);
        assert_eq!(after(at(Level::Mild), &[9, 9, 9, 9, 9, 9]), Level::Mild, "within a fifth of the edge");
    }

    #[test]
    fn a_lost_ledger_counts_at_once_and_so_does_its_return() {
        let mut degradation = at(Level::Normal);
        degradation.lost();
        assert_eq!(degradation.level(), Level::FailOpen);
        assert_eq!(after(degradation, &[1]), Level::Normal);
        assert_eq!(after(degradation, &[200]), Level::Significant);
    }
}
