//! Tokens on their way through a tier.

use super::{Moved, STEP};
use tollgate_core::units::{Nanos, Tokens};

/// Which way tokens go.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Way {
    /// Down to whoever spends them.
    Granted,
    /// Out of the system, with a request.
    Spent,
    /// Back up.
    Returned,
}

/// What went each way in each step of time, in millionths of a token.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stream(Vec<[u64; 3]>);

impl Stream {
    #[allow(clippy::cast_possible_truncation, reason = "a tenth of a second of a day")]
    pub(crate) fn add(&mut self, way: Way, amount: Tokens, now: Nanos) {
        let step = (now.get() / STEP.get()) as usize;
        if amount.is_zero() {
            return;
        }
        if self.0.len() <= step {
            self.0.resize(step + 1, [0; 3]);
        }
        self.0[step][way as usize] += amount.micros();
    }

    #[allow(clippy::cast_precision_loss, reason = "for people")]
    pub(crate) fn curve(&self) -> Vec<Moved> {
        let moved = |step: &[u64; 3]| {
            let [granted, spent, returned] = step.map(|micros| micros as f64 / 1e6);
            Moved { granted, spent, returned }
        };
        self.0.iter().map(moved).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_counted_by_way_and_step() {
        let mut stream = Stream::default();
        stream.add(Way::Granted, Tokens::whole(3), Nanos::new(150_000_000));
        stream.add(Way::Granted, Tokens::whole(4), Nanos::new(199_999_999));
        stream.add(Way::Returned, Tokens::whole(1), Nanos::new(200_000_000));
        stream.add(Way::Spent, Tokens::ZERO, Nanos::from_secs(9));
        let granted = Moved { granted: 7.0, ..Moved::default() };
        let returned = Moved { returned: 1.0, ..Moved::default() };
        assert_eq!(stream.curve(), [Moved::default(), granted, returned]);
    }
}
