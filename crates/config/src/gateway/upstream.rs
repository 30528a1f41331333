use super::file_path;
use super::timeouts::MAX_MS;
use crate::error::Problem;
use crate::reader::{Field, Table};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;
use tollgate_core::id::{self, IdError};

/// The most upstreams.
const MAX_UPSTREAMS: usize = 10_000;

/// The most servers of an upstream.
const MAX_SERVERS: usize = 1_000;

/// Servers that all do the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Upstream {
    /// At least one.
    pub servers: Vec<Server>,
    /// How the next server is chosen.
    pub balance: Balance,
    /// What is spoken to them.
    pub protocol: Protocol,
    /// The certificates that theirs must lead to; none for those of the system.
    pub ca: Option<PathBuf>,
    /// The most unused connections that a thread keeps to each server.
    pub idle_connections: usize,
    /// How it is found out whether they are well.
    pub health: Health,
}

/// A server of an upstream: `http://10.0.0.7:9000`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Server {
    /// Whether the connection is encrypted.
    pub scheme: Scheme,
    /// A name or an address; an IPv6 address without brackets.
    pub host: String,
    /// The port.
    pub port: u16,
}

/// Whether a connection is encrypted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scheme {
    /// It is not.
    Http,
    /// It is.
    Https,
}

/// How the next server is chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Balance {
    /// One after the other.
    RoundRobin,
    /// The one with the fewest requests of this thread under way.
    LeastInFlight,
}

/// What is spoken to a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// Over https what the server prefers, over http HTTP/1.1.
    Auto,
    /// HTTP/1.1
    Http1,
    /// HTTP/2, over http without asking.
    Http2,
}

/// How it is found out whether a server is well.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Health {
    /// What is asked for regularly; none to not ask.
    pub path: Option<String>,
    /// How often.
    pub interval: Duration,
    /// How long an answer may take.
    pub timeout: Duration,
    /// After how many good answers in a row a server is well again.
    pub well_after: u32,
    /// After how many bad answers in a row it is not.
    pub ill_after: u32,
    /// After how many failed requests in a row a server is left alone for a while; none for never.
    pub eject_after: Option<u32>,
    /// For how long.
    pub eject: Duration,
}

impl Default for Health {
    fn default() -> Self {
        Self {
            path: None,
            interval: Duration::from_secs(5),
            timeout: Duration::from_secs(1),
            well_after: 2,
            ill_after: 3,
            eject_after: Some(5),
            eject: Duration::from_secs(10),
        }
    }
}

/// The upstreams, by name; none if any is wrong.
pub(super) fn read_all(root: &mut Table<'_>) -> Option<BTreeMap<String, Upstream>> {
    let tables = root.field("upstreams").tables(MAX_UPSTREAMS).or(Vec::new())?;
    let mut upstreams = BTreeMap::new();
    let mut wrong = false;
    for mut table in tables {
        let id = table.required("id").id(name).right();
        if let Some(id) = id.as_ref().filter(|id| upstreams.contains_key(*id)) {
            let problem = Problem::Conflict(format!("another upstream is called {id}"));
            table.fault("id", problem, "a name of its own");
            wrong = true;
        }
        let upstream = Upstream::read(table);
        match id.zip(upstream) {
            Some((id, upstream)) => drop(upstreams.insert(id, upstream)),
            None => wrong = true,
        }
    }
    (!wrong).then_some(upstreams)
}

impl Upstream {
    fn read(mut table: Table<'_>) -> Option<Self> {
        let servers = table.required("servers").texts(MAX_SERVERS, Server::EXPECTED, Server::parse).right();
        if servers.as_ref().is_some_and(Vec::is_empty) {
            table.fault("servers", Problem::Missing, "at least one server");
        }
        let balance = table.field("balance").word(&Balance::WORDS).or(Balance::RoundRobin);
        let protocol = table.field("protocol").word(&Protocol::WORDS).or(Protocol::Auto);
        let ca = table.field("ca").text("the path of a PEM file", file_path).map(Some).or(None);
        let idle = table.field("idle_connections").size(0..=100_000).or(256);
        let health = Health::read(table.table("health"));
        table.finish();
        Some(Self {
            servers: servers?,
            balance: balance?,
            protocol: protocol?,
            ca: ca?,
            idle_connections: idle?,
            health: health?,
        })
    }

