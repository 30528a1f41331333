//! The door for clients of Redis alone: `cargo run --release -p tollgate-resp --example resp_serve -- 127.0.0.1:6380`

#![allow(clippy::print_stdout, reason = "an example is there to be seen")]

use anyhow::Context;
use tollgate_config::resp::Resp;

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let address = std::env::args().nth(1).unwrap_or_else(|| "127.0.0.1:6380".into());
    let listen = address.parse().with_context(|| format!("not an address: {address}"))?;
    let door = tollgate_resp::start(&Resp { listen: Some(listen), ..Resp::default() })?;
    println!("listening on {}", door.as_ref().context("no address")?.local_addr());
    std::future::pending().await
}
