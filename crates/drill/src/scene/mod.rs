//! Everything that was started for a drill, and what is done to it.

mod act;
mod redis;

use crate::disk::Disk;
use crate::drill::{self, Stage};
use crate::gateway::Gateway;
use crate::load::{Excuse, Load, Target};
use crate::play::Program;
use crate::promise::{ALONE, BURST, RATE};
use crate::upstream::Upstream;
use anyhow::Context;
use redis::Ledger;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tollgate_testkit::{Authority, Issued};

/// The whole of it. What depends on something comes before it: fields end in their order.
#[derive(Debug)]
pub(crate) struct Scene {
    pub(crate) gateways: Vec<Gateway>,
    ledger: Ledger,
    disk: Option<Disk>,
    pub(crate) upstream: Upstream,
    upstream_excuse: Excuse,
    encryption: Option<Encryption>,
    /// Written with every configuration, as a host that only this one knows.
    edition: u32,
    /// The last one that was right.
    in_force: u32,
}

#[derive(Debug)]
struct Encryption {
    authority: Authority,
    issued: Issued,
}

impl Scene {
    /// Starts it, with gateways whose requests wait so long for the ledger.
    pub(crate) fn start(stage: &Stage, patience: Duration, program: &Program) -> anyhow::Result<Self> {
        let disk = (stage.ledger == drill::Ledger::Inside).then(Disk::new).transpose()?;
        let encryption = stage.is_encrypted.then(Encryption::new).transpose()?;
        let mut scene = Self {
            gateways: Vec::new(),
            ledger: Ledger::start(stage.ledger)?,
            disk,
            upstream: Upstream::start()?,
            upstream_excuse: Excuse::default(),
            encryption,
            edition: 0,
            in_force: 0,
        };
        for number in 0..stage.gateways {
            let name = stage.is_named.then(|| format!("gateway-{number}"));
            let gateway = Gateway::start(program, name, patience, |tls| scene.config(tls))?;
            scene.gateways.push(gateway);
        }
        Ok(scene)
    }

    /// Starts the load that the stage asks for.
    pub(crate) fn load(&self, rate: u32) -> anyhow::Result<Load> {
        let tls = self.encryption.as_ref().map(Encryption::trust).transpose()?;
        let target = |gateway: &Gateway| Target {
            address: if tls.is_some() { gateway.tls } else { gateway.address },
            tls: tls.clone(),
            gateway: gateway.excuse.clone(),
            upstream: self.upstream_excuse.clone(),
        };
        Ok(Load::start(&self.gateways.iter().map(target).collect::<Vec<_>>(), rate))
    }

    /// The memory of all gateways, in KiB.
    pub(crate) fn memory_kib(&self) -> anyhow::Result<u64> {
        self.gateways.iter().map(Gateway::memory_kib).sum()
    }

    fn config(&self, tls: SocketAddr) -> String {
        let ledger = match (self.ledger.url(), &self.disk) {
            (Some(url), _) => format!("[ledger]\nurl = '{url}'\n"),
            (None, Some(disk)) => format!(
                "[ledger]\nsnapshot = '{0}/ledger'\n[admin]\ndatabase = '{0}/tollgate.db'\n",
                disk.path().display()
            ),
            (None, None) => String::new(),
        };
        let certificates = self.encryption.as_ref().map_or(String::new(), |encryption| {
            let (cert, key) = (encryption.issued.certificate.display(), encryption.issued.key.display());
            format!(
                "[gateway.tls]\nlisten = '{tls}'\n\
                 [[gateway.tls.certificates]]\ncert = '{cert}'\nkey = '{key}'\n"
            )
        });
        format!(
            "{ledger}\
             [identity]\norder = ['header', 'host']\nhosts = {{'{host}' = 'crowd'}}\n\
             [gateway.timeouts]\nheader_ms = 2000\nbody_ms = 2000\ndrain_ms = 10000\n{certificates}\
             [[upstreams]]\nid = 'behind'\nservers = ['http://127.0.0.1:{port}']\n\
             [upstreams.health]\neject_ms = 500\n\
             [[routes]]\nupstream = 'behind'\n\
             [[apps]]\nid = 'app'\nguaranteed_quota = {RATE}\nburst_quota = {BURST}\nborrow = false\n\
             fail_open_tokens = {ALONE}\n\
             [[apps]]\nid = 'crowd'\nguaranteed_quota = 10000\nburst_quota = 50000\n",
            host = edition(self.edition),
            port = self.upstream.port(),
        )
    }
}

/// The host that only one configuration knows.
fn edition(number: u32) -> String {
    format!("edition-{number}.drill")
}

impl Encryption {
    fn new() -> anyhow::Result<Self> {
        let authority = Authority::new()?;
        let issued = authority.issue("127.0.0.1")?;
        Ok(Self { authority, issued })
    }

    /// What clients trust: whatever the authority issues.
    fn trust(&self) -> anyhow::Result<Arc<ClientConfig>> {
        let mut roots = RootCertStore::empty();
        let ca = CertificateDer::from_pem_file(self.authority.ca()).context("no certificate")?;
        roots.add(ca)?;
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let versions = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions()?;
        Ok(Arc::new(versions.with_root_certificates(roots).with_no_client_auth()))
    }
}
