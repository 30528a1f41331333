//! The process before this one, and the one after.

use std::net::SocketAddr;
use tokio::task::JoinHandle;
use tollgate_listen::{Listeners, Predecessor, offer};

/// The sockets of this process: where they come from, and who gets them.
#[derive(Debug, Default)]
pub(super) struct Succession {
    listeners: Listeners,
    /// Serves until this process has opened its doors.
    predecessor: Option<Predecessor>,
    /// Waits for the process that follows.
    offer: Option<JoinHandle<()>>,
}

impl Succession {
    /// The sockets of the process whose gateway listens there. If it hands none over, as one of another user does not, its
    /// ports can only be shared.
    pub(super) async fn of(gateway: SocketAddr) -> Self {
        match Predecessor::find(gateway).await {
            Ok(Some((predecessor, listeners))) => {
                Self { listeners, predecessor: Some(predecessor), offer: None }
            }
            Ok(None) => {
                tracing::warn!(%gateway, "nobody hands over its sockets: the ports are shared instead");
                Self::default()
            }
            Err(error) => {
                tracing::warn!(%gateway, %error, "sockets are not handed over: the ports are shared instead");
                Self::default()
            }
        }
    }

    pub(super) const fn listeners(&self) -> &Listeners {
        &self.listeners
    }

    /// Every door is open: the process before can go, and this is the one to follow.
    pub(super) async fn begin(&mut self, gateway: SocketAddr) {
        self.listeners.settle();
        if let Some(predecessor) = self.predecessor.take() {
            match predecessor.relieve().await {
                Ok(()) => tracing::info!("the sockets were taken over, the process before can be stopped"),
                Err(error) => {
                    tracing::warn!(%error, "the process before did not hear that it can be stopped");
                }
            }
        }
        let listeners = self.listeners.clone();
        self.offer = Some(tokio::spawn(async move {
            match offer(gateway, listeners).await {
                Ok(()) => tracing::info!("another process has taken over the sockets"),
                Err(error) => tracing::warn!(%error, "no process can take over the sockets of this one"),
            }
        }));
    }

    /// This process stops: if no other has its sockets, nobody has.
    pub(super) fn end(self) {
        if let Some(offer) = self.offer {
            offer.abort();
        }
        self.listeners.close();
    }
}
