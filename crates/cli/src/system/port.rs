//! Ports that somebody else has.

use anyhow::anyhow;
use std::io;
use std::net::{SocketAddr, TcpListener};
use tollgate_config::Settings;

/// Our sockets share their port with others of ours, so that each thread has one. Two processes that know nothing of each
/// other would share their requests, too: so without being told to take over, a port must be free.
pub(super) fn demand(settings: &Settings) -> anyhow::Result<()> {
    let tls = settings.gateway.tls.as_ref().map(|tls| ("gateway.tls.listen", tls.listen));
    let listen = &settings.listen;
    let ours = [
        ("listen.gateway", listen.gateway),
        ("listen.check", listen.check),
        ("listen.rls", listen.rls),
        ("listen.admin", listen.admin),
    ];
    let resp = settings.resp.listen.map(|address| ("resp.listen", address));
    for (key, address) in ours.into_iter().chain(tls).chain(resp) {
        TcpListener::bind(address).map_err(|error| taken(key, address, &error))?;
    }
    Ok(())
}

/// What to do about it.
pub(super) fn taken(key: &str, address: SocketAddr, error: &io::Error) -> anyhow::Error {
    let help = if error.kind() == io::ErrorKind::AddrInUse {
        format!(
            "another program has it: stop that one, or set another {key}, by --set {key}=... for instance \
             (`tollgate serve --take-over` takes it over from one that is about to stop)"
        )
    } else {
        format!("{key} must be an address of this machine")
    };
    anyhow!("cannot listen on {address}: {error}; {help}")
}
