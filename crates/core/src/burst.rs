//! The burst allowance: what an application may draw beyond its bucket, per window.

use crate::quota::Quota;
use crate::units::{Millis, Tokens};

/// What was drawn in the window that is open. A window opens with the first draw after the last one ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Allowance {
    /// What was drawn in this window.
    pub drawn: Tokens,
    /// When this window opened, if one has.
    pub opened_at: Option<Millis>,
}

impl Allowance {
    /// What may still be drawn.
    pub fn left(&self, quota: &Quota, now: Millis) -> Tokens {
        if self.is_open(quota, now) { quota.allowance().minus(self.drawn) } else { quota.allowance() }
    }

    /// Draws `amount`, which must be no more than is left.
    pub fn draw(&mut self, quota: &Quota, amount: Tokens, now: Millis) {
        if amount.is_zero() {
            return;
        }
        if !self.is_open(quota, now) {
            *self = Self { drawn: Tokens::ZERO, opened_at: Some(now) };
        }
        self.drawn = self.drawn.plus(amount);
    }

    /// A clock that stepped back must not keep the window open for longer than it lasts.
    pub fn notice(&mut self, now: Millis) {
        self.opened_at = self.opened_at.map(|opened| opened.min(now));
    }

    fn is_open(&self, quota: &Quota, now: Millis) -> bool {
        self.opened_at.is_some_and(|opened| now.since(opened) < quota.burst_window)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test::quota;

    #[test]
    fn restarts_when_its_window_has_run_out() {
        let quota = quota(20_000, 80_000);
        let mut allowance = Allowance::default();
        let start = Millis::from_secs(1_000);
        assert_eq!(allowance.left(&quota, start), Tokens::whole(60_000));
        allowance.draw(&quota, Tokens::whole(60_000), start);
        assert_eq!(allowance.left(&quota, start), Tokens::ZERO);
        assert_eq!(allowance.left(&quota, Millis::new(1_059_999)), Tokens::ZERO);
        assert_eq!(allowance.left(&quota, Millis::from_secs(1_060)), Tokens::whole(60_000));
    }

    #[test]
    fn a_clock_that_steps_back_neither_restarts_nor_freezes_it() {
        let quota = quota(20_000, 80_000);
        let mut allowance = Allowance::default();
        allowance.draw(&quota, Tokens::whole(1), Millis::from_secs(10_000));
        allowance.notice(Millis::from_secs(100));
        assert_eq!(allowance.left(&quota, Millis::from_secs(100)), Tokens::whole(59_999));
        assert_eq!(allowance.left(&quota, Millis::from_secs(160)), Tokens::whole(60_000));
    }
}
