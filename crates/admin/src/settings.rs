use std::net::SocketAddr;
use tollgate_config::Config;
use tollgate_config::gateway::Network;
use tollgate_config::settings::{self, Telemetry};
use tollgate_core::cost::PriceList;
use tollgate_core::id::NodeId;

/// How often drift is looked at unless something else is said, in seconds.
const RECONCILE_S: u64 = 30;

/// What the control plane needs to know before it starts.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Where it listens; port 0 for any free one.
    pub listen: SocketAddr,
    /// The node that it is part of.
    pub node: NodeId,
    /// The path of an SQLite file, or `postgres://...`.
    pub database: String,
    /// Other origins whose pages may use the API in a browser.
    pub origins: Vec<String>,
    /// Whose `X-Forwarded-For` is believed.
    pub trusted_proxies: Vec<Network>,
    /// Whether browsers send the cookie of a session only by HTTPS.
    pub secure_cookies: bool,
    /// Calls of an address in a second.
    pub calls_per_second: u64,
    /// Attempts to log in under a name from an address in a minute.
    pub logins_per_minute: u64,
    /// Whether webhooks may be sent to private addresses.
    pub private_webhooks: bool,
    /// How often drift is looked at and corrected, in seconds: that reads all of a ledger.
    pub reconcile_s: u64,
    /// For how many days the audit is kept.
    pub audit_days: u32,
    /// The Prometheus server that history is taken from; without one it is this node's own.
    pub prometheus: Option<String>,
    /// Where traces go.
    pub telemetry: Telemetry,
    /// What requests cost where an application says nothing of it.
    pub prices: PriceList,
}

impl Settings {
    /// The defaults, under the name of a node.
    pub fn new(node: NodeId) -> Self {
        Self::from_config(&Config::default(), node)
    }

    /// As configured.
    pub fn from_config(config: &Config, node: NodeId) -> Self {
        let settings::Admin {
            database,
            origins,
            trusted_proxies,
            secure_cookies,
            calls_per_second,
            logins_per_minute,
            private_webhooks,
            audit_days,
            prometheus,
        } = config.settings.admin.clone();
        Self {
            listen: config.settings.listen.admin,
            node,
            database: database.reveal().to_owned(),
            origins,
            trusted_proxies,
            secure_cookies,
            calls_per_second,
            logins_per_minute,
            private_webhooks,
            reconcile_s: RECONCILE_S,
            audit_days,
            prometheus,
            telemetry: config.settings.telemetry.clone(),
            prices: *config.policy.prices(),
        }
    }
}
