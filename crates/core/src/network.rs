//! Ranges of addresses, for whom to trust.

use core::fmt;
use core::net::IpAddr;

/// A range of addresses: `10.0.0.0/8`, `fd00::/8`, or one address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Network {
    address: IpAddr,
    prefix: u8,
}

impl Network {
    /// The network, if `text` is one.
    pub fn new(text: &str) -> Option<Self> {
        let (address, prefix) = match text.split_once('/') {
            Some((address, prefix)) => (address, Some(prefix)),
            None => (text, None),
        };
        let address: IpAddr = address.parse().ok()?;
        let longest = width(address);
        let prefix = match prefix {
            Some(digits) if digits.bytes().all(|c| c.is_ascii_digit()) => digits.parse().ok()?,
            Some(_) => return None,
            None => longest,
        };
        let network = Self { address, prefix };
        // `10.1.2.3/8` is more likely a slip than a network.
        (prefix <= longest && network.masked(address) == bits(address)).then_some(network)
    }

    /// Whether the address is within. An IPv4 address that came by an IPv6 socket is what it is.
    pub fn contains(&self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        address.is_ipv4() == self.address.is_ipv4() && self.masked(address) == bits(self.address)
    }

    fn masked(&self, address: IpAddr) -> u128 {
        let host_bits = u32::from(width(address).saturating_sub(self.prefix));
        bits(address) & u128::MAX.checked_shl(host_bits).unwrap_or(0)
    }
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.address, self.prefix)
    }
}

fn width(address: IpAddr) -> u8 {
    if address.is_ipv4() { 32 } else { 128 }
}

fn bits(address: IpAddr) -> u128 {
    match address {
        IpAddr::V4(v4) => u128::from(v4.to_bits()),
        IpAddr::V6(v6) => v6.to_bits(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contains_what_the_prefix_says() {
        let is_in =
            |network: &str, address: &str| Network::new(network).unwrap().contains(address.parse().unwrap());
        assert!(is_in("10.0.0.0/8", "10.255.0.1"));
        assert!(!is_in("10.0.0.0/8", "11.0.0.0"));
        assert!(is_in("0.0.0.0/0", "8.8.8.8"));
        assert!(!is_in("0.0.0.0/0", "::1"));
        assert!(is_in("127.0.0.1", "127.0.0.1"));
        assert!(is_in("127.0.0.1", "::ffff:127.0.0.1"));
        assert!(is_in("fd00::/8", "fdff::1"));
        assert!(!is_in("fd00::/9", "fdff::1"));
        assert!(is_in("::/0", "::1"));
    }

    #[test]
    fn refuses_what_is_none() {
        for text in
            ["", "10.0.0.0/33", "10.0.0.1/8", "10.0.0.0/", "10.0.0.0/+8", "::/129", "host", "10.0.0/8"]
        {
            assert_eq!(Network::new(text), None, "{text}");
        }
    }
}
