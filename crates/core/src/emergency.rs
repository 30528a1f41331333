//! Emergency mode: only a share of each guarantee stays in force, by priority.

use crate::priority::Priority;
use crate::units::{Millis, Ratio};

/// How long an emergency lasts unless told otherwise.
pub const DEFAULT_DURATION: Millis = Millis::from_secs(300);

/// How far below the threshold the use must fall to end an automatic emergency.
pub const HYSTERESIS: Ratio = Ratio::percent(10);

/// After an operator ended an emergency, none starts by itself for this long.
pub const QUIET: Millis = Millis::from_secs(60);

/// The share of its guarantee that an application keeps: all, half, a tenth, nothing.
pub const fn ratio(priority: Priority) -> Ratio {
    match priority {
        Priority::P0 => Ratio::ONE,
        Priority::P1 => Ratio::percent(50),
        Priority::P2 => Ratio::percent(10),
        Priority::P3 => Ratio::ZERO,
    }
}

/// Who started it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Cause {
    /// An operator.
    Operator,
    /// The use of the cluster went over the threshold.
    Usage,
}

/// Why it ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// An operator ended it.
    Operator,
    /// Its time was up.
    Expired,
    /// The use fell far enough.
    Recovered,
}

/// What changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// It started.
    Started(Cause),
    /// It ended.
    Ended(End),
}

/// Whether the cluster is in emergency mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Emergency {
    /// It is not.
    Off {
        /// No emergency starts by itself before this.
        quiet_until: Millis,
    },
    /// It is.
    On {
        /// Who started it.
        cause: Cause,
        /// Since when.
        since: Millis,
        /// Until when, at the longest.
        until: Millis,
    },
}

impl Default for Emergency {
    fn default() -> Self {
        Self::Off { quiet_until: Millis::ZERO }
    }
}

impl Emergency {
    /// Whether it is on.
    pub const fn is_on(&self) -> bool {
        matches!(self, Self::On { .. })
    }

    /// An operator starts it, or gives it a new end.
    pub fn activate(&mut self, duration: Millis, now: Millis) -> Event {
        let since = match *self {
            Self::On { since, .. } => since,
            Self::Off { .. } => now,
        };
        *self = Self::On { cause: Cause::Operator, since, until: now.plus(duration) };
        Event::Started(Cause::Operator)
    }

    /// An operator ends it.
    pub fn deactivate(&mut self, now: Millis) -> Option<Event> {
        let was_on = self.is_on();
        *self = Self::Off { quiet_until: now.plus(QUIET) };
        was_on.then_some(Event::Ended(End::Operator))
    }

    /// Follows the use of the cluster and the time.
    pub fn follow(&mut self, usage: Ratio, threshold: Ratio, now: Millis) -> Option<Event> {
        match *self {
            Self::Off { quiet_until } if usage > threshold && now >= quiet_until => {
                *self = Self::On { cause: Cause::Usage, since: now, until: now.plus(DEFAULT_DURATION) };
                Some(Event::Started(Cause::Usage))
            }
            Self::On { until, .. } if now >= until => Some(self.end(End::Expired)),
            Self::On { cause: Cause::Usage, .. } if usage <= threshold.minus(HYSTERESIS) => {
                Some(self.end(End::Recovered))
            }
            _ => None,
        }
    }

    fn end(&mut self, end: End) -> Event {
        *self = Self::default();
        Event::Ended(end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::account::Account;
    use crate::test::any_quota;
    use proptest::prelude::*;

    const THRESHOLD: Ratio = Ratio::percent(95);

    fn at(seconds: u64) -> Millis {
        Millis::from_secs(seconds)
    }

    #[test]
    fn an_operator_starts_it_and_it_expires() {
        let mut emergency = Emergency::default();
        emergency.activate(DEFAULT_DURATION, at(10));
        assert_eq!(emergency.follow(Ratio::ZERO, THRESHOLD, at(309)), None, "low use does not end it");
        assert_eq!(emergency.follow(Ratio::ZERO, THRESHOLD, at(310)), Some(Event::Ended(End::Expired)));
    }

    #[test]
    fn high_use_starts_it_and_much_lower_use_ends_it() {
        let mut emergency = Emergency::default();
        assert_eq!(emergency.follow(THRESHOLD, THRESHOLD, at(1)), None);
        let started = emergency.follow(Ratio::percent(96), THRESHOLD, at(2));
        assert_eq!(started, Some(Event::Started(Cause::Usage)));
        assert_eq!(emergency.follow(Ratio::percent(90), THRESHOLD, at(3)), None, "not low enough");
        let ended = emergency.follow(Ratio::percent(85), THRESHOLD, at(4));
        assert_eq!(ended, Some(Event::Ended(End::Recovered)));
    }

    #[test]
    fn what_an_operator_ended_does_not_start_again_at_once() {
        let mut emergency = Emergency::default();
        emergency.follow(Ratio::ONE, THRESHOLD, at(1));
        assert_eq!(emergency.deactivate(at(2)), Some(Event::Ended(End::Operator)));
        assert_eq!(emergency.deactivate(at(2)), None);
        assert_eq!(emergency.follow(Ratio::ONE, THRESHOLD, at(61)), None);
        assert!(emergency.follow(Ratio::ONE, THRESHOLD, at(62)).is_some());
    }

    #[test]
    fn p06_ratios_by_priority() {
        assert_eq!(Priority::ALL.map(ratio), [100, 50, 10, 0].map(Ratio::percent));
    }

    proptest! {
        #[test]
        fn p06_the_quota_in_force_is_the_ratio_of_the_guarantee(quota in any_quota(), number in 0..4u64, ms in 0..5_000u64) {
            let priority = Priority::try_from(number).unwrap();
            let mut account = Account::default();
            let refill = account.refill(&quota, ratio(priority), Millis::new(ms));
            let guarantee = quota.guaranteed.over(Millis::new(ms));
            prop_assert_eq!(refill.minted, ratio(priority).of(guarantee));
        }
    }
}
