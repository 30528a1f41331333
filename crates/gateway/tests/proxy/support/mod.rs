//! Gateways, servers, clients and a gate for tests.

pub(crate) mod client;
pub(crate) mod raw;
pub(crate) mod recorder;
pub(crate) mod server;

pub(crate) use recorder::Recorder;
pub(crate) use server::Server;

use std::future::Future;
use std::net::SocketAddr;
use std::time::Duration;
use tollgate_config::source::{Document, Format};
use tollgate_gateway::{Gateway, GatewayConfig, Running};
use tollgate_listen::Listeners;

/// The longest time that anything may take before a test gives up.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

/// What a TOML text means.
pub(crate) fn config(text: &str) -> GatewayConfig {
    let text = format!("listen.gateway = '127.0.0.1:0'\n{text}");
    let mut config = Document::parse(&text, Format::Toml).unwrap().read().unwrap().settings.gateway;
    config.threads.get_or_insert(2);
    config
}

/// A configuration with one route to these servers; `more` goes into the upstream.
pub(crate) fn route_to(servers: &[SocketAddr], more: &str) -> String {
    let servers: Vec<String> = servers.iter().map(|address| format!("'http://{address}'")).collect();
    format!(
        "[[routes]]\nupstream = 'u'\n[[upstreams]]\nid = 'u'\nservers = [{}]\n{more}\n",
        servers.join(",")
    )
}

/// A gateway before one server, and the gate that saw everything.
pub(crate) fn gateway(server: &Server, more: &str) -> (Running, Recorder) {
    start(&format!("{}{more}", route_to(&[server.address], "")))
}

/// A gateway by a TOML text.
pub(crate) fn start(text: &str) -> (Running, Recorder) {
    let gate = Recorder::default();
    (Gateway::start(config(text), gate.clone(), &Listeners::default()).unwrap(), gate)
}

/// What comes of `future`, in time.
pub(crate) async fn timely<F: Future>(future: F) -> F::Output {
    tokio::time::timeout(PATIENCE, future).await.expect("it takes too long")
}

/// Waits until something is so.
pub(crate) async fn eventually(what: &str, is_so: impl Fn() -> bool) {
    let start = std::time::Instant::now();
    while !is_so() {
        assert!(start.elapsed() < PATIENCE, "waited in vain: {what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}
