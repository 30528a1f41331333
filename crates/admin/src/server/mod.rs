//! The server of the control plane.

mod cors;
mod door;
mod entrance;
mod guard;
pub(crate) mod origin;
mod whole;

use crate::alert::webhook::{self, Post};
use crate::api;
use crate::auth::access::Keys;
use crate::auth::account;
use crate::auth::throttle::Throttle;
use crate::console;
use crate::metrics;
use crate::problem::Problem;
use crate::sampler;
use crate::secret;
use crate::settings::Settings;
use crate::state::{Admin, Shared};
use crate::store::{Store, StoreError};
use crate::telemetry;
use crate::upkeep::Upkeep;
use axum::Router;
use axum::routing::get;
use entrance::Entrance;
pub(crate) use entrance::Peer;
use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tollgate_ledger::{Board, Ledger, Slots};
use tollgate_limiter::LimitError;
use tollgate_listen::Listeners;
use tollgate_node::Node;
use whole::Unfinished;

/// A control plane that runs.
#[derive(Debug)]
pub struct Handle {
    address: SocketAddr,
    first_password: Option<String>,
    stop: watch::Sender<bool>,
    server: JoinHandle<()>,
    sampler: JoinHandle<()>,
    telemetry: JoinHandle<()>,
    store: Store,
    upkeep: Arc<Upkeep>,
    unfinished: Unfinished,
}

/// Why a control plane did not start.
#[derive(Debug)]
pub enum StartError {
    /// The address cannot be listened on.
    Listen(SocketAddr, std::io::Error),
    /// The database cannot be used.
    Store(StoreError),
    /// The limits make no sense.
    Limit(LimitError),
}

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Listen(address, error) => write!(f, "cannot listen on {address}: {error}"),
            Self::Store(error) => error.fmt(f),
            Self::Limit(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for StartError {}

impl From<StoreError> for StartError {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

/// Starts the control plane of a node, with a socket among `listeners`.
pub async fn start<L: Ledger + Slots + Board + 'static>(
    node: Node<L>,
    mut settings: Settings,
    listeners: &Listeners,
) -> Result<Handle, StartError> {
    let listen = settings.listen;
    let failed = |error| StartError::Listen(listen, error);
    let listener = listeners.open(listen).and_then(TcpListener::from_std).map_err(failed)?;
    let address = listener.local_addr().map_err(failed)?;
    settings.listen = address;
    let store = Store::open(&settings.database).await?;
    let first_password = account::first_run(&store).await?;
    let keys = Keys::new(&store.setting("jwt_secret", || Ok(secret::token()?)).await?);
    let throttle =
        Throttle::new(settings.calls_per_second, settings.logins_per_minute).map_err(StartError::Limit)?;
    let (post, waiting) = Post::new();
    tokio::spawn(webhook::carry(store.clone(), settings.private_webhooks, waiting));
    let admin = Arc::new(Admin::new(Box::new(node), store.clone(), settings, keys, throttle, post));
    let upkeep = Arc::clone(&admin.upkeep);
    let (stop, stopping) = watch::channel(false);
    let sampler = tokio::spawn(sampler::run(Arc::clone(&admin), stopping.clone()));
    let telemetry = tokio::spawn(telemetry::run(Arc::clone(&admin), stopping.clone()));
    let unfinished = Unfinished::default();
    let router =
        router(admin, &unfinished).layer(axum::middleware::from_fn_with_state(stopping.clone(), guard::part));
    let entrance = Entrance::new(listener, entrance::MOST, entrance::SILENCE, stopping);
    let server = tokio::spawn(door::serve(entrance, router, door::HEAD_PATIENCE));
    Ok(Handle { address, first_password, stop, server, sampler, telemetry, store, upkeep, unfinished })
}

impl Handle {
    /// Where it listens.
    pub const fn local_addr(&self) -> SocketAddr {
        self.address
    }

    /// The password of the account [`FIRST_USER`](crate::FIRST_USER), if it was made by this start: to be shown once.
    pub fn first_password(&self) -> Option<&str> {
        self.first_password.as_deref()
    }

    /// Where other parts of the process note how their work beside requests goes.
    pub const fn upkeep(&self) -> &Arc<Upkeep> {
        &self.upkeep
    }

    /// Takes no more calls, finishes those that are under way for as long as `grace`, and writes everything down.
    pub async fn drain(self, grace: Duration) {
        self.stop.send_replace(true);
        let abort = self.server.abort_handle();
        let over = async {
            let _ = self.server.await;
            self.unfinished.done().await;
        };
        if tokio::time::timeout(grace, over).await.is_err() {
            abort.abort();
        }
        let _ = self.sampler.await;
        let _ = self.telemetry.await;
        self.store.close().await;
    }
}

fn router(admin: Shared, unfinished: &Unfinished) -> Router {
    let (api, _) = api::routes().split_for_parts();
    api.route("/api/v1/openapi.json", get(openapi))
        .route("/metrics", get(metrics::serve))
        .route("/api/{*rest}", get(nothing).post(nothing).put(nothing).delete(nothing))
        .fallback(console::serve)
        .layer(axum::middleware::from_fn_with_state(unfinished.clone(), whole::finish))
        .layer(axum::middleware::from_fn_with_state(Arc::clone(&admin), guard::limit))
        .layer(axum::middleware::from_fn_with_state(Arc::clone(&admin), cors::answer))
        .layer(axum::middleware::from_fn(guard::headers))
        .with_state(admin)
}

async fn openapi() -> axum::Json<utoipa::openapi::OpenApi> {
    axum::Json(api::openapi::document())
}

async fn nothing(uri: http::Uri) -> Problem {
    Problem::not_found("route", uri.path())
}