    pub(super) fn to_value(&self) -> Value {
        json!({
            "servers": self.servers.iter().map(ToString::to_string).collect::<Vec<_>>(),
            "balance": spelled(&Balance::WORDS, &self.balance),
            "protocol": spelled(&Protocol::WORDS, &self.protocol),
            "ca": self.ca.as_ref().map(|path| path.to_string_lossy()),
            "idle_connections": self.idle_connections,
            "health": self.health.to_value(),
        })
    }
}

impl Health {
    fn read(mut table: Table<'_>) -> Option<Self> {
        let default = Self::default();
        let path = table.field("path").text("a path like /health", probe_path).map(Some).or(None);
        let millis = |field: Field<'_, '_>| field.whole(1..=MAX_MS).map(Duration::from_millis);
        let interval = millis(table.field("interval_ms"));
        let timeout = millis(table.field("timeout_ms"));
        let well_after = table.field("well_after").count(1..=1_000);
        let ill_after = table.field("ill_after").count(1..=1_000);
        let eject_after = table.field("eject_after").count(0..=1_000_000);
        let eject = millis(table.field("eject_ms"));
        table.finish();
        Some(Self {
            path: path?,
            interval: interval.or(default.interval)?,
            timeout: timeout.or(default.timeout)?,
            well_after: well_after.or(default.well_after)?,
            ill_after: ill_after.or(default.ill_after)?,
            eject_after: eject_after.map(|count| (count > 0).then_some(count)).or(default.eject_after)?,
            eject: eject.or(default.eject)?,
        })
    }

    fn to_value(&self) -> Value {
        json!({
            "path": self.path,
            "interval_ms": self.interval.as_secs_f64() * 1e3,
            "timeout_ms": self.timeout.as_secs_f64() * 1e3,
            "well_after": self.well_after,
            "ill_after": self.ill_after,
            "eject_after": self.eject_after.unwrap_or(0),
            "eject_ms": self.eject.as_secs_f64() * 1e3,
        })
    }
}

impl Balance {
    const WORDS: [(&'static str, Self); 2] =
        [("round_robin", Self::RoundRobin), ("least_in_flight", Self::LeastInFlight)];
}

impl Protocol {
    const WORDS: [(&'static str, Self); 3] =
        [("auto", Self::Auto), ("http1", Self::Http1), ("http2", Self::Http2)];
}

impl Server {
    const EXPECTED: &'static str = "http:// or https://, a host and a port unless it is the usual one";

    /// The server, if `text` is the address of one.
    pub fn new(text: &str) -> Option<Self> {
        let (scheme, place) = text.split_once("://")?;
        let (scheme, usual) = match scheme {
            "http" => (Scheme::Http, 80),
            "https" => (Scheme::Https, 443),
            _ => return None,
        };
        let place = place.strip_suffix('/').unwrap_or(place);
        let (host, port) = match place.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            Some((v6, port)) if v6.parse::<std::net::Ipv6Addr>().is_ok() => (v6, port),
            Some(_) => return None,
            None => place.split_at(place.find(':').unwrap_or(place.len())),
        };
        let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_' | ':');
        if host.is_empty() || host.len() > 255 || !host.chars().all(is_name) {
            return None;
        }
        let port = match port {
            "" => usual,
            port => port.strip_prefix(':')?.parse().ok().filter(|port| *port > 0)?,
        };
        Some(Self { scheme, host: host.to_owned(), port })
    }

    fn parse(text: &str) -> Result<Self, Problem> {
        Self::new(text).ok_or(Problem::Malformed("not the address of a server"))
    }

    /// `host:port`, as in a `Host` header.
    pub fn authority(&self) -> String {
        let Self { host, port, .. } = self;
        if host.contains(':') { format!("[{host}]:{port}") } else { format!("{host}:{port}") }
    }
}

impl fmt::Display for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = if self.scheme == Scheme::Https { "https" } else { "http" };
        write!(f, "{scheme}://{}", self.authority())
    }
}

/// How a value of a closed set is written.
pub(super) fn spelled<T: PartialEq>(words: &[(&'static str, T)], value: &T) -> &'static str {
    words.iter().find(|(_, known)| known == value).map_or("", |(word, _)| word)
}

fn name(text: &str) -> Result<String, IdError> {
    id::check(text).map(|()| text.to_owned())
}

fn probe_path(text: &str) -> Result<String, Problem> {
    if text.starts_with('/') && text.len() <= 1_024 && text.bytes().all(|c| c.is_ascii_graphic()) {
        Ok(text.to_owned())
    } else {
        Err(Problem::Malformed("not a path"))
    }
}
