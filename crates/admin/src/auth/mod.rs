//! Accounts, sessions and what they may do.

pub(crate) mod access;
pub(crate) mod account;
pub(crate) mod caller;
pub(crate) mod password;
mod role;
pub(crate) mod throttle;

pub(crate) use caller::{Administrator, Caller, ClientIp, Known, Operator, Viewer};
pub use role::Role;
