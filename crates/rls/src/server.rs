use crate::api::{SERVICE, Transport, description};
use crate::counts::{Counters, Counts};
use crate::place::Entrance;
use crate::service::Service;
use crate::threads;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tollgate_config::rls::Rls;
use tollgate_ledger::{Ledger, Slots};
use tollgate_listen::Listeners;
use tollgate_node::Node;
use tonic::transport::Server;
use tonic_health::ServingStatus;
use tonic_health::server::HealthReporter;

/// The largest call, in bytes. Envoy's have some hundred.
const MAX_CALL_BYTES: usize = 65_536;

/// The most calls at a time on one connection.
const MAX_STREAMS: u32 = 1_024;

/// How long an answer to a keepalive may take.
const KEEPALIVE_TIMEOUT: Duration = Duration::from_secs(10);

/// The service, as long as it runs.
#[derive(Debug)]
pub struct Handle {
    address: SocketAddr,
    health: HealthReporter,
    closing: watch::Sender<bool>,
    task: JoinHandle<()>,
    counters: Arc<Counters>,
}

/// Opens the door, with a socket among these. Must be called within a tokio runtime.
pub fn start<L: Ledger + Slots + 'static>(
    node: Node<L>,
    settings: Rls,
    listeners: &Listeners,
) -> io::Result<Handle> {
    let listener = TcpListener::from_std(listeners.open(settings.listen)?)?;
    let address = listener.local_addr()?;
    let (health, health_service) = tonic_health::server::health_reporter();
    let mut server = Server::builder()
        .tcp_nodelay(true)
        .http2_keepalive_interval(Some(settings.keepalive.into()))
        .http2_keepalive_timeout(Some(KEEPALIVE_TIMEOUT))
        .max_concurrent_streams(MAX_STREAMS);
    if let Some(age) = settings.connection_age {
        server = server.max_connection_age(age.into());
    }
    let entrance = Entrance::new(listener, settings.max_connections);
    let service = Service::new(node, Arc::new(settings));
    let counters = Arc::clone(&service.counters);
    let router = server
        .add_service(Transport::new(Arc::new(service), MAX_CALL_BYTES))
        .add_service(health_service)
        .add_service(reflection().build_v1().map_err(io::Error::other)?)
        .add_service(reflection().build_v1alpha().map_err(io::Error::other)?);
    let closing = watch::Sender::new(false);
    let reporter = health.clone();
    let ready = async move { reporter.set_service_status(SERVICE, ServingStatus::Serving).await };
    let task = threads::serve(entrance, &router, ready, closing.subscribe())?;
    Ok(Handle { address, health, closing, task, counters })
}

impl Handle {
    /// Where it listens.
    pub const fn local_addr(&self) -> SocketAddr {
        self.address
    }

    /// What was asked of it so far.
    pub fn counts(&self) -> Counts {
        self.counters.counts()
    }

    /// Says that it is about to go, takes no more connections, lets those who have just come ask, and waits for the calls under
    /// way, but not longer than `grace`.
    pub async fn drain(mut self, grace: Duration) {
        self.health.set_service_status(SERVICE, ServingStatus::NotServing).await;
        self.closing.send_replace(true);
        if tokio::time::timeout(grace, &mut self.task).await.is_err() {
            self.task.abort();
        }
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        self.task.abort();
    }
}

fn reflection<'a>() -> tonic_reflection::server::Builder<'a> {
    tonic_reflection::server::Builder::configure()
        .register_file_descriptor_set(description())
        .register_encoded_file_descriptor_set(tonic_health::pb::FILE_DESCRIPTOR_SET)
}
