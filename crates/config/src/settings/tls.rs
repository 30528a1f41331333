use super::LedgerUrl;
use crate::error::Problem;
use crate::reader::Table;
use std::path::{Path, PathBuf};

/// Whom an encrypted connection to the ledger trusts, and how it shows who it is: PEM files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tls {
    /// The authorities to trust instead of the system's.
    pub ca: Option<PathBuf>,
    /// The certificate to show to a server that asks for one.
    pub client: Option<ClientCertificate>,
}

/// A certificate and its key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientCertificate {
    /// The certificate.
    pub certificate: PathBuf,
    /// Its private key.
    pub key: PathBuf,
}

const KEYS: [&str; 3] = ["ca", "certificate", "key"];

impl Tls {
    /// Reads it from the table of the ledger at `url`, if that one was right.
    pub(super) fn read(table: &mut Table<'_>, url: Option<&Option<LedgerUrl>>) -> Option<Self> {
        let [ca, certificate, key] =
            KEYS.map(|name| table.field(name).text("the path of a PEM file", super::path).map(Some).or(None));
        for (given, missing) in [("certificate", "key"), ("key", "certificate")] {
            if table.has(given) && !table.has(missing) {
                let message = format!("has no meaning without {missing}");
                table.fault(given, Problem::Conflict(message), "both or neither");
            }
        }
        let is_encrypted = url.is_none_or(|url| url.as_ref().is_some_and(LedgerUrl::is_encrypted));
        for unused in KEYS.into_iter().filter(|key| !is_encrypted && table.has(key)) {
            let message = "has no meaning where url is not encrypted".to_owned();
            table.fault(unused, Problem::Conflict(message), "a url of rediss:// or rediss+cluster://");
        }
        let client = certificate?.zip(key?).map(|(certificate, key)| ClientCertificate { certificate, key });
        Some(Self { ca: ca?, client })
    }

    /// The files by the names of their keys.
    pub(super) fn files(&self) -> [Option<&Path>; 3] {
        let client = self.client.as_ref();
        [
            self.ca.as_deref(),
            client.map(|client| client.certificate.as_path()),
            client.map(|client| client.key.as_path()),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::{Document, Format};

    fn read(text: &str) -> Result<Tls, String> {
        let document = Document::parse(&format!("[ledger]\n{text}"), Format::Toml).unwrap();
        document.read().map(|config| config.settings.ledger.tls).map_err(|errors| errors.to_string())
    }

    #[test]
    fn files_are_named_where_the_connection_is_encrypted() {
        assert_eq!(read("url = 'rediss://h'"), Ok(Tls::default()));
        let tls = read("url = 'rediss+cluster://h'\nca = '/ca'\ncertificate = '/c'\nkey = '/k'").unwrap();
        assert_eq!(tls.files(), [Some(Path::new("/ca")), Some(Path::new("/c")), Some(Path::new("/k"))]);
    }

    #[test]
    fn a_certificate_needs_its_key() {
        let report = read("url = 'rediss://h'\ncertificate = '/c'").unwrap_err();
        assert_eq!(
            report,
            "ledger.certificate: has no meaning without key (got \"/c\", expected both or neither)"
        );
        let report = read("url = 'rediss://h'\nkey = '/k'").unwrap_err();
        assert!(report.starts_with("ledger.key: has no meaning without certificate"), "{report}");
    }

    #[test]
    fn a_key_that_stands_where_its_path_should_is_not_repeated() {
        let report = read("url = 'rediss://h'\ncertificate = '/c'\nkey = '-----BEGIN\thunter2'").unwrap_err();
        assert!(report.starts_with("ledger.key: not a path (got a hidden value"), "{report}");
    }

    #[test]
    fn in_plain_text_there_is_nothing_to_trust() {
        for url in ["", "url = 'redis://h'\n", "url = 'redis+cluster://h'\n"] {
            let report = read(&format!("{url}ca = '/ca'")).unwrap_err();
            assert!(report.starts_with("ledger.ca: has no meaning where url is not encrypted"), "{report}");
        }
        let report = read("url = 'nonsense'\nca = '/ca'").unwrap_err();
        assert!(!report.contains("ledger.ca"), "{report}");
    }
}
