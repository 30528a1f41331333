//! Everything that serves, put together: a ledger, a node, and the doors.

mod ledger;
mod logging;
mod name;
mod port;
mod reload;
mod signals;
mod snapshots;
mod succession;
mod watch;

pub(crate) use ledger::open as open_ledger;
pub(crate) use logging::start as start_logging;
pub(crate) use reload::{Source, TOKEN_VARIABLE};

use crate::output;
use anyhow::Context;
use reload::Fixed;
use signals::{Event, Events};
use snapshots::Snapshots;
use std::net::SocketAddr;
use std::pin::pin;
use std::time::Duration;
use succession::Succession;
use tollgate_admin::Task;
use tollgate_config::{Config, Errors, Settings};
use tollgate_gateway::{Check, CheckRunning, Gateway, Running, StartError, Toll};
use tollgate_ledger::AnyLedger;
use tollgate_node::desk::Manners;
use tollgate_node::{Node, Setup};

/// How long the ledger is waited for when everything is given back.
const FAREWELL: Duration = Duration::from_secs(2);

/// A system at work.
#[derive(Debug)]
pub(crate) struct System {
    node: Node<AnyLedger>,
    gateway: Running,
    check: CheckRunning,
    rls: tollgate_rls::Handle,
    resp: Option<tollgate_resp::Handle>,
    admin: tollgate_admin::Handle,
    snapshots: Snapshots,
    succession: Succession,
    source: Source,
    /// As it was started, and as it was changed since.
    settings: Settings,
    fixed: Fixed,
    events: Events,
}

/// Where a system can be reached.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Doors {
    pub(crate) gateway: SocketAddr,
    pub(crate) check: SocketAddr,
    pub(crate) rls: SocketAddr,
    pub(crate) admin: SocketAddr,
}

/// Whether another process may have our ports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ports {
    /// They must be free.
    Free,
    /// They are taken over from a process that is about to stop.
    TakenOver,
}

impl System {
    /// Starts everything by a configuration that was read from there. When this returns, every door is open. Must be called
    /// within a tokio runtime.
    pub(crate) async fn start(config: &Config, source: Source, ports: Ports) -> anyhow::Result<Self> {
        let settings = &config.settings;
        // Before any door opens: from then on there is something to give back.
        let events = Events::listen(&source.files(settings))?;
        let mut succession = match ports {
            Ports::Free => {
                port::demand(settings)?;
                Succession::default()
            }
            Ports::TakenOver => Succession::of(settings.listen.gateway).await,
        };
        let listeners = succession.listeners().clone();
        let ledger = ledger::open(&settings.ledger)?;
        let setup = setup(settings)?;
        let id = setup.id.clone();
        let node = Node::start(ledger, setup, &config.policy);
        warn_of_strangers(config);
        let gateway = Gateway::start(settings.gateway.clone(), Toll::new(node.clone()), &listeners)
            .map_err(|error| explain("listen.gateway", error))?;
        announce("gateway", gateway.local_addr());
        if let Some(address) = gateway.tls_addr() {
            announce("gateway (TLS)", address);
        }
        let identity = &settings.gateway.identity;
        let check = Check::start(settings.listen.check, &settings.check, identity, node.clone(), &listeners);
        let check = check.map_err(|error| explain("listen.check", error))?;
        announce("check", check.local_addr());
        let rls = tollgate_rls::start(node.clone(), settings.rls.clone(), &listeners);
        let rls = rls.map_err(|error| port::taken("listen.rls", settings.listen.rls, &error))?;
        announce("rls", rls.local_addr());
        let resp = tollgate_resp::start(&settings.resp, &listeners);
        let resp = resp.map_err(|error| explain_resp(settings, &error))?;
        if let Some(resp) = &resp {
            announce("resp", resp.local_addr());
        }
        let admin = tollgate_admin::Settings::from_config(config, id);
        let admin = tollgate_admin::start(node.clone(), admin, &listeners).await;
        let admin = admin.map_err(explain_admin)?;
        announce("admin", admin.local_addr());
        succession.begin(gateway.local_addr()).await;
        let snapshots = Snapshots::start(&node, settings.ledger.snapshot.clone(), admin.upkeep());
        let (settings, fixed) = (settings.clone(), Fixed::of(config));
        Ok(Self {
            node,
            gateway,
            check,
            rls,
            resp,
            admin,
            snapshots,
            succession,
            source,
            settings,
            fixed,
            events,
        })
    }

    /// The password that the first start made, to be shown once.
    pub(crate) fn first_password(&self) -> Option<&str> {
        self.admin.first_password()
    }

