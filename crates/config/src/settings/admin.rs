use super::base_url;
use crate::error::Problem;
use crate::gateway::{Network, network};
use crate::reader::Table;
use serde_json::{Value, json};

/// The most origins and networks.
const MAX_LISTED: usize = 100;

/// The control plane: API, console and `/metrics`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Admin {
    /// Where accounts, the audit and the versions of policies are kept: the path of an SQLite file, or `postgres://...`.
    pub database: Database,
    /// Other origins, like `https://console.example.com`, whose pages may use the API in a browser.
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
    /// For how many days the audit is kept.
    pub audit_days: u32,
    /// The Prometheus server that history is taken from; without one it is this node's own.
    pub prometheus: Option<String>,
}

/// Where the control plane keeps what it knows. Shown without its password.
#[derive(Clone, PartialEq, Eq)]
pub struct Database(String);

impl Default for Admin {
    fn default() -> Self {
        Self {
            database: Database("tollgate.db".into()),
            origins: Vec::new(),
            trusted_proxies: Vec::new(),
            secure_cookies: false,
            calls_per_second: 200,
            logins_per_minute: 10,
            private_webhooks: false,
            audit_days: 730,
            prometheus: None,
        }
    }
}

impl Admin {
    pub(super) fn read(mut table: Table<'_>) -> Option<Self> {
        let default = Self::default();
        let database = table.field("database").text(Database::EXPECTED, Database::parse);
        let origins = table.field("origins").texts(MAX_LISTED, "an origin like https://example.com", origin);
        let trusted = table
            .field("trusted_proxies")
            .texts(MAX_LISTED, network::EXPECTED, network::parse)
            .or(Vec::new());
        let secure_cookies = table.field("secure_cookies").flag().or(default.secure_cookies);
        let calls = table.field("calls_per_second").whole(1..=1_000_000).or(default.calls_per_second);
        let logins = table.field("logins_per_minute").whole(1..=1_000_000).or(default.logins_per_minute);
        let private_webhooks = table.field("private_webhooks").flag().or(default.private_webhooks);
        let audit_days = table.field("audit_days").count(1..=36_500).or(default.audit_days);
        let prometheus =
            table.field("prometheus").text(base_url::EXPECTED, base_url::parse).map(Some).or(None);
        table.finish();
        Some(Self {
            database: database.or(default.database)?,
            origins: origins.or(Vec::new())?,
            trusted_proxies: trusted?,
            secure_cookies: secure_cookies?,
            calls_per_second: calls?,
            logins_per_minute: logins?,
            private_webhooks: private_webhooks?,
            audit_days: audit_days?,
            prometheus: prometheus?,
        })
    }

    pub(super) fn to_value(&self) -> Value {
        let networks: Vec<String> = self.trusted_proxies.iter().map(ToString::to_string).collect();
        json!({
            "database": self.database.to_string(),
            "origins": self.origins,
            "trusted_proxies": networks,
            "secure_cookies": self.secure_cookies,
            "calls_per_second": self.calls_per_second,
            "logins_per_minute": self.logins_per_minute,
            "private_webhooks": self.private_webhooks,
            "audit_days": self.audit_days,
            "prometheus": self.prometheus,
        })
    }
}

impl Database {
    const EXPECTED: &'static str = "the path of a file or postgres://...";

    /// As it is opened, with its password.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    fn parse(text: &str) -> Result<Self, Problem> {
        let is_plain = !text.is_empty() && !text.contains(char::is_control);
        let is_known = match text.split_once("://") {
            Some((scheme, _)) => matches!(scheme, "postgres" | "postgresql" | "sqlite"),
            None => true,
        };
        if is_plain && is_known { Ok(Self(text.into())) } else { Err(Problem::Malformed("no database")) }
    }
}

impl std::fmt::Display for Database {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Some((scheme, rest)) = self.0.split_once("://") else { return f.write_str(&self.0) };
        // Passwords may also stand behind a question mark.
        let rest = rest.split('?').next().unwrap_or_default();
        match rest.rsplit_once('@') {
            Some((who, place)) => {
                let user = who.split(':').next().unwrap_or_default();
                write!(f, "{scheme}://{user}:***@{place}")
            }
            None => write!(f, "{scheme}://{rest}"),
        }
    }
}

impl std::fmt::Debug for Database {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Database({self})")
    }
}

/// An origin as browsers send it: scheme and host, and a port unless it is the usual one.
fn origin(text: &str) -> Result<String, Problem> {
    let host = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
    let is_host = |host: &str| {
        !host.is_empty()
            && host
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-' | b':' | b'[' | b']'))
    };
    match host {
        Some(host) if is_host(host) => Ok(text.to_ascii_lowercase()),
        _ => Err(Problem::Malformed("not an origin")),
    }
}

#[cfg(test)]
mod tests {
    use crate::source::{Document, Format};

    fn read(text: &str) -> Result<super::Admin, crate::Errors> {
        Document::parse(text, Format::Toml)?.read().map(|config| config.settings.admin)
    }

    #[test]
    fn everything_can_be_said() {
        let admin = read(
            "[admin]\ndatabase = 'postgres://u:hunter2@h/db?password=x'\norigins = ['https://Console.example.com']\n\
             trusted_proxies = ['10.0.0.0/8']\nsecure_cookies = true\ncalls_per_second = 5\nlogins_per_minute = 6\n\
             private_webhooks = true",
        )
        .unwrap();
        assert_eq!(admin.database.reveal(), "postgres://u:hunter2@h/db?password=x");
        assert_eq!(admin.database.to_string(), "postgres://u:***@h/db");
        assert!(!format!("{admin:?}{}", admin.to_value()).contains("hunter2"));
        assert_eq!(admin.origins, ["https://console.example.com"]);
        assert!(admin.secure_cookies && admin.private_webhooks);
    }

    #[test]
    fn nonsense_is_refused() {
        for wrong in [
            "database = 'mysql://h'",
            "database = ''",
            "origins = ['example.com']",
            "origins = ['https://a/b']",
        ] {
            assert!(read(&format!("[admin]\n{wrong}")).is_err(), "{wrong}");
        }
    }
}
