//! The HTTP check: for proxies that ask before they let a request pass, and for anybody else.
//!
//! | request | what it does |
//! |---|---|
//! | `GET` or `POST /v1/check` | may this request pass, and pay if it may; `?dry_run=true` only asks |
//! | `POST /v1/rollback` | gives back what a check paid |
//! | `POST /v1/reservations` | takes tokens for work whose cost is not known yet |
//! | `POST /v1/reservations/{id}/complete`, `.../cancel` | ends a reservation |
//! | `GET /v1/decisions/{id}` | how a decision came about |
//! | `GET /health` | whether anybody is here |

mod body;
mod inquiry;
mod listen;
mod origin;
mod reply;
mod reservation;
mod service;
mod shelf;

pub use listen::CheckRunning;

use crate::plan::Identifier;
use crate::server::StartError;
use arc_swap::ArcSwap;
use service::Service;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tollgate_config::gateway::Identity;
use tollgate_config::settings;
use tollgate_ledger::{Ledger, Slots};
use tollgate_listen::Listeners;
use tollgate_node::Node;

/// The HTTP check.
#[derive(Debug)]
pub struct Check;

impl Check {
    /// Starts it on `address`, with a socket among these. When this returns it accepts connections. Must be called within a tokio runtime.
    pub fn start<L: Ledger + Slots + 'static>(
        address: SocketAddr,
        settings: &settings::Check,
        identity: &Identity,
        node: Node<L>,
        listeners: &Listeners,
    ) -> Result<CheckRunning, StartError> {
        let shelf = shelf::Shelf::new(Duration::from_secs(settings.rollback_s));
        let identifier = Arc::new(ArcSwap::from_pointee(Identifier::new(identity)));
        let service = Service { node, settings: *settings, identifier: Arc::clone(&identifier), shelf };
        listen::start(address, Arc::new(service), identifier, listeners)
    }
}
