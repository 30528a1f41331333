//! The reverse proxy: where it listens, what it accepts, and where requests go.

mod access_log;
mod identity;
mod limits;
pub(crate) mod network;
mod route;
mod timeouts;
mod tls;
mod upstream;

pub use access_log::AccessLog;
pub use identity::{ApiKey, Identity, Source};
pub use limits::Limits;
pub use route::{HostPattern, Operations, Route, plain_path};
pub use timeouts::Timeouts;
pub use tls::{Certificate, Tls};
pub use tollgate_core::network::Network;
pub use upstream::{Balance, Health, Protocol, Scheme, Server, Upstream};

use crate::error::Problem;
use crate::reader::{Reading, Table};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;

/// The most threads that serve connections.
const MAX_THREADS: u64 = 1_024;

/// The most networks of trusted proxies.
const MAX_NETWORKS: usize = 1_000;

/// The most protocols that a connection may be changed to.
const MAX_UPGRADES: usize = 16;

/// What such a protocol is called.
const UPGRADE: &str = "a protocol like \"websocket\" in lower case, not one of HTTP";

/// Everything the reverse proxy needs to know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gateway {
    /// Where it listens without encryption: `gateway` in `[listen]`.
    pub listen: SocketAddr,
    /// How many threads serve connections; none for one on each core.
    pub threads: Option<usize>,
    /// The most connections from clients at a time.
    pub max_connections: u32,
    /// Whose word is taken on where a request came from.
    pub trusted_proxies: Vec<Network>,
    /// The protocols that a connection may be changed to, in lower case. HTTP/2 among them would let any number of
    /// requests through for the price of one.
    pub upgrades: Vec<String>,
    /// Where requests are written down.
    pub access_log: AccessLog,
    /// Where it listens with encryption.
    pub tls: Option<Tls>,
    /// How large a request may be.
    pub limits: Limits,
    /// How long anything may take.
    pub timeouts: Timeouts,
    /// How the application of a request is told.
    pub identity: Identity,
    /// Where requests can go, by name.
    pub upstreams: BTreeMap<String, Upstream>,
    /// Which requests go where.
    pub routes: Vec<Route>,
}

impl Default for Gateway {
    fn default() -> Self {
        Self {
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 8080)),
            threads: None,
            max_connections: 100_000,
            trusted_proxies: Vec::new(),
            upgrades: vec!["websocket".into()],
            access_log: AccessLog::Off,
            tls: None,
            limits: Limits::default(),
            timeouts: Timeouts::default(),
            identity: Identity::default(),
            upstreams: BTreeMap::new(),
            routes: Vec::new(),
        }
    }
}

impl Gateway {
    pub(crate) fn read(root: &mut Table<'_>, listen: Option<SocketAddr>) -> Option<Self> {
        let mut table = root.table("gateway");
        let default = Self::default();
        let threads = table.field("threads").whole(1..=MAX_THREADS).map(|n| usize::try_from(n).ok()).or(None);
        let max_connections = table.field("max_connections").count(1..=10_000_000);
        let trusted = table.field("trusted_proxies").texts(MAX_NETWORKS, network::EXPECTED, network::parse);
        let upgrades = table.field("upgrades").texts(MAX_UPGRADES, UPGRADE, upgrade);
        let access_log = table.field("access_log").text(AccessLog::EXPECTED, AccessLog::parse);
        let tls = Tls::read(&mut table);
        let limits = Limits::read(table.table("limits"));
        let timeouts = Timeouts::read(table.table("timeouts"));
        if let Reading::Right(tls) = &tls
            && Some(tls.listen) == listen
            && tls.listen.port() != 0
        {
            let problem = Problem::Conflict("listens on the same address as listen.gateway".into());
            table.fault("tls", problem, "an address of its own");
        }
        table.finish();
        let identity = Identity::read(root.table("identity"));
        let upstreams = upstream::read_all(root);
        let routes = route::read_all(root, upstreams.as_ref());
        Some(Self {
            listen: listen?,
            threads: threads?,
            max_connections: max_connections.or(default.max_connections)?,
            trusted_proxies: trusted.or(default.trusted_proxies)?,
            upgrades: upgrades.or(default.upgrades)?,
            access_log: access_log.or(default.access_log)?,
            tls: tls.map(Some).or(None)?,
            limits: limits?,
            timeouts: timeouts?,
            identity: identity?,
            upstreams: upstreams?,
            routes: routes?,
        })
    }

    /// The tables `gateway`, `identity`, `upstreams` and `routes`, with names for keys and secrets hidden: to
    /// show and to compare, not to read back.
    pub(crate) fn to_map(&self) -> Map<String, Value> {
        let upstreams: Map<String, Value> =
            self.upstreams.iter().map(|(id, upstream)| (id.clone(), upstream.to_value())).collect();
        let routes: Map<String, Value> =
            self.routes.iter().map(|route| (route.name(), route.to_value())).collect();
        let gateway = json!({
            "threads": self.threads,
            "max_connections": self.max_connections,
            "trusted_proxies": self.trusted_proxies.iter().map(ToString::to_string).collect::<Vec<_>>(),
            "upgrades": self.upgrades,
            "access_log": self.access_log.to_string(),
            "tls": self.tls.as_ref().map(Tls::to_value),
            "limits": self.limits.to_value(),
            "timeouts": self.timeouts.to_value(),
        });
        Map::from_iter([
            ("gateway".into(), gateway),
            ("identity".into(), self.identity.to_value()),
            ("upstreams".into(), upstreams.into()),
            ("routes".into(), routes.into()),
        ])
    }
}

fn upgrade(text: &str) -> Result<String, Problem> {
    let is_plain = text.bytes().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == b'-');
    let is_http = text.starts_with("h2") || text.starts_with("http");
    if text.is_empty() || text.len() > 64 || !is_plain || is_http {
        return Err(Problem::Malformed("not a protocol to change to"));
    }
    Ok(text.to_owned())
}

/// The path of a file, as far as a text can be wrong about it.
fn file_path(text: &str) -> Result<PathBuf, Problem> {
    if text.is_empty() || text.contains('\0') {
        return Err(Problem::Malformed("not a path"));
    }
    Ok(PathBuf::from(text))
}

#[cfg(test)]
mod tests;
