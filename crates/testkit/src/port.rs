use anyhow::Context;
use std::net::TcpListener;

/// A port that nobody listens on just now.
pub fn free_port() -> anyhow::Result<u16> {
    let listener = TcpListener::bind("127.0.0.1:0").context("no free port")?;
    Ok(listener.local_addr()?.port())
}

/// A free port whose cluster bus port, ten thousand above, is free too.
pub(crate) fn free_cluster_port() -> anyhow::Result<u16> {
    for _ in 0..100 {
        let port = free_port()?;
        if port < 55_000 && TcpListener::bind(("127.0.0.1", port + 10_000)).is_ok() {
            return Ok(port);
        }
    }
    anyhow::bail!("no free port with a free one ten thousand above it")
}
