//! Overload: from 90 % to 100 % use, what is above the guarantees is cut, low priorities first.

use crate::priority::Priority;
use crate::units::{Millis, Ratio};

/// Below this use nothing is cut.
pub const STARTS_AT: Ratio = Ratio::percent(90);

/// How much of the cut is lifted per second once the use falls.
pub const RECOVERY_PER_SECOND: Ratio = Ratio::percent(20);

/// How deep the cut is. It deepens at once and is lifted gradually.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Overload {
    /// The cut in force: zero for none, one for all.
    pub cut: Ratio,
    /// When the cut last changed, or last had to stay as it was.
    pub since: Millis,
}

impl Overload {
    /// Follows the use of the cluster.
    pub fn follow(&mut self, usage: Ratio, now: Millis) {
        let target = cut(usage);
        if target >= self.cut {
            *self = Self { cut: target, since: now };
            return;
        }
        let lifted = RECOVERY_PER_SECOND.apply(now.since(self.since).get() * 10);
        let lifted = Ratio::from_parts(u32::try_from(lifted).unwrap_or(u32::MAX));
        // Too little time to lift anything yet: keep counting from where it began.
        if lifted > Ratio::ZERO || now < self.since {
            *self = Self { cut: self.cut.minus(lifted).max(target), since: now };
        }
    }

    /// What is left of an allocation above the guarantee.
    pub fn factor(&self, priority: Priority) -> Ratio {
        factor(self.cut, priority)
    }
}

/// How much to cut at this use: nothing up to 90 %, all at 100 %.
pub fn cut(usage: Ratio) -> Ratio {
    let (over, range) = (usage.minus(STARTS_AT), Ratio::ONE.minus(STARTS_AT));
    Ratio::of_parts(over.parts().into(), range.parts().into()).min(Ratio::ONE)
}

/// What the cut leaves: `max(0, 1 - cut * (1 + (priority - 1) / 5))`.
pub fn factor(cut: Ratio, priority: Priority) -> Ratio {
    let fifths = 4 + u32::from(priority.number());
    Ratio::ONE.minus(Ratio::from_parts((cut.parts() * fifths).div_ceil(5)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn cuts_linearly_from_ninety_percent() {
        let percent = |p| cut(Ratio::percent(p));
        assert_eq!(percent(0), Ratio::ZERO);
        assert_eq!(percent(90), Ratio::ZERO);
        assert_eq!(percent(95), Ratio::percent(50));
        assert_eq!(percent(100), Ratio::ONE);
        assert_eq!(percent(10_000), Ratio::ONE);
    }

    #[test]
    fn low_priorities_are_cut_more() {
        let left = Priority::ALL.map(|priority| factor(Ratio::percent(50), priority));
        assert_eq!(left, [60, 50, 40, 30].map(Ratio::percent));
        assert_eq!(factor(Ratio::ONE, Priority::P0), Ratio::percent(20));
        assert_eq!(factor(Ratio::ONE, Priority::P3), Ratio::ZERO);
    }

    #[test]
    fn deepens_at_once_and_recovers_gradually() {
        let mut overload = Overload::default();
        overload.follow(Ratio::ONE, Millis::new(1_000));
        assert_eq!(overload.cut, Ratio::ONE);
        overload.follow(Ratio::ZERO, Millis::new(2_000));
        assert_eq!(overload.cut, Ratio::percent(80));
        overload.follow(Ratio::percent(95), Millis::new(9_000));
        assert_eq!(overload.cut, Ratio::percent(50), "not below what the use calls for");
        overload.follow(Ratio::ZERO, Millis::new(60_000));
        assert_eq!(overload.cut, Ratio::ZERO);
    }

    proptest! {
        #[test]
        fn recovery_does_not_depend_on_how_often_it_is_looked_at(steps in prop::collection::vec(0..20u64, 1..200)) {
            let (mut often, mut once) = (Overload { cut: Ratio::ONE, since: Millis::ZERO }, Overload { cut: Ratio::ONE, since: Millis::ZERO });
            let mut now = Millis::ZERO;
            for ms in steps {
                now = now.plus(Millis::new(ms));
                often.follow(Ratio::ZERO, now);
            }
            once.follow(Ratio::ZERO, now);
            prop_assert!(often.cut.parts().abs_diff(once.cut.parts()) <= 2, "{:?} {:?}", often, once);
        }

        #[test]
        fn is_monotonous(a in 0..20_000u32, b in 0..20_000u32) {
            let (less, more) = (Ratio::from_parts(a.min(b)), Ratio::from_parts(a.max(b)));
            prop_assert!(cut(less) <= cut(more));
            for priority in Priority::ALL {
                prop_assert!(factor(cut(less), priority) >= factor(cut(more), priority));
            }
        }
    }
}
