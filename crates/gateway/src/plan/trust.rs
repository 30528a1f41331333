//! Where a request came from, as far as trusted proxies tell.

use http::HeaderMap;
use http::header::{FORWARDED, HeaderName};
use std::net::IpAddr;
use tollgate_config::gateway::Network;
use tollgate_core::network::client_behind;

/// `X-Forwarded-For`
pub(crate) const X_FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");

/// Whose word is taken.
#[derive(Debug)]
pub(crate) struct Trust(Vec<Network>);

impl Trust {
    pub(crate) fn new(networks: &[Network]) -> Self {
        Self(networks.to_vec())
    }

    /// Whether `address` is a trusted proxy.
    pub(crate) fn covers(&self, address: IpAddr) -> bool {
        self.0.iter().any(|network| network.contains(address))
    }

    /// The client behind `peer`: going back hop by hop for as long as those who tell are trusted.
    pub(crate) fn client(&self, peer: IpAddr, headers: &HeaderMap) -> IpAddr {
        if headers.contains_key(X_FORWARDED_FOR) {
            return client_behind(peer, &self.0, hops(headers, X_FORWARDED_FOR));
        }
        client_behind(peer, &self.0, hops(headers, FORWARDED).map(forwarded_for))
    }
}

/// What each hop was told to be, the nearest first.
fn hops(headers: &HeaderMap, name: HeaderName) -> impl Iterator<Item = &str> {
    let lines = headers.get_all(name).iter().rev();
    lines.flat_map(|line| line.to_str().unwrap_or("").rsplit(','))
}

/// The `for` of one element of a `Forwarded` header, or nothing that could be read.
fn forwarded_for(element: &str) -> &str {
    let mut pairs = element.split(';').filter_map(|pair| pair.trim().split_once('='));
    let found = pairs.find(|(name, _)| name.eq_ignore_ascii_case("for"));
    found.map_or("", |(_, value)| value.trim_matches('"'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn client(peer: &str, headers: &[(&HeaderName, &str)]) -> String {
        let networks = ["10.0.0.0/8", "::1"].map(|text| Network::new(text).unwrap());
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(*name, value.parse().unwrap());
        }
        Trust::new(&networks).client(peer.parse().unwrap(), &map).to_string()
    }

    #[test]
    fn only_trusted_proxies_are_believed() {
        let xff = &X_FORWARDED_FOR;
        assert_eq!(client("8.8.8.8", &[(xff, "1.1.1.1")]), "8.8.8.8");
        assert_eq!(client("10.0.0.1", &[]), "10.0.0.1");
        assert_eq!(client("10.0.0.1", &[(xff, "1.1.1.1")]), "1.1.1.1");
        assert_eq!(client("10.0.0.1", &[(xff, "6.6.6.6, 1.1.1.1")]), "1.1.1.1");
        assert_eq!(client("10.0.0.1", &[(xff, "6.6.6.6, 1.1.1.1, 10.0.0.2")]), "1.1.1.1");
        assert_eq!(client("10.0.0.1", &[(xff, "6.6.6.6"), (xff, "1.1.1.1")]), "1.1.1.1");
        assert_eq!(client("10.0.0.1", &[(xff, "1.1.1.1, nonsense, 10.0.0.2")]), "10.0.0.2");
        assert_eq!(client("::1", &[(xff, "[2001:db8::1]:443")]), "2001:db8::1");
        assert_eq!(client("10.0.0.1", &[(xff, "10.0.0.3, 10.0.0.2")]), "10.0.0.3");
    }

    #[test]
    fn the_standard_header_is_understood_too() {
        let forwarded = "for=6.6.6.6, For=\"[2001:db8::7]:4711\";proto=https, for=10.0.0.2";
        assert_eq!(client("10.0.0.1", &[(&FORWARDED, forwarded)]), "2001:db8::7");
        assert_eq!(client("10.0.0.1", &[(&FORWARDED, "for=_hidden")]), "10.0.0.1");
        assert_eq!(client("8.8.8.8", &[(&FORWARDED, "for=1.1.1.1")]), "8.8.8.8");
    }

    proptest! {
        #[test]
        fn any_header_has_a_client(text in "[ -~]{0,60}") {
            let _ = client("10.0.0.1", &[(&X_FORWARDED_FOR, &text)]);
            let _ = client("10.0.0.1", &[(&FORWARDED, &text)]);
        }
    }
}
