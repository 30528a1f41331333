use crate::error::Problem;
use std::fmt;

/// The address of a Redis, with its password hidden wherever it is shown.
///
/// ```
/// use tollgate_config::settings::LedgerUrl;
///
/// let url = LedgerUrl::new("redis://user:hunter2@10.0.0.7:6379/0").unwrap();
/// assert_eq!(url.to_string(), "redis://user:***@10.0.0.7:6379/0");
/// assert_eq!(url.expose(), "redis://user:hunter2@10.0.0.7:6379/0");
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct LedgerUrl(String);

/// The parts of an address.
struct Parts<'a> {
    scheme: &'a str,
    credentials: Option<&'a str>,
    /// Hosts and database, without the query.
    place: &'a str,
}

impl LedgerUrl {
    /// What is accepted.
    pub(crate) const EXPECTED: &'static str =
        "redis://, rediss://, redis+cluster:// or rediss+cluster:// and a host";

    const SCHEMES: [&'static str; 4] = ["redis", "rediss", "redis+cluster", "rediss+cluster"];

    /// The address, if `text` is one.
    pub fn new(text: &str) -> Option<Self> {
        let parts = Parts::of(text)?;
        let is_plain = !text.contains(|c: char| c.is_whitespace() || c.is_control());
        let is_known = Self::SCHEMES.contains(&parts.scheme);
        (is_plain && is_known && parts.names_a_place()).then(|| Self(text.to_owned()))
    }

    pub(crate) fn parse(text: &str) -> Result<Self, Problem> {
        Self::new(text).ok_or(Problem::Malformed("not the address of a ledger"))
    }

    /// The whole address, password included: for the connection only.
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// Whether it names a Redis Cluster.
    pub fn is_cluster(&self) -> bool {
        self.scheme().ends_with("+cluster")
    }

    /// Whether the connection is encrypted.
    pub fn is_encrypted(&self) -> bool {
        self.scheme().starts_with("rediss")
    }

    fn scheme(&self) -> &str {
        self.0.split("://").next().unwrap_or_default()
    }
}

impl<'a> Parts<'a> {
    fn of(text: &'a str) -> Option<Self> {
        let (scheme, rest) = text.split_once("://")?;
        let end = rest.find(['?', '#']).unwrap_or(rest.len());
        // A password that holds one of these must be percent-encoded, or part of it would pass for a host.
        if rest[end..].contains('@') {
            return None;
        }
        let (credentials, place) = match rest[..end].rsplit_once('@') {
            Some((credentials, place)) => (Some(credentials), place),
            None => (None, &rest[..end]),
        };
        Some(Self { scheme, credentials, place })
    }

    fn names_a_place(&self) -> bool {
        let (hosts, database) = self.place.split_once('/').unwrap_or((self.place, ""));
        let is_cluster = self.scheme.ends_with("+cluster");
        let are_hosts = if is_cluster { hosts.split(',').all(is_host) } else { is_host(hosts) };
        are_hosts && database.bytes().all(|c| c.is_ascii_digit())
    }
}

/// `host`, `host:port`, `[v6]` or `[v6]:port`.
fn is_host(text: &str) -> bool {
    let (host, port) = match text.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((v6, port)) if v6.parse::<std::net::Ipv6Addr>().is_ok() => ("v6", port),
        Some(_) => return false,
        None => text.split_at(text.find(':').unwrap_or(text.len())),
    };
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
    !host.is_empty() && host.chars().all(is_name) && is_port(port)
}

/// Nothing, or `:` and a number from 1 to 65,535.
fn is_port(text: &str) -> bool {
    text.is_empty() || text.strip_prefix(':').is_some_and(|port| port.parse().is_ok_and(|port: u16| port > 0))
}

impl fmt::Display for LedgerUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(parts) = Parts::of(&self.0) else { return f.write_str("***") };
        write!(f, "{}://", parts.scheme)?;
        if let Some(credentials) = parts.credentials {
            let user = credentials.split_once(':').map_or("", |(user, _)| user);
            write!(f, "{user}:***@")?;
        }
        // The query is left out: it may hold a password too.
        f.write_str(parts.place)
    }
}

impl fmt::Debug for LedgerUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "LedgerUrl({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn knows_addresses() {
        for text in [
            "redis://localhost",
            "redis://localhost:6379/3",
            "rediss://:secret@redis.example.com:6380",
            "redis://u:p@ss@h",
            "redis://[::1]:6379/0?protocol=resp3",
            "redis+cluster://10.0.0.1:7000,10.0.0.2:7000",
            "rediss+cluster://u:p@a,b,c/",
        ] {
            assert!(LedgerUrl::new(text).is_some(), "{text}");
        }
    }

    #[test]
    fn refuses_everything_else() {
        for text in [
            "",
            "localhost:6379",
            "http://localhost",
            "REDIS://localhost",
            "redis://",
            "redis://:6379",
            "redis://user:p@",
            "redis://h:0",
            "redis://h:65536",
            "redis://h:port",
            "redis://a,b",
            "redis+cluster://a,,b",
            "redis://h/zero",
            "redis://[::g]",
            "redis://user:123?4@h",
            "redis://h h",
            "redis://h\n",
        ] {
            assert!(LedgerUrl::new(text).is_none(), "{text}");
        }
    }

    #[test]
    fn tells_what_it_names() {
        let url = LedgerUrl::new("rediss+cluster://a").unwrap();
        assert!(url.is_cluster() && url.is_encrypted());
        let url = LedgerUrl::new("redis://a").unwrap();
        assert!(!url.is_cluster() && !url.is_encrypted());
    }

    proptest! {
        #[test]
        fn the_password_is_hidden(password in "[A-Z@:/!%]{4,20}", query in "(\\?password=[A-Z]{4,9})?") {
            let text = format!("redis://user:{password}@host:1/2{query}");
            if let Some(url) = LedgerUrl::new(&text) {
                prop_assert_eq!(url.to_string(), "redis://user:***@host:1/2");
                prop_assert_eq!(format!("{url:?}"), "LedgerUrl(redis://user:***@host:1/2)");
            }
        }

        #[test]
        fn any_text_is_an_address_or_not(text in "(redis://)?.{0,40}") {
            if let Some(url) = LedgerUrl::new(&text) {
                prop_assert_eq!(url.expose(), text);
            }
        }
    }
}
