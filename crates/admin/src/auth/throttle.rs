//! Our own limiter in front of our own API.

use crate::problem::Problem;
use std::net::IpAddr;
use std::time::Duration;
use tollgate_limiter::{Limit, LimitError, Limiter};

/// How many callers are told apart. Beyond that, newcomers share.
const MAX_KEYS: usize = 20_000;

/// Limits calls by address, and attempts to log in by name and by address.
#[derive(Debug)]
pub(crate) struct Throttle {
    limiter: Limiter,
    calls: Limit,
    by_user: Limit,
    by_address: Limit,
}

impl Throttle {
    /// `calls` per second and address, `logins` per minute and name; three times as many logins by address.
    pub(crate) fn new(calls: u64, logins: u64) -> Result<Self, LimitError> {
        let minute = Duration::from_mins(1);
        Ok(Self {
            limiter: Limiter::builder().max_keys(MAX_KEYS).build(),
            calls: Limit::new(calls, calls.saturating_mul(2))?,
            by_user: Limit::per(logins, minute)?,
            by_address: Limit::per(logins.saturating_mul(3), minute)?,
        })
    }

    /// A call from an address.
    pub(crate) fn call(&self, ip: IpAddr) -> Result<(), Problem> {
        self.take(&format!("call {ip}"), &self.calls)
    }

    /// An attempt to log in.
    pub(crate) fn login(&self, user: &str, ip: IpAddr) -> Result<(), Problem> {
        self.take(&format!("login from {ip}"), &self.by_address)?;
        self.take(&format!("login as {user}"), &self.by_user)
    }

    fn take(&self, key: &str, limit: &Limit) -> Result<(), Problem> {
        match self.limiter.allow(key, limit) {
            Ok(answer) if !answer.is_allowed() => Err(Problem::too_many(answer.retry_after())),
            // A limiter that cannot tell lets pass.
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attempts_on_one_name_run_out_and_others_are_left_alone() {
        let throttle = Throttle::new(1_000, 5).unwrap();
        let ip = |last| IpAddr::from([127, 0, 0, last]);
        let passed = (0..10).filter(|i| throttle.login("ann", ip(*i)).is_ok()).count();
        assert_eq!(passed, 5);
        assert!(throttle.login("bob", ip(100)).is_ok());
        let passed = (0..30).filter(|i| throttle.login(&format!("user-{i}"), ip(200)).is_ok()).count();
        assert_eq!(passed, 15);
    }
}
