use ::redis::{ClientTlsConfig, TlsCertificates};
use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

/// A larger file holds no certificate.
const MAX_BYTES: u64 = 1 << 20;

/// Whom an encrypted connection trusts, and how it shows who it is itself. Without any, it trusts whom the system trusts.
#[derive(Clone, Default)]
pub struct Certificates {
    ca: Option<Vec<u8>>,
    client: Option<(Vec<u8>, Vec<u8>)>,
}

/// Why a certificate or a key could not be read.
#[derive(Debug)]
pub struct CertificateError {
    path: PathBuf,
    why: String,
}

impl Certificates {
    /// Reads them from PEM files: the authorities to trust instead of the system's, and the certificate to show with
    /// its key.
    pub fn read(ca: Option<&Path>, client: Option<(&Path, &Path)>) -> Result<Self, CertificateError> {
        let client = client.map(|(certificate, key)| Ok((read_certificates(certificate)?, read_key(key)?)));
        Ok(Self { ca: ca.map(read_certificates).transpose()?, client: client.transpose()? })
    }

    /// As the client takes them; `None` if there are none.
    pub(super) fn to_tls(&self) -> Option<TlsCertificates> {
        if self.ca.is_none() && self.client.is_none() {
            return None;
        }
        let client_tls =
            self.client.clone().map(|(client_cert, client_key)| ClientTlsConfig { client_cert, client_key });
        Some(TlsCertificates { client_tls, root_cert: self.ca.clone() })
    }
}

impl fmt::Debug for Certificates {
    /// Says nothing of what is in them: one of them is a key.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Certificates")
            .field("has_ca", &self.ca.is_some())
            .field("has_client", &self.client.is_some())
            .finish()
    }
}

impl fmt::Display for CertificateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path.display(), self.why)
    }
}

impl std::error::Error for CertificateError {}

fn read_certificates(path: &Path) -> Result<Vec<u8>, CertificateError> {
    let content = read(path)?;
    let all: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&content).collect();
    match all {
        Ok(all) if !all.is_empty() => Ok(content),
        Ok(_) => Err(wrong(path, "no certificate in it, expected PEM")),
        Err(error) => Err(wrong(path, format!("not a certificate in PEM: {}", reason(&error)))),
    }
}

fn read_key(path: &Path) -> Result<Vec<u8>, CertificateError> {
    let content = read(path)?;
    match PrivateKeyDer::from_pem_slice(&content) {
        Ok(_) => Ok(content),
        Err(error) => Err(wrong(path, format!("not a private key in PEM: {}", reason(&error)))),
    }
}

/// What is wrong, without what was read: it may be a key.
fn reason(error: &pem::Error) -> &'static str {
    match error {
        pem::Error::NoItemsFound => "there is none",
        pem::Error::MissingSectionEnd { .. } => "it has no end",
        _ => "it is malformed",
    }
}

fn read(path: &Path) -> Result<Vec<u8>, CertificateError> {
    let size = fs::metadata(path).map_err(|error| wrong(path, error))?.len();
    if size > MAX_BYTES {
        return Err(wrong(path, format!("{size} bytes long, expected at most {MAX_BYTES}")));
    }
    fs::read(path).map_err(|error| wrong(path, error))
}

fn wrong(path: &Path, why: impl fmt::Display) -> CertificateError {
    CertificateError { path: path.into(), why: why.to_string() }
}
