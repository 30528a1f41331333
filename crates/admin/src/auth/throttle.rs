//! Our own limiter in front of our own API.

use crate::problem::Problem;
use std::net::{IpAddr, Ipv6Addr};
use std::time::Duration;
use tollgate_limiter::{Limit, LimitError, Limiter};

/// How many callers are told apart. Beyond that, newcomers share.
const MAX_KEYS: usize = 20_000;

/// How many times as many attempts one address may make under all names together.
const BY_ADDRESS: u64 = 3;

/// How many times as many attempts all addresses together may make under one name: an end to guessing from everywhere at once. It
/// is far more than people need, so that locking somebody out takes more than their name: ten addresses, that go on with it.
const BY_NAME: u64 = 10;

/// Limits calls by address, and attempts to log in by name, by address and by both.
#[derive(Debug)]
pub(crate) struct Throttle {
    limiter: Limiter,
    calls: Limit,
    by_both: Limit,
    by_address: Limit,
    by_name: Limit,
}

impl Throttle {
    /// `calls` per second and address, `logins` per minute under one name from one address.
    pub(crate) fn new(calls: u64, logins: u64) -> Result<Self, LimitError> {
        let minute = Duration::from_mins(1);
        Ok(Self {
            limiter: Limiter::builder().max_keys(MAX_KEYS).build(),
            calls: Limit::new(calls, calls.saturating_mul(2))?,
            by_both: Limit::per(logins, minute)?,
            by_address: Limit::per(logins.saturating_mul(BY_ADDRESS), minute)?,
            by_name: Limit::per(logins.saturating_mul(BY_NAME), minute)?,
        })
    }

    /// A call from an address.
    pub(crate) fn call(&self, ip: IpAddr) -> Result<(), Problem> {
        self.take(&format!("call {}", household(ip)), &self.calls)
    }

    /// An attempt to log in.
    pub(crate) fn login(&self, user: &str, ip: IpAddr) -> Result<(), Problem> {
        let ip = household(ip);
        self.take(&format!("login from {ip}"), &self.by_address)?;
        // Before that of the name: whoever is turned away here takes nothing from others.
        self.take(&format!("login from {ip} as {user}"), &self.by_both)?;
        self.take(&format!("login as {user}"), &self.by_name)
    }

    /// An attempt of somebody who is logged in to change the password: strangers have no part in it.
    pub(crate) fn password(&self, user: &str) -> Result<(), Problem> {
        self.take(&format!("password of {user}"), &self.by_both)
    }

    fn take(&self, key: &str, limit: &Limit) -> Result<(), Problem> {
        match self.limiter.allow(key, limit) {
            Ok(answer) if !answer.is_allowed() => Err(Problem::too_many(answer.retry_after())),
            // A limiter that cannot tell lets pass.
            _ => Ok(()),
        }
    }
}

/// Where an address is: of IPv6 the first 64 bits, since whoever has one has all that begin with them.
fn household(ip: IpAddr) -> IpAddr {
    match ip.to_canonical() {
        IpAddr::V4(ip) => ip.into(),
        IpAddr::V6(ip) => Ipv6Addr::from_bits(ip.to_bits() >> 64 << 64).into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attempts_on_one_name_run_out_and_others_are_left_alone() {
        let throttle = Throttle::new(1_000, 5).unwrap();
        let ip = |last| IpAddr::from([127, 0, 0, last]);
        let passed = (0..10).filter(|_| throttle.login("ann", ip(1)).is_ok()).count();
        assert_eq!(passed, 5);
        assert!(throttle.login("bob", ip(1)).is_ok());
        assert!(throttle.login("ann", ip(2)).is_ok(), "she is not locked out");
        let passed = (3..103).filter(|i| throttle.login("ann", ip(*i)).is_ok()).count();
        assert_eq!(passed, 44, "fifty from wherever");
        let passed = (0..10).filter(|_| throttle.password("ann").is_ok()).count();
        assert_eq!(passed, 5, "who is logged in has tries of their own");
        let passed = (0..30).filter(|i| throttle.login(&format!("user-{i}"), ip(200)).is_ok()).count();
        assert_eq!(passed, 15);
    }

    #[test]
    fn a_network_of_ipv6_is_one_address_and_a_mapped_one_is_its_own() {
        let at = |text: &str| household(text.parse().unwrap());
        assert_eq!(at("2001:db8:1:2::1"), at("2001:db8:1:2:ffff:ffff:ffff:ffff"));
        assert_ne!(at("2001:db8:1:2::1"), at("2001:db8:1:3::1"));
        assert_eq!(at("::ffff:192.0.2.1"), at("192.0.2.1"));
        assert_ne!(at("192.0.2.1"), at("192.0.2.2"));
    }
}
