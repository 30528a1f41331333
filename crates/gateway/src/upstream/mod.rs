//! The servers behind the gateway: which are well, which is next, and the connections to them.

mod connect;
mod endpoint;
mod fleet;
mod http1;
mod lease;
mod probe;
mod station;

pub(crate) use connect::{ConnectError, LocalExecutor};
pub(crate) use endpoint::{Endpoint, Group};
pub(crate) use fleet::Fleet;
#[cfg(test)]
pub(crate) use http1::rehearse;
pub(crate) use lease::{Added, Lease, Outbound, Unanswered};
pub(crate) use probe::probe_all;
pub(crate) use station::{Station, Wanted};
