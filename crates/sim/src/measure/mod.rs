//! What is measured of a run.

mod ideal;
mod stream;
mod summary;
mod tenant;

pub(crate) use stream::{Stream, Way};
pub use summary::{AppSummary, Summary};
pub(crate) use tenant::Tenant;

use tollgate_core::units::Nanos;

/// How long one point of a curve stands for.
pub(crate) const STEP: Nanos = Nanos::new(100_000_000);

/// What moved through a tier in one step of time, in tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Moved {
    /// Down to whoever spends them.
    pub granted: f64,
    /// Out of the system, with requests.
    pub spent: f64,
    /// Back up.
    pub returned: f64,
}

/// What the tiers of the whole system hold, at one time, in tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Tiers {
    /// L1: headroom for anybody.
    pub slack: f64,
    /// L2: rights of all applications.
    pub rights: f64,
    /// L2: what is out in leases, as the ledger knows it.
    pub outstanding: f64,
    /// L3: what nodes hold.
    pub held: f64,
}