    /// Where it can be reached.
    pub(crate) fn doors(&self) -> Doors {
        Doors {
            gateway: self.gateway.local_addr(),
            check: self.check.local_addr(),
            rls: self.rls.local_addr(),
            admin: self.admin.local_addr(),
        }
    }

    /// Serves until it is told to stop or `limit` is over, then lets requests finish and gives everything back.
    pub(crate) async fn run_until(mut self, limit: impl Future<Output = ()>) {
        let mut limit = pin!(limit);
        loop {
            let event = tokio::select! {
                event = self.events.next() => event,
                () = limit.as_mut() => Event::Stop,
            };
            match event {
                Event::Stop => break,
                Event::Reload => {
                    self.take_over().await;
                    self.events.watch(&self.source.files(&self.settings));
                }
            }
        }
        let drain = self.settings.gateway.timeouts.drain;
        tracing::info!(seconds = drain.as_secs(), "stopping, requests may finish");
        self.stop(drain).await;
    }

    /// Works by what the configuration says now, or goes on as before.
    async fn take_over(&mut self) {
        let reloaded = self.reload().await;
        self.admin.upkeep().note(Task::Reload, reloaded.is_ok());
        match reloaded {
            Ok(()) => tracing::info!("configuration read again"),
            Err(errors) => {
                let errors = errors.to_string();
                for error in errors.lines() {
                    tracing::error!("configuration: {error}");
                }
                tracing::error!("the new configuration is wrong, the old one stays");
            }
        }
    }

    async fn reload(&mut self) -> Result<(), Errors> {
        let config = self.source.read()?;
        self.fixed.check(&Fixed::of(&config))?;
        self.gateway.reload(config.settings.gateway.clone()).await?;
        self.check.reload(&config.settings.gateway.identity);
        self.settings = config.settings;
        Ok(())
    }

    /// Lets requests finish, for so long, and gives everything back to the ledger; if told again, stops at once.
    async fn stop(self, drain: Duration) {
        self.succession.end();
        let resp = async {
            if let Some(resp) = self.resp {
                resp.drain(drain).await;
            }
        };
        let (check, rls, gateway) =
            (self.check.drain(drain), self.rls.drain(drain), self.gateway.drain(drain));
        let everything = async {
            let ((), (), (), drained) = tokio::join!(check, rls, resp, gateway);
            self.admin.drain(FAREWELL).await;
            if drained.cut_off > 0 {
                tracing::warn!(connections = drained.cut_off, "cut off, they did not finish in time");
            }
            self.node.shut_down(FAREWELL).await;
            self.snapshots.finish(self.node.ledger()).await;
        };
        let mut events = self.events;
        tokio::select! {
            () = everything => tracing::info!("stopped"),
            () = events.stopped() => tracing::warn!("stopped at once, as told again"),
        }
    }
}

fn setup(settings: &Settings) -> anyhow::Result<Setup> {
    let id =
        settings.node.id.clone().map_or_else(name::make, Ok).context("cannot find a name for the node")?;
    let manners = Manners {
        sync_interval: settings.node.sync_interval,
        batch_threshold: settings.node.batch_threshold,
        reserve_target: settings.node.reserve_target,
        refill_threshold: settings.node.refill_threshold,
        patience: settings.ledger.timeout,
        ..Manners::default()
    };
    tracing::info!(node = %id, "starting");
    Ok(Setup { manners, strangers: settings.gateway.identity.strangers.clone(), ..Setup::new(id) })
}

/// It may be added later, so it is no error.
fn warn_of_strangers(config: &Config) {
    if let Some(app) = &config.settings.gateway.identity.strangers
        && !config.policy.apps().contains_key(app)
    {
        tracing::warn!(%app, "identity.strangers names an application that the file does not have");
    }
}

fn announce(door: &str, address: SocketAddr) {
    tracing::info!(door, %address, "listening");
}

fn explain_resp(settings: &Settings, error: &std::io::Error) -> anyhow::Error {
    match settings.resp.listen {
        Some(address) => port::taken("resp.listen", address, error),
        None => anyhow::anyhow!("the door for clients of Redis cannot open: {error}"),
    }
}

fn explain_admin(error: tollgate_admin::StartError) -> anyhow::Error {
    match error {
        tollgate_admin::StartError::Listen(address, error) => port::taken("listen.admin", address, &error),
        error => anyhow::Error::new(error).context("the control plane cannot start"),
    }
}

fn explain(key: &str, error: StartError) -> anyhow::Error {
    match error {
        StartError::Config(errors) => {
            output::complain(&errors.to_string());
            anyhow::anyhow!("the configuration cannot be put to work")
        }
        StartError::Listen(address, error) => port::taken(key, address, &error),
        error @ StartError::System(_) => error.into(),
    }
}
