use super::Certificates;
use ::redis::io::tcp::TcpSettings;
use ::redis::{
    Client, ConnectionAddr, ConnectionInfo, ErrorKind, IntoConnectionInfo, RedisError, TlsCertificates,
};
use std::time::Duration;

/// Where the servers are and how they are spoken to.
pub(super) struct Address {
    /// One server, or some of a cluster; never empty.
    pub(super) nodes: Vec<ConnectionInfo>,
    pub(super) is_cluster: bool,
    pub(super) certificates: Option<TlsCertificates>,
}

impl Address {
    pub(super) fn parse(url: &str, certificates: &Certificates) -> Result<Self, RedisError> {
        if url.starts_with("rediss") {
            // Fails only if the process has chosen one already, which is as good.
            let _ = rustls::crypto::ring::default_provider().install_default();
        }
        let certificates = certificates.to_tls();
        let cluster = url.split_once("+cluster://");
        let urls = cluster.map_or_else(|| vec![url.to_owned()], |(scheme, hosts)| each(scheme, hosts));
        let nodes = urls.iter().map(|url| node(url, certificates.as_ref())).collect::<Result<_, _>>()?;
        Ok(Self { nodes, is_cluster: cluster.is_some(), certificates })
    }

    pub(super) fn first(&self) -> &ConnectionInfo {
        &self.nodes[0]
    }
}

/// How long a server may leave unacknowledged what was sent before the connection counts as broken.
const LONGEST_SILENCE: Duration = Duration::from_secs(5);

/// Calls are small and waited for, so nothing is held back to be sent with more. And a server that vanished without a
/// word is noticed: the system's own patience is a quarter of an hour.
pub(super) fn tcp() -> TcpSettings {
    let settings = TcpSettings::default().set_nodelay(true);
    #[cfg(target_os = "linux")]
    let settings = settings.set_user_timeout(LONGEST_SILENCE);
    settings
}

/// The address of each server of a cluster. The credentials stand before the first host and hold for all.
fn each(scheme: &str, hosts: &str) -> Vec<String> {
    let (credentials, hosts) = hosts.rsplit_once('@').map_or(("", hosts), |(who, hosts)| (who, hosts));
    let at = if credentials.is_empty() { "" } else { "@" };
    hosts.split(',').map(|host| format!("{scheme}://{credentials}{at}{host}")).collect()
}

fn node(url: &str, certificates: Option<&TlsCertificates>) -> Result<ConnectionInfo, RedisError> {
    let info = url.into_connection_info()?.set_tcp_settings(tcp());
    let Some(certificates) = certificates else { return Ok(info) };
    if !matches!(info.addr(), ConnectionAddr::TcpTls { .. }) {
        let why = "certificates are of use with rediss:// and rediss+cluster:// only";
        return Err((ErrorKind::InvalidClientConfig, why).into());
    }
    Ok(Client::build_with_tls(info, certificates.clone())?.get_connection_info().clone())
}
