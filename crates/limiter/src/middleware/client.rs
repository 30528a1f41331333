use http::request::Parts;
use std::net::{IpAddr, SocketAddr};
use tollgate_core::network::{Network, client_behind};

/// Finds the address that a request came from.
///
/// The address of the peer must be among the request's extensions, as a [`SocketAddr`] or an [`IpAddr`]; or
/// [`peer`](Self::peer) says where else it is. If the peer is a proxy that is trusted, the client is the last address in
/// `X-Forwarded-For` that is not of a trusted proxy: whatever stands before it could have been written by anybody.
///
/// ```
/// use tollgate_limiter::middleware::ClientAddress;
///
/// let behind_proxies = ClientAddress::new().trust(["10.0.0.0/8", "fd00::/8"]);
/// assert!(behind_proxies.is_ok());
/// assert!(ClientAddress::new().trust(["10.0.0.1/8"]).is_err());
/// ```
#[derive(Clone, Debug)]
pub struct ClientAddress {
    trusted: Vec<Network>,
    peer: fn(&Parts) -> Option<IpAddr>,
}

/// A text that is not a network.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotANetwork(String);

impl ClientAddress {
    /// Takes nobody's word: the client is the peer.
    pub fn new() -> Self {
        Self { trusted: Vec::new(), peer }
    }

    /// Takes the word of proxies in these networks, each like `10.0.0.0/8` or one address.
    pub fn trust<'a>(mut self, networks: impl IntoIterator<Item = &'a str>) -> Result<Self, NotANetwork> {
        for text in networks {
            self.trusted.push(Network::new(text).ok_or_else(|| NotANetwork(text.to_owned()))?);
        }
        Ok(self)
    }

    /// Says where the address of the peer is, such as in axum's `ConnectInfo` or tonic's `TcpConnectInfo`.
    #[must_use]
    pub fn peer(mut self, peer: fn(&Parts) -> Option<IpAddr>) -> Self {
        self.peer = peer;
        self
    }

    /// The address of the client, if the peer's is known.
    pub fn of(&self, parts: &Parts) -> Option<IpAddr> {
        let lines = parts.headers.get_all("x-forwarded-for").iter().rev();
        let hops = lines.flat_map(|line| line.to_str().unwrap_or("").rsplit(','));
        Some(client_behind((self.peer)(parts)?, &self.trusted, hops))
    }
}

impl Default for ClientAddress {
    fn default() -> Self {
        Self::new()
    }
}

impl std::fmt::Display for NotANetwork {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "not a network: {:?}, expected one like 10.0.0.0/8 or an address", self.0)
    }
}

impl std::error::Error for NotANetwork {}

fn peer(parts: &Parts) -> Option<IpAddr> {
    let socket = parts.extensions.get::<SocketAddr>().map(SocketAddr::ip);
    socket.or_else(|| parts.extensions.get::<IpAddr>().copied())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn client(peer: &str, forwarded: &[&str]) -> String {
        let mut request = http::Request::builder();
        for line in forwarded {
            request = request.header("x-forwarded-for", *line);
        }
        let peer: IpAddr = peer.parse().unwrap();
        let (parts, ()) = request.extension(SocketAddr::from((peer, 7))).body(()).unwrap().into_parts();
        let finder = ClientAddress::new().trust(["10.0.0.0/8", "::1"]).unwrap();
        finder.of(&parts).map_or_else(String::new, |address| address.to_string())
    }

    #[test]
    fn only_trusted_proxies_are_believed() {
        assert_eq!(client("192.0.2.1", &["203.0.113.9"]), "192.0.2.1");
        assert_eq!(client("10.0.0.1", &["203.0.113.9"]), "203.0.113.9");
        assert_eq!(client("10.0.0.1", &[]), "10.0.0.1");
    }

    #[test]
    fn the_last_that_is_not_trusted_is_the_client() {
        assert_eq!(client("10.0.0.1", &["1.1.1.1, 203.0.113.9, 10.2.2.2"]), "203.0.113.9");
        assert_eq!(client("10.0.0.1", &["1.1.1.1", "203.0.113.9:80, 10.2.2.2"]), "203.0.113.9");
        assert_eq!(client("::1", &["[2001:db8::7]:443"]), "2001:db8::7");
        assert_eq!(client("::ffff:10.0.0.1", &["203.0.113.9"]), "203.0.113.9");
    }

    #[test]
    fn behind_something_unreadable_nothing_is_believed() {
        assert_eq!(client("10.0.0.1", &["1.1.1.1, unknown, 10.2.2.2"]), "10.2.2.2");
        assert_eq!(client("10.0.0.1", &[&"10.0.0.2,".repeat(1_000)]), "10.0.0.1");
    }
}
