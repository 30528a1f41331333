//! What a process needs to know before it can start.

mod admin;
mod base_url;
mod check;
mod listen;
mod log;
mod telemetry;
mod tls;
mod url;

pub use admin::{Admin, Database};
pub use check::Check;
pub use listen::Listen;
pub use log::{Log, LogFormat, LogLevel};
pub use telemetry::Telemetry;
pub use tls::{ClientCertificate, Tls};
pub use url::LedgerUrl;

use crate::gateway::Gateway;
use crate::reader::Table;
use crate::resp::Resp;
use crate::rls::Rls;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use tollgate_core::id::NodeId;
use tollgate_core::units::{Millis, Ratio, Tokens};

/// The longest interval or timeout, in milliseconds.
const MAX_WAIT_MS: u64 = 60_000;

/// The settings of a process.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// `[node]`
    pub node: Node,
    /// `[ledger]`
    pub ledger: Ledger,
    /// `[listen]`
    pub listen: Listen,
    /// `[admin]`
    pub admin: Admin,
    /// `[gateway]`, `[identity]`, `[[upstreams]]` and `[[routes]]`
    pub gateway: Gateway,
    /// `[check]`
    pub check: Check,
    /// `[log]`
    pub log: Log,
    /// `[rls]`
    pub rls: Rls,
    /// `[resp]`
    pub resp: Resp,
    /// `[telemetry]`
    pub telemetry: Telemetry,
}

/// How the node leases tokens and reports what it spent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// Its name; if there is none, the caller finds one.
    pub id: Option<NodeId>,
    /// How often it speaks to the ledger.
    pub sync_interval: Millis,
    /// After how many operations it speaks to the ledger earlier.
    pub batch_threshold: u64,
    /// How much it wants to hold for an application.
    pub reserve_target: Tokens,
    /// The share of the target below which it asks for more.
    pub refill_threshold: Ratio,
}

impl Default for Node {
    fn default() -> Self {
        Self {
            id: None,
            sync_interval: Millis::new(100),
            batch_threshold: 1_000,
            reserve_target: Tokens::whole(1_000),
            refill_threshold: Ratio::percent(20),
        }
    }
}

/// Where the ledger is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ledger {
    /// The Redis it is kept in; none for a ledger inside this process.
    pub url: Option<LedgerUrl>,
    /// Whom to trust there, if the connection is encrypted.
    pub tls: Tls,
    /// How long a request may wait for it.
    pub timeout: Millis,
    /// Where a ledger inside this process saves itself; without meaning if there is a URL.
    pub snapshot: Option<PathBuf>,
}

impl Default for Ledger {
    fn default() -> Self {
        Self { url: None, tls: Tls::default(), timeout: Millis::new(50), snapshot: None }
    }
}

impl Settings {
    pub(crate) fn read(root: &mut Table<'_>) -> Option<Self> {
        let node = Node::read(root.table("node"));
        let ledger = Ledger::read(root.table("ledger"));
        let listen = Listen::read(root.table("listen"));
        let admin = Admin::read(root.table("admin"));
        let gateway = Gateway::read(root, listen.as_ref().map(|listen| listen.gateway));
        let check = Check::read(root.table("check"));
        let log = Log::read(root.table("log"));
        let rls = Rls::read(root.table("rls"), listen.as_ref().map(|listen| listen.rls));
        let resp = Resp::read(root.table("resp"));
        let telemetry = Telemetry::read(root.table("telemetry"));
        Some(Self {
            node: node?,
            ledger: ledger?,
            listen: listen?,
            admin: admin?,
            gateway: gateway?,
            check: check?,
            log: log?,
            rls: rls?,
            resp: resp?,
            telemetry: telemetry?,
        })
    }

    /// The settings as they would be written, except that passwords are hidden: to show, not to read back.
    pub fn to_value(&self) -> Value {
        let [ca, certificate, key] = self.ledger.tls.files().map(|file| file.map(Path::to_string_lossy));
        let mut value = json!({
            "node": {
                "id": self.node.id.as_deref(),
                "sync_interval_ms": self.node.sync_interval.get(),
                "batch_threshold": self.node.batch_threshold,
                "reserve_target": self.node.reserve_target.floor(),
                "refill_threshold": self.node.refill_threshold.as_f64(),
            },
            "ledger": {
                "url": self.ledger.url.as_ref().map(ToString::to_string),
                "ca": ca,
                "certificate": certificate,
                "key": key,
                "timeout_ms": self.ledger.timeout.get(),
                "snapshot": self.ledger.snapshot.as_ref().map(|path| path.to_string_lossy()),
            },
            "listen": self.listen.to_value(),
            "admin": self.admin.to_value(),
            "check": self.check.to_value(),
            "log": self.log.to_value(),
            "rls": self.rls.to_value(),
            "resp": self.resp.to_value(),
            "telemetry": self.telemetry.to_value(),
        });
        if let Some(map) = value.as_object_mut() {
            map.extend(self.gateway.to_map());
        }
        value
    }

