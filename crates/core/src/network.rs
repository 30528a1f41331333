//! Ranges of addresses, for whom to trust, and whom those who are trusted name.

use core::fmt;
use core::net::{IpAddr, SocketAddr};

/// The most hops that are followed back.
const MAX_HOPS: usize = 32;

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

/// The client behind `peer`, as far as trusted proxies tell: `hops` are the addresses that they wrote down (as in
/// `X-Forwarded-For`), the nearest first. Each is believed for as long as whoever wrote it is trusted.
pub fn client_behind<'a>(
    peer: IpAddr,
    trusted: &[Network],
    hops: impl IntoIterator<Item = &'a str>,
) -> IpAddr {
    let is_trusted = |address| trusted.iter().any(|network| network.contains(address));
    let mut client = peer.to_canonical();
    if !is_trusted(client) {
        return client;
    }
    for hop in hops.into_iter().take(MAX_HOPS) {
        // Behind something unreadable nothing can be believed: what is further away may be the client's own words.
        let Some(hop) = hop_address(hop) else { break };
        client = hop;
        if !is_trusted(client) {
            break;
        }
    }
    client
}

/// An address, perhaps with a port: `1.2.3.4`, `1.2.3.4:5`, `::1`, `[::1]`, `[::1]:5`.
fn hop_address(text: &str) -> Option<IpAddr> {
    let text = text.trim();
    let bare = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(text);
    let plain = bare.parse::<IpAddr>().ok();
    let address = plain.or_else(|| text.parse::<SocketAddr>().ok().map(|address| address.ip()))?;
    Some(address.to_canonical())
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

    fn client(peer: &str, hops: &[&str]) -> std::string::String {
        use std::string::ToString;
        let trusted = ["10.0.0.0/8", "::1"].map(|text| Network::new(text).unwrap());
        client_behind(peer.parse().unwrap(), &trusted, hops.iter().copied()).to_string()
    }

    #[test]
    fn a_peer_that_is_not_trusted_is_the_client() {
        assert_eq!(client("8.8.8.8", &["1.1.1.1"]), "8.8.8.8");
        assert_eq!(client("10.0.0.1", &[]), "10.0.0.1");
        let nobody = client_behind(IpAddr::from([10, 0, 0, 1]), &[], ["1.1.1.1"]);
        assert_eq!(nobody, IpAddr::from([10, 0, 0, 1]));
    }

    #[test]
    fn the_nearest_that_is_not_trusted_is_the_client() {
        assert_eq!(client("10.0.0.1", &["1.1.1.1", "6.6.6.6"]), "1.1.1.1");
        assert_eq!(client("10.0.0.1", &["10.0.0.2", " 1.1.1.1 ", "6.6.6.6"]), "1.1.1.1");
        assert_eq!(client("::ffff:10.0.0.1", &["::ffff:10.0.0.2", "::ffff:1.1.1.1"]), "1.1.1.1");
    }

    #[test]
    fn of_trusted_ones_alone_the_furthest_is_the_client() {
        assert_eq!(client("10.0.0.1", &["10.0.0.2", "10.0.0.3"]), "10.0.0.3");
        assert_eq!(client("10.0.0.1", &["10.0.0.2"; 1_000]), "10.0.0.2");
    }

    #[test]
    fn a_port_belongs_to_no_address() {
        assert_eq!(client("10.0.0.1", &["203.0.113.9:4711", "6.6.6.6"]), "203.0.113.9");
        assert_eq!(client("::1", &["[2001:db8::7]:443", "6.6.6.6"]), "2001:db8::7");
        assert_eq!(client("::1", &["[2001:db8::7]", "6.6.6.6"]), "2001:db8::7");
        assert_eq!(client("10.0.0.1", &["10.0.0.2:80", "[::1]:80", "1.1.1.1:80"]), "1.1.1.1");
    }

    #[test]
    fn behind_something_unreadable_nothing_is_believed() {
        for nonsense in ["", "unknown", "_hidden", "1.1.1.1:", "1.1.1.1:99999", "[::1", "::1]", "1.1.1"] {
            assert_eq!(client("10.0.0.1", &[nonsense, "6.6.6.6"]), "10.0.0.1", "{nonsense}");
            assert_eq!(client("10.0.0.1", &["10.0.0.2", nonsense, "6.6.6.6"]), "10.0.0.2", "{nonsense}");
        }
    }

    #[test]
    fn hops_are_followed_only_so_far() {
        let mut hops = std::vec!["10.0.0.2"; MAX_HOPS];
        hops.push("6.6.6.6");
        assert_eq!(client("10.0.0.1", &hops), "10.0.0.2");
    }
}
