use super::{HostPattern, file_path};
use crate::error::Problem;
use crate::reader::{Reading, Table};
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::path::PathBuf;

/// The most certificates.
const MAX_CERTIFICATES: usize = 10_000;

/// The most hosts of one certificate.
const MAX_HOSTS: usize = 1_000;

/// Listening with encryption.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tls {
    /// Where.
    pub listen: SocketAddr,
    /// At least one. The first is shown to those who name no host, or one that is nobody's.
    pub certificates: Vec<Certificate>,
}

/// A certificate and its key, in PEM files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Certificate {
    /// The certificate and those between it and its root.
    pub cert: PathBuf,
    /// Its private key.
    pub key: PathBuf,
    /// The hosts it is shown for.
    pub hosts: Vec<HostPattern>,
}

impl Tls {
    pub(super) fn read(gateway: &mut Table<'_>) -> Reading<Self> {
        let is_there = gateway.has("tls");
        let table = gateway.table("tls");
        match is_there.then(|| Self::read_table(table)) {
            None => Reading::Absent,
            Some(None) => Reading::Wrong,
            Some(Some(tls)) => Reading::Right(tls),
        }
    }

    fn read_table(mut table: Table<'_>) -> Option<Self> {
        let listen = table.required("listen").text("an address like 127.0.0.1:8443", parse_address).right();
        let tables = table.required("certificates").tables(MAX_CERTIFICATES).right();
        if tables.as_ref().is_some_and(Vec::is_empty) {
            table.fault("certificates", Problem::Missing, "at least one certificate");
        }
        // All are read, so that all errors are found.
        let certificates: Vec<Option<Certificate>> =
            tables.into_iter().flatten().map(Certificate::read).collect();
        table.finish();
        let certificates: Option<Vec<Certificate>> = certificates.into_iter().collect();
        Some(Self { listen: listen?, certificates: certificates.filter(|all| !all.is_empty())? })
    }

    pub(super) fn to_value(&self) -> Value {
        let certificates: Vec<Value> = self.certificates.iter().map(Certificate::to_value).collect();
        json!({"listen": self.listen.to_string(), "certificates": certificates})
    }
}

impl Certificate {
    fn read(mut table: Table<'_>) -> Option<Self> {
        let cert = table.required("cert").text("the path of a PEM file", file_path).right();
        let key = table.required("key").text("the path of a PEM file", file_path).right();
        let hosts = table.field("hosts").texts(MAX_HOSTS, HostPattern::EXPECTED, HostPattern::parse);
        table.finish();
        Some(Self { cert: cert?, key: key?, hosts: hosts.or(Vec::new())? })
    }

    fn to_value(&self) -> Value {
        json!({
            "cert": self.cert.to_string_lossy(),
            "key": self.key.to_string_lossy(),
            "hosts": self.hosts.iter().map(ToString::to_string).collect::<Vec<_>>(),
        })
    }
}

fn parse_address(text: &str) -> Result<SocketAddr, Problem> {
    text.parse().map_err(|_| Problem::Malformed("not an address"))
}
