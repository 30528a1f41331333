//! Getting past a later life of this node that the ledger knows, as after its clock went back, or where two have one name.

use tollgate_core::breaker::Terms;
use tollgate_core::units::Nanos;

/// How much later than the last life the next is after the first time. Lives are numbered in microseconds.
const FIRST_LEAP: u64 = 1_000;

/// The longest leap: a year.
const LONGEST_LEAP: u64 = 365 * 86_400 * 1_000_000;

/// Whether the ledger knows a later life of this node than all that were tried.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) enum Fence {
    /// Not as far as is known.
    #[default]
    Down,
    /// It does.
    Up {
        /// How much later the next life is than the last.
        leap: u64,
        /// How long to wait before it is tried.
        pause: Nanos,
        /// The end of that.
        until: Nanos,
    },
}

impl Fence {
    pub(crate) const fn is_up(self) -> bool {
        matches!(self, Self::Up { .. })
    }

    /// Until when no life is to be tried: two nodes of one name, which overtake each other, are to do so now and then only.
    pub(crate) const fn until(self) -> Nanos {
        match self {
            Self::Down => Nanos::ZERO,
            Self::Up { until, .. } => until,
        }
    }

    /// A life was fenced off. Returns the next one, which is ever later than the last: an hour is made up for in 22 steps.
    pub(crate) fn hit(&mut self, incarnation: u64, terms: &Terms, now: Nanos) -> u64 {
        let (leap, pause) = match *self {
            Self::Down => (FIRST_LEAP, terms.first_pause),
            Self::Up { leap, pause, .. } => {
                (leap.saturating_mul(2).min(LONGEST_LEAP), pause.plus(pause).min(terms.longest_pause))
            }
        };
        *self = Self::Up { leap, pause, until: now.plus(pause) };
        incarnation.saturating_add(leap)
    }

    /// A life was accepted.
    pub(crate) const fn passed(&mut self) {
        *self = Self::Down;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_hour_is_made_up_for_in_some_dozens_of_steps() {
        let (mut fence, mut life, mut now) = (Fence::default(), 0, Nanos::ZERO);
        let mut steps = 0;
        while life < 3_600_000_000 {
            life = fence.hit(life, &Terms::default(), now);
            now = fence.until();
            steps += 1;
        }
        assert_eq!(steps, 22);
        assert!(now < Nanos::from_secs(11), "{now:?}");
    }

    #[test]
    fn those_who_overtake_each_other_wait_in_between() {
        let terms = Terms::default();
        let mut fence = Fence::default();
        for turn in 1..10 {
            let now = Nanos::from_secs(turn);
            assert_eq!(fence.hit(7, &terms, now), 1_007);
            assert_eq!(fence.until(), now.plus(terms.first_pause));
            fence.passed();
            assert!(!fence.is_up());
        }
    }
}
