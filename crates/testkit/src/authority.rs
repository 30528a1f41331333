use anyhow::Context;
use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair};
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// A certificate authority of our own. What it issues lies in PEM files that are gone with it.
pub struct Authority {
    home: TempDir,
    issuer: Issuer<'static, KeyPair>,
}

/// A certificate and its key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Issued {
    /// The file with the certificate.
    pub certificate: PathBuf,
    /// The file with the key.
    pub key: PathBuf,
}

impl Authority {
    /// A new authority, which nobody trusts yet.
    pub fn new() -> anyhow::Result<Self> {
        let home = TempDir::new().context("no temporary folder")?;
        let key = KeyPair::generate()?;
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.distinguished_name.push(DnType::CommonName, "an authority for tests");
        fs::write(home.path().join("ca.pem"), params.self_signed(&key)?.pem())?;
        Ok(Self { home, issuer: Issuer::new(params, key) })
    }

    /// The file with its own certificate, for those who are to trust it.
    pub fn ca(&self) -> PathBuf {
        self.home.path().join("ca.pem")
    }

    /// Issues a certificate for that host name or address.
    pub fn issue(&self, host: &str) -> anyhow::Result<Issued> {
        let key = KeyPair::generate()?;
        let certificate = CertificateParams::new([host.to_owned()])?.signed_by(&key, &self.issuer)?;
        let file = |kind: &str| self.home.path().join(format!("{host}.{kind}.pem"));
        let issued = Issued { certificate: file("certificate"), key: file("key") };
        fs::write(&issued.certificate, certificate.pem())?;
        fs::write(&issued.key, key.serialize_pem())?;
        Ok(issued)
    }

    /// The options by which a server speaks TLS on that port, and shows a certificate for `host`.
    pub fn options(&self, port: u16, host: &str) -> anyhow::Result<Vec<String>> {
        let issued = self.issue(host)?;
        let text = |path: &Path| path.to_string_lossy().into_owned();
        let options = [
            ["--tls-port", &port.to_string()],
            ["--tls-cert-file", &text(&issued.certificate)],
            ["--tls-key-file", &text(&issued.key)],
            ["--tls-ca-cert-file", &text(&self.ca())],
            ["--tls-auth-clients", "no"],
        ];
        Ok(options.as_flattened().iter().map(ToString::to_string).collect())
    }
}

impl std::fmt::Debug for Authority {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Authority").field("home", &self.home).finish_non_exhaustive()
    }
}
