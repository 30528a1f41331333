//! Real servers for tests: started on free loopback ports, killed when dropped.

mod allocations;
mod authority;
mod bomb;
mod cluster;
mod envoy;
mod fuzz;
mod link;
mod namespace;
mod port;
mod postgres;
mod process;
mod prometheus;
mod server;
mod tool;
mod undo;

pub use allocations::{CountingAllocator, allocations};
pub use authority::{Authority, Issued};
pub use bomb::gzip_bomb;
pub use cluster::RedisCluster;
pub use envoy::{Envoy, envoy};
pub use fuzz::Fuzz;
pub use link::Link;
pub use namespace::Namespace;
pub use port::free_port;
pub use postgres::PostgresServer;
pub use process::{Process, Signal, run};
pub use prometheus::Prometheus;
pub use server::RedisServer;
pub use tool::tools;
pub use undo::Undo;
