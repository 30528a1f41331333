//! A reverse proxy without a limiter: `cargo run -p tollgate-gateway --example proxy -- tollgate.toml`
//!
//! Ctrl-C lets requests finish.

use std::path::Path;
use std::time::Duration;
use tollgate_config::source::Document;
use tollgate_gateway::{Gateway, Open};
use tollgate_listen::Listeners;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let file = std::env::args().nth(1).ok_or("wrong call (expected the path of a configuration file)")?;
    let config = Document::open(Path::new(&file))?.read()?.settings.gateway;
    let gateway = Gateway::start(config, Open::default(), &Listeners::default())?;
    tokio::signal::ctrl_c().await?;
    gateway.drain(Duration::from_secs(30)).await;
    Ok(())
}
