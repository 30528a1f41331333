//! Tollgate's reverse proxy.
//!
//! Requests come in by HTTP/1.1 or HTTP/2, encrypted or not, and go to servers by either; gRPC with its trailers,
//! upgraded connections (WebSocket) and bodies of any size pass through without being kept. Before a request goes
//! on, a [`Gate`] decides whether it may.
//!
//! ```no_run
//! use tollgate_config::source::{Document, Format};
//! use tollgate_gateway::{Gateway, Open};
//! use tollgate_listen::Listeners;
//!
//! # async fn run() -> Result<(), Box<dyn std::error::Error>> {
//! let text = "[[upstreams]]\nid = 'storage'\nservers = ['http://127.0.0.1:9000']\n\
//!             [[routes]]\nupstream = 'storage'\n";
//! let config = Document::parse(text, Format::Toml)?.read()?.settings.gateway;
//! let gateway = Gateway::start(config, Open::default(), &Listeners::default())?;
//! println!("listening on {}", gateway.local_addr());
//! gateway.drain(std::time::Duration::from_secs(30)).await;
//! # Ok(())
//! # }
//! ```

mod access_log;
mod check;
mod downstream;
mod framing;
#[cfg(test)]
mod fuzz;
pub mod gate;
mod message;
mod open;
mod plan;
mod proxy;
mod server;
mod stats;
mod toll;
mod upstream;

pub use check::{Check, CheckRunning};
pub use gate::Gate;
pub use open::{Open, OpenReceipt, OpenTicket, Passed};
pub use server::{Drained, Gateway, Running, StartError};
pub use stats::Stats;
pub use toll::{Toll, TollReceipt, TollTicket, TollWait};
pub use tollgate_config::gateway::Gateway as GatewayConfig;
