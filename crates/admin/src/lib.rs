//! The control plane: admin API, accounts, audit, history, alerts, metrics and the console.
//!
//! - [`start`] runs it beside a node, whose ledger it speaks to.
//! - [`Accounts`] is for the command line: whoever can open the database can let people in.
//! - [`openapi`] is the description of the API, made from the code.
//! - [`whatif`] plays recorded demand under other policies.
//! - [`Upkeep`] is told by other parts of the process how what they do beside requests went.

#![allow(
    clippy::cast_precision_loss,
    reason = "counts become points of charts, where a millionth does not show"
)]

mod alert;
mod api;
mod auth;
mod clock;
mod console;
mod drift;
mod event;
mod form;
mod history;
mod line;
mod live;
mod metrics;
mod observer;
mod outbound;
mod plane;
mod policy;
mod problem;
mod prometheus;
mod sampler;
mod secret;
mod server;
mod settings;
mod state;
mod store;
mod telemetry;
mod ticket;
mod upkeep;
pub mod whatif;
mod writes;

pub use auth::Role;
pub use auth::account::{Account, Accounts, FIRST_USER};
pub use server::{Handle, StartError, start};
pub use settings::Settings;
pub use store::StoreError;
pub use upkeep::{Task, Upkeep};

/// The description of the API (OpenAPI 3.1), as JSON.
pub fn openapi() -> String {
    serde_json::to_string_pretty(&api::openapi::document()).unwrap_or_default()
}