    /// The keys that hold secrets and have another value in `other`, whether or not that can be seen in what is shown.
    pub fn changed_secrets(&self, other: &Self) -> Vec<&'static str> {
        let keys = [
            ("admin.database", self.admin.database != other.admin.database),
            ("identity.api_keys", self.gateway.identity.api_keys != other.gateway.identity.api_keys),
            ("ledger.url", self.ledger.url != other.ledger.url),
            ("resp.password", self.resp.password != other.resp.password),
        ];
        keys.into_iter().filter_map(|(key, is_changed)| is_changed.then_some(key)).collect()
    }
}

impl Node {
    fn read(mut table: Table<'_>) -> Option<Self> {
        let default = Self::default();
        let id = table.field("id").id(NodeId::new).map(Some).or(None);
        let sync_interval = table.field("sync_interval_ms").whole(1..=MAX_WAIT_MS).map(Millis::new);
        let batch_threshold = table.field("batch_threshold").whole(1..=1_000_000_000);
        let reserve_target = table.field("reserve_target").whole(1..=Tokens::MAX.floor()).map(Tokens::whole);
        let refill_threshold = table.field("refill_threshold").ratio(0.0..=1.0);
        table.finish();
        Some(Self {
            id: id?,
            sync_interval: sync_interval.or(default.sync_interval)?,
            batch_threshold: batch_threshold.or(default.batch_threshold)?,
            reserve_target: reserve_target.or(default.reserve_target)?,
            refill_threshold: refill_threshold.or(default.refill_threshold)?,
        })
    }
}

impl Ledger {
    fn read(mut table: Table<'_>) -> Option<Self> {
        let default = Self::default();
        let url = table.field("url").text(LedgerUrl::EXPECTED, LedgerUrl::parse).map(Some).or(None);
        let tls = Tls::read(&mut table, url.as_ref());
        let timeout = table.field("timeout_ms").whole(1..=MAX_WAIT_MS).map(Millis::new).or(default.timeout);
        let snapshot = table.field("snapshot").text("the path of a file", path).map(Some).or(None);
        table.finish();
        Some(Self { url: url?, tls: tls?, timeout: timeout?, snapshot: snapshot? })
    }
}

fn path(text: &str) -> Result<PathBuf, crate::error::Problem> {
    if text.is_empty() || text.contains(char::is_control) {
        return Err(crate::error::Problem::Malformed("not a path"));
    }
    Ok(PathBuf::from(text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::{Document, Format};

    fn read(text: &str) -> Result<Settings, crate::Errors> {
        Document::parse(text, Format::Toml)?.read().map(|config| config.settings)
    }

    #[test]
    fn silence_means_the_defaults() {
        let settings = read("").unwrap();
        assert_eq!(settings, Settings::default());
        assert_eq!(settings.listen.gateway, "127.0.0.1:8080".parse().unwrap());
        assert_eq!(settings.ledger.url, None);
        assert_eq!(settings.node.reserve_target, Tokens::whole(1_000));
    }

    #[test]
    fn everything_can_be_said() {
        let settings = read(
            "[node]\nid = 'edge-7'\nsync_interval_ms = 250\nbatch_threshold = 5\nreserve_target = 9\n\
             refill_threshold = 0.35\n[ledger]\nurl = 'rediss+cluster://a:1,b:2'\ntimeout_ms = 7\n\
             snapshot = '/var/lib/tollgate/ledger'\n[listen]\ngateway = '[::1]:80'",
        )
        .unwrap();
        assert_eq!(settings.node.id.as_deref(), Some("edge-7"));
        assert_eq!(settings.node.refill_threshold, Ratio::percent(35));
        assert!(settings.ledger.url.as_ref().is_some_and(LedgerUrl::is_cluster));
        assert_eq!(settings.ledger.snapshot, Some(PathBuf::from("/var/lib/tollgate/ledger")));
        assert_eq!(settings.listen.gateway, "[::1]:80".parse().unwrap());
    }

    #[test]
    fn a_password_is_never_repeated() {
        let wrong = read("[ledger]\nurl = 'http://u:hunter2@h'\nURL = 'redis://u:hunter2@h'").unwrap_err();
        let misplaced = read("ledger = 'redis://u:hunter2@h'").unwrap_err();
        let right = read("[ledger]\nurl = 'redis://u:hunter2@h'").unwrap();
        let all = format!("{wrong}{wrong:?}{misplaced}{right:?}{}", right.to_value());
        assert!(!all.contains("hunter2"), "{all}");
        assert_eq!(wrong.len(), 2);
    }
}
