//! Certificates: ours, and those we accept.

use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use rustls::{ClientConfig, RootCertStore, ServerConfig};
use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use tollgate_config::error::{Error, Problem};
use tollgate_config::gateway::{Certificate, Tls};

/// HTTP/2 and HTTP/1.1 as they are called in a handshake.
const H2: &[u8] = b"h2";
const HTTP1: &[u8] = b"http/1.1";

/// Which certificate is shown to whom.
#[derive(Debug)]
struct Certificates {
    first: Arc<CertifiedKey>,
    hosts: HashMap<String, Arc<CertifiedKey>>,
    domains: HashMap<String, Arc<CertifiedKey>>,
}

/// Reads the certificates of a listener.
pub(crate) fn server(tls: &Tls) -> Result<Arc<ServerConfig>, Vec<Error>> {
    let provider = provider();
    let mut errors = Vec::new();
    let mut keys = Vec::new();
    for (index, certificate) in tls.certificates.iter().enumerate() {
        match certified(certificate, &provider, &format!("gateway.tls.certificates[{index}]")) {
            Ok(key) => keys.push((Arc::new(key), &certificate.hosts)),
            Err(error) => errors.push(*error),
        }
    }
    let first = keys.first().map(|(key, _)| Arc::clone(key));
    let Some(first) = first.filter(|_| errors.is_empty()) else { return Err(errors) };
    let mut certificates = Certificates { first, hosts: HashMap::new(), domains: HashMap::new() };
    for (key, hosts) in keys {
        for host in hosts {
            match host.domain() {
                Some(domain) => certificates.domains.insert(domain.to_owned(), Arc::clone(&key)),
                None => certificates.hosts.insert(host.as_str().to_owned(), Arc::clone(&key)),
            };
        }
    }
    let builder = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let builder = builder.map_err(|error| vec![*wrong("gateway.tls".into(), &error.to_string())])?;
    let mut config = builder.with_no_client_auth().with_cert_resolver(Arc::new(certificates));
    config.alpn_protocols = vec![H2.to_vec(), HTTP1.to_vec()];
    if let Ok(ticketer) = ring::Ticketer::new() {
        config.ticketer = ticketer;
    }
    Ok(Arc::new(config))
}

/// How encrypted servers are spoken to: what is offered to them is up to the caller.
pub(crate) fn client(
    ca: Option<&Path>,
    at: &str,
    protocols: &[&[u8]],
) -> Result<Arc<ClientConfig>, Box<Error>> {
    let roots = match ca {
        Some(path) => roots_of(path).map_err(|why| wrong(format!("{at}.ca"), &why))?,
        None => system_roots(),
    };
    let builder = ClientConfig::builder_with_provider(provider()).with_safe_default_protocol_versions();
    let builder = builder.map_err(|error| wrong(at.to_owned(), &error.to_string()))?;
    let mut config = builder.with_root_certificates(roots).with_no_client_auth();
    config.alpn_protocols = protocols.iter().map(|protocol| protocol.to_vec()).collect();
    Ok(Arc::new(config))
}

/// What is offered to a server that may speak either protocol, or only one.
pub(crate) const EITHER: &[&[u8]] = &[H2, HTTP1];
pub(crate) const ONLY_HTTP1: &[&[u8]] = &[HTTP1];
pub(crate) const ONLY_HTTP2: &[&[u8]] = &[H2];

/// Whether HTTP/2 was agreed on.
pub(crate) fn is_http2(agreed: Option<&[u8]>) -> bool {
    agreed == Some(H2)
}

impl ResolvesServerCert for Certificates {
    fn resolve(&self, hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        let Some(name) = hello.server_name() else { return Some(Arc::clone(&self.first)) };
        let of_domain = || self.domains.get(name.split_once('.')?.1);
        Some(Arc::clone(self.hosts.get(name).or_else(of_domain).unwrap_or(&self.first)))
    }
}

fn provider() -> Arc<CryptoProvider> {
    Arc::new(ring::default_provider())
}

fn certified(
    certificate: &Certificate,
    provider: &CryptoProvider,
    at: &str,
) -> Result<CertifiedKey, Box<Error>> {
    let chain = chain_of(&certificate.cert).map_err(|why| wrong(format!("{at}.cert"), &why))?;
    let key = PrivateKeyDer::from_pem_file(&certificate.key);
    let key = key.map_err(|error| wrong(format!("{at}.key"), &error.to_string()))?;
    // This also finds a key that belongs to another certificate.
    CertifiedKey::from_der(chain, key, provider)
        .map_err(|error| wrong(format!("{at}.key"), &error.to_string()))
}

fn chain_of(path: &Path) -> Result<Vec<CertificateDer<'static>>, String> {
    let read = CertificateDer::pem_file_iter(path).map_err(|error| error.to_string())?;
    let chain: Vec<_> = read.collect::<Result<_, _>>().map_err(|error| error.to_string())?;
    if chain.is_empty() { Err("no certificate in the file".into()) } else { Ok(chain) }
}

fn roots_of(path: &Path) -> Result<RootCertStore, String> {
    let mut roots = RootCertStore::empty();
    for certificate in chain_of(path)? {
        roots.add(certificate).map_err(|error| error.to_string())?;
    }
    Ok(roots)
}

/// Those of the system that can be read: if there are none, no server is believed.
fn system_roots() -> RootCertStore {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    roots
}

fn wrong(path: String, why: &str) -> Box<Error> {
    let expected = Some("a PEM file that can be read".into());
    Box::new(Error {
        path,
        problem: Problem::Unreadable(why.to_owned()),
        value: None,
        expected,
        origin: None,
    })
}
