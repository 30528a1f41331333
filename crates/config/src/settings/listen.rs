use crate::error::Problem;
use crate::reader::Table;
use serde_json::{Value, json};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

/// Where the process listens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Listen {
    /// The reverse proxy.
    pub gateway: SocketAddr,
    /// The HTTP check.
    pub check: SocketAddr,
    /// Envoy's rate limit service.
    pub rls: SocketAddr,
    /// The admin API, the console, `/metrics` and `/health`.
    pub admin: SocketAddr,
}

const KEYS: [&str; 4] = ["gateway", "check", "rls", "admin"];

impl Default for Listen {
    fn default() -> Self {
        let local = |port| SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        Self { gateway: local(8080), check: local(8081), rls: local(8082), admin: local(8090) }
    }
}

impl Listen {
    pub(super) fn read(mut table: Table<'_>) -> Option<Self> {
        let default = Self::default();
        let addresses = KEYS.map(|key| {
            let read = table.field(key).text("an address like 127.0.0.1:8080", parse);
            read.or(default.of(key))
        });
        report_shared(&table, addresses);
        table.finish();
        let [gateway, check, rls, admin] = addresses;
        Some(Self { gateway: gateway?, check: check?, rls: rls?, admin: admin? })
    }

    pub(super) fn to_value(self) -> Value {
        KEYS.into_iter().map(|key| (key.to_owned(), json!(self.of(key).to_string()))).collect()
    }

    fn of(&self, key: &str) -> SocketAddr {
        match key {
            "gateway" => self.gateway,
            "check" => self.check,
            "rls" => self.rls,
            _ => self.admin,
        }
    }
}

fn parse(text: &str) -> Result<SocketAddr, Problem> {
    text.parse().map_err(|_| Problem::Malformed("not an address"))
}

/// Reports every listener that would find its address taken by one before it. Of the two, the error goes to
/// one that was written: a default cannot be corrected.
fn report_shared(table: &Table<'_>, addresses: [Option<SocketAddr>; 4]) {
    for (i, later) in addresses.iter().enumerate() {
        let earlier = (0..i).find(|&j| later.zip(addresses[j]).is_some_and(|(a, b)| collide(a, b)));
        let Some(j) = earlier else { continue };
        let (at, other) = if table.has(KEYS[i]) { (KEYS[i], KEYS[j]) } else { (KEYS[j], KEYS[i]) };
        let message = format!("listens on the same address as {other}");
        table.fault(at, Problem::Conflict(message), "an address of its own");
    }
}

/// Whether two listeners cannot both be opened. Port 0 is any free port; an unspecified address is all of them.
fn collide(a: SocketAddr, b: SocketAddr) -> bool {
    a.port() == b.port()
        && a.port() != 0
        && (a.ip() == b.ip() || covers(a.ip(), b.ip()) || covers(b.ip(), a.ip()))
}

fn covers(all: IpAddr, one: IpAddr) -> bool {
    all.is_unspecified() && (all.is_ipv6() || one.is_ipv4())
}

#[cfg(test)]
mod tests {
    use crate::source::{Document, Format};

    fn errors(text: &str) -> String {
        match Document::parse(text, Format::Toml).unwrap().read() {
            Ok(_) => String::new(),
            Err(errors) => errors.to_string(),
        }
    }

    #[test]
    fn two_listeners_need_two_addresses() {
        assert_eq!(
            errors("[listen]\nrls = '127.0.0.1:8080'"),
            "listen.rls: listens on the same address as gateway \
             (got \"127.0.0.1:8080\", expected an address of its own)"
        );
        assert!(errors("[listen]\ngateway = '0.0.0.0:8081'").starts_with("listen.gateway: "));
        assert!(errors("[listen]\ngateway = '[::]:8090'").starts_with("listen.gateway: "));
        assert_eq!(errors("[listen]\ngateway = '10.0.0.1:8081'"), "");
        assert_eq!(errors("[listen]\ngateway = '127.0.0.1:0'\ncheck = '127.0.0.1:0'"), "");
    }

    #[test]
    fn an_address_has_a_host_and_a_port() {
        for wrong in ["8080", "localhost", "127.0.0.1", "127.0.0.1:99999", ""] {
            let report = errors(&format!("[listen]\nadmin = '{wrong}'"));
            assert!(report.starts_with("listen.admin: not an address (got "), "{report}");
        }
    }
}
