//! Reservations: tokens taken ahead for work whose cost is known only when it is done.

use crate::units::{Millis, Tokens};

/// How long a reservation lasts unless told otherwise.
pub const DEFAULT_TIMEOUT: Millis = Millis::from_secs(3_600);

/// How many an application may have open at a time. Each is kept until it ends, and one of nothing costs nothing: there would be no
/// other end to them.
pub const MOST_OPEN: u32 = 10_000;

/// Tokens set aside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Reservation {
    /// What was taken when it was made.
    pub estimate: Tokens,
    /// When it ends by itself.
    pub expires_at: Millis,
    /// Whether it still stands.
    pub state: State,
}

/// Whether a reservation still stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum State {
    /// It does.
    Open,
    /// The work was done.
    Completed,
    /// The work was given up.
    Cancelled,
    /// Nobody said anything in time.
    Expired,
}

/// How a reservation is settled. `estimate + charged + owed = actual + refund`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Settlement {
    /// What goes back to the bucket.
    pub refund: Tokens,
    /// What is taken from the bucket on top.
    pub charged: Tokens,
    /// What the bucket did not have: it becomes debt.
    pub owed: Tokens,
}

/// It had ended already, in this way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AlreadyEnded(pub State);

impl Reservation {
    /// Tokens that were just taken.
    pub const fn new(estimate: Tokens, expires_at: Millis) -> Self {
        Self { estimate, expires_at, state: State::Open }
    }

    /// The work is done and cost `actual`, of a bucket that has `available`.
    pub fn complete(&mut self, actual: Tokens, available: Tokens) -> Result<Settlement, AlreadyEnded> {
        self.end(State::Completed).map(|()| settle(self.estimate, actual, available))
    }

    /// The work was given up: all of it goes back.
    pub fn cancel(&mut self) -> Result<Settlement, AlreadyEnded> {
        self.end(State::Cancelled).map(|()| settle(self.estimate, Tokens::ZERO, Tokens::ZERO))
    }

    /// Ends it if its time is up: all of it goes back.
    pub fn expire(&mut self, now: Millis) -> Option<Settlement> {
        if now < self.expires_at {
            return None;
        }
        self.end(State::Expired).ok().map(|()| settle(self.estimate, Tokens::ZERO, Tokens::ZERO))
    }

    fn end(&mut self, state: State) -> Result<(), AlreadyEnded> {
        if self.state != State::Open {
            return Err(AlreadyEnded(self.state));
        }
        self.state = state;
        Ok(())
    }
}

/// Compares what was taken with what it cost.
pub fn settle(estimate: Tokens, actual: Tokens, available: Tokens) -> Settlement {
    let shortfall = actual.minus(estimate);
    let charged = shortfall.min(available);
    Settlement { refund: estimate.minus(actual), charged, owed: shortfall.minus(charged) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn open(estimate: u64) -> Reservation {
        Reservation::new(Tokens::whole(estimate), Millis::new(1_000))
    }

    proptest! {
        #[test]
        fn p09_completing_moves_the_difference(estimate in 0..100_000u64, actual in 0..100_000u64, bucket in 0..100_000u64) {
            let bucket = Tokens::whole(bucket);
            let settled = open(estimate).complete(Tokens::whole(actual), bucket).unwrap();
            let after = bucket.plus(settled.refund).minus(settled.charged);
            // bucket + (estimate - actual), never below zero: the rest is owed.
            let expected = bucket.plus(Tokens::whole(estimate)).minus(Tokens::whole(actual));
            prop_assert_eq!(after, expected);
            let taken = Tokens::whole(estimate).plus(settled.charged).plus(settled.owed);
            prop_assert_eq!(taken, Tokens::whole(actual).plus(settled.refund));
            prop_assert!(settled.refund.is_zero() || settled.charged.is_zero());
        }

        #[test]
        fn p09_a_reservation_ends_exactly_once(estimate in 0..1_000u64, ends in prop::collection::vec(0..3u8, 1..10)) {
            let mut reservation = open(estimate);
            let mut refunds = std::vec::Vec::new();
            for end in ends {
                let settled = match end {
                    0 => reservation.complete(Tokens::ZERO, Tokens::ZERO).ok(),
                    1 => reservation.cancel().ok(),
                    _ => reservation.expire(Millis::new(1_000)),
                };
                refunds.extend(settled.map(|s| s.refund));
            }
            prop_assert_eq!(refunds, std::vec![Tokens::whole(estimate)]);
        }
    }

    #[test]
    fn expires_only_when_its_time_is_up() {
        let mut reservation = open(7);
        assert_eq!(reservation.expire(Millis::new(999)), None);
        assert_eq!(reservation.expire(Millis::new(1_000)).unwrap().refund, Tokens::whole(7));
        assert_eq!(reservation.cancel(), Err(AlreadyEnded(State::Expired)));
    }
}
